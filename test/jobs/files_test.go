package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/must"
	"ringback/test/rig"
)

// fileMaker is a CLI that creates files before it calls back.
const fileMaker = `mkdir -p media .cache
printf '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' > media/image-1.svg
printf '<script>alert(1)</script>' > page.html
printf '0123456789' > notes.txt
printf 'x' > $'odd "name"\n<b>\xc3\xa4%2e%2e#?.txt'
printf 'secret' > .cache/x
printf '{"hmac":"secret"}' > result.json
ln -s /etc/hostname link.txt
` + realCLI

func TestFilesThatAJobMade(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CLAUDE_BIN": rig.Script(t, fileMaker)})
	id := n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "received")
	at := "/api/jobs/" + id + "/files"
	must.Eventually(t, "the job's own files alone to be left", func() bool {
		entries, err := os.ReadDir(filepath.Join(n.Dir, "nodes/0/jobs", id))
		return err == nil && len(entries) == 1
	})

	odd := "odd \"name\"\n<b>ä%2e%2e#?.txt"
	list := n.Want(t, 200, "GET", at, nil)["files"].([]any)
	urls := map[string]string{}
	for _, f := range list {
		f := f.(object)
		urls[f["path"].(string)] = f["url"].(string)
	}
	if _, ok := urls[odd]; !ok || len(urls) != 4 {
		t.Errorf("listed %v", urls)
	}
	for _, c := range []struct{ name, body, media, disposition string }{
		{"media/image-1.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "image/svg+xml", "attachment; filename=image-1.svg"},
		{"page.html", "<script>alert(1)</script>", "application/octet-stream", "attachment; filename=page.html"},
		{"notes.txt", "0123456789", "text/plain; charset=utf-8", "inline; filename=notes.txt"},
		{odd, "x", "text/plain; charset=utf-8", "inline; filename*=utf-8''odd%20%22name%22%0A%3Cb%3E%C3%A4%252e%252e#%3F.txt"},
	} {
		resp, body := n.Raw(t, "GET", urls[c.name])
		h := resp.Header
		if resp.StatusCode != 200 || body != c.body || h.Get("Content-Type") != c.media || h.Get("Content-Disposition") != c.disposition {
			t.Errorf("%q: answered %d %q as %s, %s", c.name, resp.StatusCode, body, h.Get("Content-Type"), h.Get("Content-Disposition"))
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%q: a browser is not told to run nothing: %v", c.name, h)
		}
		if resp, body := n.Raw(t, "HEAD", urls[c.name]); resp.StatusCode != 200 || body != "" || resp.ContentLength != int64(len(c.body)) {
			t.Errorf("%q: HEAD answered %d with %d bytes and %q", c.name, resp.StatusCode, resp.ContentLength, body)
		}
	}
	if resp, body := n.Raw(t, "GET", at+"/notes.txt", "Range", "bytes=0-0"+strings.Repeat(",2-2", 5000)); resp.StatusCode != 400 || !strings.Contains(body, "Too many ranges") {
		t.Errorf("thousands of ranges: %d %.200s", resp.StatusCode, body)
	}
	if resp, body := n.Raw(t, "GET", at+"/notes.txt", "Range", "bytes=2-4"); resp.StatusCode != 206 || body != "234" {
		t.Errorf("a range was answered %d %q", resp.StatusCode, body)
	}
	resp, _ := n.Raw(t, "GET", at+"/notes.txt")
	if resp, _ := n.Raw(t, "GET", at+"/notes.txt", "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != 304 {
		t.Errorf("an unchanged file was answered %d", resp.StatusCode)
	}
	other := n.Create(t, object{"userId": "u1"})
	n.Await(t, other, "received")
	for _, name := range []string{
		"nosuch", "", "media", "media/", "result.json", ".cache/x", "link.txt", "../notes.txt", "%2e%2e/notes.txt", "media/../notes.txt", "media%2fimage-1.svg",
		"media%2Fimage-1.svg", "..%2f..%2f..%2fnode", "../../../node", "notes.txt%00", "notes.txt%00.png", "%00", "%ff", "//notes.txt", "./notes.txt", "notes.txt/",
		"notes.txt/x", "..\\node", "../../" + other + "/work/notes.txt", strings.Repeat("x/", 5000),
	} {
		resp, body := n.Raw(t, "GET", at+"/"+name)
		if resp.StatusCode != 404 || !strings.Contains(body, `"error"`) || strings.Contains(body, "node_") {
			t.Errorf("%.60q: answered %d %.200s", name, resp.StatusCode, body)
		}
	}
	if resp, _ := n.Raw(t, "GET", "/api/jobs/nosuch/files"); resp.StatusCode != 404 {
		t.Errorf("the files of no job were answered %d", resp.StatusCode)
	}
	if resp, _ := n.Raw(t, "DELETE", at+"/notes.txt"); resp.StatusCode != 405 {
		t.Errorf("deleting a file was answered %d", resp.StatusCode)
	}
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CLAUDE_BIN": rig.Script(t, fileMaker), "JWT_SECRET": rig.TokenSecret})
	token := func(user string) string {
		return "Bearer " + rig.Token(t, rig.TokenSecret, jwt.SigningMethodHS256, jwt.MapClaims{"sub": user, "exp": rig.In(time.Hour)})
	}
	_, created := n.Do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": rig.MealInput()}, "Authorization", token("alice"))
	at := "/api/jobs/" + created["requestId"].(string) + "/files"
	must.Eventually(t, "the files to be there", func() bool {
		_, body := n.Raw(t, "GET", at+"/notes.txt", "Authorization", token("alice"))
		return body == "0123456789"
	})
	for _, path := range []string{at, at + "/notes.txt"} {
		if resp, body := n.Raw(t, "GET", path, "Authorization", token("bob")); resp.StatusCode != 404 {
			t.Errorf("%s was shown to another user: %d %s", path, resp.StatusCode, body)
		}
		if resp, _ := n.Raw(t, "GET", path); resp.StatusCode != 401 {
			t.Errorf("%s was shown to nobody: %d", path, resp.StatusCode)
		}
	}
}

