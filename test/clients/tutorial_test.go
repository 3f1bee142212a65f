package clients

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
)

// tutorial returns what a reader of docs/tutorial.md has at the end: the directory of the
// kinds, and the page.
func tutorial(t *testing.T) (kinds, html string, script []byte) {
	t.Helper()
	all, err := markdown.Documents(repository(t))
	must.OK(t, err)
	dir := t.TempDir()
	for _, b := range all["docs/tutorial.md"].Blocks {
		if b.File == "" {
			continue
		}
		text := strings.ReplaceAll(b.Text, "requierd", "required") // the reader fixes it
		path := filepath.Join(dir, b.File)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o750))
		harness.WriteProgram(t, path, []byte(text))
	}
	page, err := os.ReadFile(filepath.Join(dir, "page", "index.html"))
	must.OK(t, err)
	if script, err = os.ReadFile(filepath.Join(dir, "page", "page.js")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kinds"), string(page), script
}

// The tutorial's page works as described: it shows the job's progress, continues through a
// restart of the server and when it is reloaded, shows Claude's questions, and shows the
// list.
func TestTheTutorialsPageWorks(t *testing.T) {
	t.Parallel()
	kinds, html, script := tutorial(t)
	s := newStage(t, html, script, harness.Vars{"PROMPTS_DIR": kinds, "SCHEMAS_DIR": kinds})
	b := s.open(t, url.Values{})
	b.sees("Write the list")
	b.press("Write the list")
	b.awaitsProgress()
	s.restart(t)
	b.sees(`Print "By the sea"?`)
	must.OK(t, chromedp.Do(b.ctx, chromedp.Reload()))
	b.sees(`Print "By the sea"?`)
	b.press("Print it")
	b.sees("It was printed.", "By the sea", "5 pairs of socks")
	must.NotContain(t, evaluate[string](b, "document.body.innerText"), `Print "By the sea"?`, "the page still asks")
}

// An answer given elsewhere also appears on the page, and an error is shown with its
// reason.
func TestTheTutorialsPageHearsOfAnswersAndRefusals(t *testing.T) {
	t.Parallel()
	kinds, html, script := tutorial(t)
	s := newStage(t, html, script, harness.Vars{"PROMPTS_DIR": kinds, "SCHEMAS_DIR": kinds, "RINGBACK_SIMULATE_PACE": "1ms"})
	b := s.open(t, url.Values{})
	b.sees("Write the list")
	evaluate[any](b, `document.querySelector("[name=days]").value = "90"`)
	b.press("Write the list")
	b.sees("/input/days", "60")
	evaluate[any](b, `document.querySelector("[name=days]").value = "9"`)
	b.press("Write the list")
	b.sees(`Print "By the sea"?`)
	id := evaluate[string](b, "location.hash.slice(1)")
	s.server.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/reject", Body: harness.Object{}})
	b.sees("It was not printed.", "By the sea")
}
