package attack

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/web/apikey"
	"ringback/test/harness"
	"ringback/test/must"
)

const shopKey, nightKey = "the-key-of-the-shop", "the-key-of-the-night-job"

var shop, night = apikey.Of("shop", shopKey), apikey.Of("night-job", nightKey)

// keyFile writes a file of keys.
func keyFile(t *testing.T, keys ...apikey.Key) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "api-keys")
	writeKeys(t, file, keys...)
	return file
}

func writeKeys(t *testing.T, file string, keys ...apikey.Key) {
	t.Helper()
	var text strings.Builder
	for _, k := range keys {
		text.WriteString(k.Line() + "\n")
	}
	write(t, file, text.String())
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

// with returns a request with a key.
func with(key, method, path string, body any) harness.Request {
	return harness.Request{Method: method, Path: path, Body: body, Header: map[string]string{"Authorization": "Bearer " + key}}
}

// hold connects a WebSocket with a key, and returns a channel for its close code.
func hold(t *testing.T, s *harness.Server, key string) <-chan int {
	t.Helper()
	conn := harness.Dial(t, s.URL, "userId=u1", http.Header{"Authorization": {"Bearer " + key}})
	closed := make(chan int, 1)
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				code := -1
				if end, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // gorilla does not wrap it
					code = end.Code
				}
				closed <- code
				return
			}
		}
	}()
	return closed
}

func wantClosed(t *testing.T, what string, closed <-chan int) {
	t.Helper()
	select {
	case code := <-closed:
		if code != 4401 {
			t.Errorf("%s was closed with %d, want 4401", what, code)
		}
	case <-time.After(harness.Patience):
		t.Errorf("%s stayed open", what)
	}
}

// A key removed from the file stops working within moments, and what was opened with it is
// closed. Other keys are not affected.
func TestAKeyIsTakenBackWithoutARestart(t *testing.T) {
	t.Parallel()
	file := keyFile(t, shop, night)
	s := harness.Start(t, harness.Vars{"API_KEYS_FILE": file, "API_KEYS": backendKey}, nil)
	status := func(key string) int {
		status, _ := harness.Send(t, s.URL, with(key, "GET", "/api/jobs", nil))
		return status
	}
	for _, key := range []string{shopKey, nightKey, backendKey} {
		if got := status(key); got != 200 {
			t.Fatalf("a key was answered %d", got)
		}
	}
	held := map[string]<-chan int{shopKey: hold(t, s, shopKey), nightKey: hold(t, s, nightKey), backendKey: hold(t, s, backendKey)}

	writeKeys(t, file, night)
	wantClosed(t, "a WebSocket of a removed key", held[shopKey])
	if got := status(shopKey); got != 401 {
		t.Errorf("a removed key was answered %d", got)
	}
	writeKeys(t, file, apikey.Of("night-job", "another-key-of-the-night-job"), shop)
	wantClosed(t, "a WebSocket of a changed key", held[nightKey])
	harness.Eventually(t, "a key that came back to count", func() bool { return status(shopKey) == 200 })

	soon := shop
	soon.Expires = time.Now().Add(4 * time.Second).Truncate(time.Second)
	again := hold(t, s, shopKey)
	writeKeys(t, file, soon)
	wantClosed(t, "a WebSocket of a key that expires", again)
	if time.Now().Before(soon.Expires) {
		t.Error("it was closed before its key had expired")
	}
	if got := status(shopKey); got != 401 {
		t.Errorf("an expired key was answered %d", got)
	}
	write(t, file, "# none\n")
	harness.Eventually(t, "the log to say that no key of the file is left", func() bool { return strings.Contains(s.Log.String(), "keys=1") })
	select {
	case code := <-held[backendKey]:
		t.Errorf("a WebSocket of a key that stayed was closed with %d", code)
	default:
	}
	if got := status(backendKey); got != 200 {
		t.Errorf("a key of API_KEYS was answered %d", got)
	}
}