// The simulated provider's image is at the path in its result.
func TestTheMediaResultNamesItsFile(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"DATA_DIR": t.TempDir()})
	id := n.Create(t, object{"kind": "media", "userId": "u1", "input": object{"prompt": "a lake", "aspect_ratio": "16:9"}})
	result := n.Await(t, id, "received")["result"].(object)
	resp, body := n.Raw(t, "GET", "/api/jobs/"+id+"/files/"+result["url"].(string))
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(body, "<svg") {
		t.Errorf("%v was answered %d %s", result["url"], resp.StatusCode, body)
	}
	again := n.Again(t)
	if resp, _ := again.Raw(t, "GET", "/api/jobs/"+id+"/files/"+result["url"].(string)); resp.StatusCode != 200 {
		t.Errorf("after a restart: answered %d", resp.StatusCode)
	}
}

func TestFilesGoWithTheirJob(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CLAUDE_BIN": rig.Script(t, fileMaker), "HUMAN_TIMEOUT": "1s", "RETENTION": "1s", "NODE_TIMEOUT": "1s"})
	id := n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "received")
	must.Eventually(t, "the files to be removed with the record", func() bool {
		_, err := os.Stat(filepath.Join(n.Dir, "nodes/0/jobs", id))
		return os.IsNotExist(err)
	})
	if resp, _ := n.Raw(t, "GET", "/api/jobs/"+id+"/files"); resp.StatusCode != 404 {
		t.Errorf("the record outlived its files: %d", resp.StatusCode)
	}
}

// A person who plays Claude has no working directory, but the actions of the job have one.
func TestFilesOfAnActionByHandAreKept(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "drawing.md", `---
actions:
  - name: draw
    title: Draw
    confirm: never
    command: [sh, -c, "printf %s drawn >> picture.txt; cat picture.txt >&2"]
---
Draw.`)
	n := rig.Start(t, vars{"PROMPTS_DIR": prompts})
	id, envelope := n.Manual(t, object{"kind": "drawing", "input": object{}, "userId": "u1"})
	for _, want := range []string{"drawn", "drawndrawn"} {
		envelope["input"] = object{}
		must.Equal[any](t, "success", n.Want(t, 200, "POST", "/api/claude/actions/draw", envelope)["status"])
		_, text := n.Raw(t, "GET", "/api/jobs/"+id+"/files/picture.txt")
		must.Equal(t, want, text)
	}
	delete(envelope, "input")
	envelope["text"] = "Done."
	n.Want(t, 200, "POST", "/api/claude/result", envelope)
	n.Await(t, id, "received")
	files, _ := n.Want(t, 200, "GET", "/api/jobs/"+id+"/files", nil)["files"].([]any)
	must.Equal(t, 1, len(files), "files after the end of the job")
}