// While the file is rewritten, broken, removed and restored, clients with a key of it lose
// no request. What is wrong is reported to operators.
func TestABrokenFileOfKeysTakesNothingAway(t *testing.T) {
	t.Parallel()
	file := keyFile(t, shop)
	s := harness.Start(t, harness.Vars{"API_KEYS_FILE": file}, nil)
	must.Contain(t, s.Log.String(), "apiKeys=1")
	held := hold(t, s, shopKey)
	stop := make(chan struct{})
	var caller sync.WaitGroup
	caller.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if status, answer := harness.Send(t, s.URL, with(shopKey, "GET", "/api/jobs?limit=1", nil)); status != 200 {
				t.Errorf("a request was lost: %d %v", status, answer)
			}
		}
	})
	warned := func() bool {
		status, answer := harness.Send(t, s.OperatorURL, harness.Request{Method: "GET", Path: "/readyz"})
		if status != 200 {
			t.Errorf("a server that works is not ready: %d %v", status, answer)
		}
		return strings.Contains(fmt.Sprint(answer["warnings"]), "API_KEYS_FILE")
	}
	// Each is wrong in another way than the one before, and so is reported again.
	for _, c := range []struct{ name, text string }{
		{"half a line", shop.Line()[:40]},
		{"no file", ""},
		{"a key itself", "shop " + shopKey},
		{"JSON", `{"shop": "x"}`},
		{"one line of two", shop.Line() + "\nnight\n"},
		{"twice", shop.Line() + "\n" + shop.Line()},
		{"bytes", "\x7fELF\xff\x00"},
		{"too long", strings.Repeat("#\n", 1<<20)},
		{"an unclosed date", shop.Line() + " expires=2027-"},
		{"a directory", ""},
	} {
		said := func() int { return strings.Count(s.Log.String(), "the previous keys stay in force") }
		before := said()
		switch c.name {
		case "no file":
			os.Remove(file)
		case "a directory":
			os.Remove(file)
			must.OK(t, os.Mkdir(file, 0o700))
		default:
			write(t, file, c.text)
		}
		harness.Eventually(t, c.name+": the log to say it", func() bool { return said() > before })
		if !warned() {
			t.Errorf("%s: /readyz does not warn", c.name)
		}
	}
	os.Remove(file)
	writeKeys(t, file, shop)
	harness.Eventually(t, "/readyz to be content", func() bool { return !warned() })
	for i := range 200 { // as an editor writes in place: the file is empty for a moment
		write(t, file, "")
		writeKeys(t, file, shop, night)
		time.Sleep(time.Duration(1+i%19) * time.Millisecond) // vary the timing
	}
	harness.Eventually(t, "the new key to count", func() bool {
		status, _ := harness.Send(t, s.URL, with(nightKey, "GET", "/api/jobs", nil))
		return status == 200
	})
	close(stop)
	caller.Wait()
	select {
	case code := <-held:
		t.Errorf("the WebSocket was closed with %d", code)
	default:
	}
	if strings.Contains(s.Log.String(), shopKey) {
		t.Error("the log shows a key")
	}
}

// Anything but the key is rejected, including any other part of the file.
func TestWhatIsNoKey(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"API_KEYS_FILE": keyFile(t, shop)}, nil)
	digest := hex.EncodeToString(shop.Digest[:])
	for _, sent := range []string{
		digest, "sha256:" + digest, strings.ToUpper(digest), shop.Line(), "shop", "shop:" + shopKey, "shop " + shopKey, strings.ToUpper(shopKey), shopKey[:len(shopKey)-1],
		shopKey + "x", shopKey + ",", shopKey + "," + nightKey, `"` + shopKey + `"`, shopKey + "\t" + shopKey, "Bearer " + shopKey, "rb_" + shopKey, string(shop.Digest[:4]), "API_KEYS/1", nightKey, ".", "..",
	} {
		if strings.ContainsFunc(sent, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			continue // not possible in a header
		}
		if status, answer := harness.Send(t, s.URL, with(sent, "GET", "/api/jobs", nil)); status != 401 || strings.Contains(fmt.Sprint(answer), shopKey) {
			t.Errorf("%q was answered %d %v", sent, status, answer)
		}
	}
}

// A server whose keys cannot be read does not start, least of all in open mode; check
// reports the same.
func TestAServerDoesNotStartWithoutItsKeys(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "remarks alone": "# keys\n", "a key itself": "shop " + shopKey, "no name": "sha256:" + hex.EncodeToString(shop.Digest[:]), "htpasswd": "shop:{SHA}2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
		"a short digest": shop.Line()[:60], "a date of the past century": shop.Line() + " expires=31.12.1999", "a name twice": shop.Line() + "\nshop" + strings.TrimPrefix(night.Line(), "night-job"),
		"a digest twice": shop.Line() + "\nother" + strings.TrimPrefix(shop.Line(), "shop"), "an empty key": apikey.Of("shop", "").Line(), "UTF-16": "\xff\xfes\x00h\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "api-keys")
			write(t, file, text)
			refuses(t, file)
		})
	}
	t.Run("no file", func(t *testing.T) {
		t.Parallel()
		refuses(t, filepath.Join(t.TempDir(), "nothing"))
	})
	t.Run("a directory", func(t *testing.T) {
		t.Parallel()
		refuses(t, t.TempDir())
	})
}

func refuses(t *testing.T, file string) {
	t.Helper()
	for _, command := range []string{"serve", "check"} {
		cmd := exec.CommandContext(t.Context(), harness.Binary(), command)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LISTEN_ADDR=127.0.0.1:0", "CLAUDE_BIN=simulate", "API_KEYS_FILE=" + file, "GORACE=halt_on_error=1 exitcode=66"}
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "API_KEYS_FILE "+file) {
			t.Errorf("%s ended with %v and says:\n%s", command, err, out)
		}
		if strings.Contains(string(out), shopKey) || strings.Contains(string(out), "listens on") {
			t.Errorf("%s shows a key, or listens:\n%s", command, out)
		}
	}
}

// A decision is attributed by the name of the key, in the log and in the audit log. The key
// itself appears neither in the log nor in the server's data.
func TestWhoActedIsNamedByTheirKey(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"API_KEYS_FILE": keyFile(t, shop, night), "API_KEYS": backendKey, "HOLD": "0s"}, nil)
	id, envelope := s.Manual(t, map[string]string{"Authorization": "Bearer " + shopKey}, harness.Object{"userId": "u1"})
	envelope["type"], envelope["message"] = "information_request", "Which?"
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: envelope})
	checkpoint, _ := s.Want(t, 200, with(shopKey, "GET", "/api/jobs/"+id, nil))["checkpoint"].(harness.Object)
	s.Want(t, 200, with(nightKey, "POST", fmt.Sprint("/api/checkpoints/", checkpoint["id"], "/reply"), harness.Object{"text": "blue"}))
	s.Want(t, 200, with(backendKey, "POST", "/api/jobs/"+id+"/cancel", nil))
	audit := harness.Exchange(t, s.URL, with(shopKey, "GET", "/api/jobs/"+id+"/audit", nil)).Text
	must.Contain(t, audit, `"key":"night-job"`, "the audit log")
	for _, want := range []string{"key=shop", "key=night-job", "key=API_KEYS/1"} {
		if !strings.Contains(s.Log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
	kept := s.Log.String() + audit + contents(t, s.Dir)
	for _, key := range []string{shopKey, nightKey, backendKey} {
		if strings.Contains(kept, key) {
			t.Errorf("a key was kept: %s", key)
		}
	}
}

// contents returns the contents of all files in a directory.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	must.OK(t, err)
	return all.String()
}

// The new key is shown once, and stored nowhere.
func TestTheCommandThatMakesAKey(t *testing.T) {
	t.Parallel()
	file := keyFile(t, shop)
	s := harness.Start(t, harness.Vars{"API_KEYS_FILE": file}, nil)
	run := func(args ...string) (string, string, error) {
		cmd := exec.CommandContext(t.Context(), harness.Binary(), args...)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "API_KEYS_FILE=" + file, "GORACE=halt_on_error=1 exitcode=66"}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		return string(out), stderr.String(), err
	}
	key, says, err := run("key", "till", "--ttl", "1h")
	if err != nil || strings.Count(key, "\n") != 1 || strings.Contains(says, strings.TrimSpace(key)) {
		t.Fatalf("%v, printed %q and %q", err, key, says)
	}
	key = strings.TrimSpace(key)
	harness.Eventually(t, "the key to count", func() bool {
		status, _ := harness.Send(t, s.URL, with(key, "GET", "/api/jobs", nil))
		return status == 200
	})
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), key) || !strings.Contains(string(text), "till sha256:") {
		t.Errorf("the file holds %s, %v", text, err)
	}
	for _, args := range [][]string{{"key"}, {"key", "till"}, {"key", "a b"}, {"key", ""}, {"key", "x", "y"}, {"key", "x", "--ttl", "0s"}, {"key", "x", "--ttl", "-1h"}, {"key", "x", "--file", "/nowhere/keys"}, {"key", "x\nevil"}, {"key", "--", "-x"}, {"key", "x#y"}} {
		if out, says, err := run(args...); err == nil || out != "" || says == "" {
			t.Errorf("%q: %v, printed %q and says %q", args, err, out, says)
		}
	}
}
