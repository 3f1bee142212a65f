package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
	"ringback/test/scan"
)

// view is a page in a certain state.
type view struct {
	name, path string
	// prepare brings the open page into the state; nil if there is nothing to do.
	prepare func(*tab)
}

// everyPage returns a server on which something of each kind has happened, and all pages of
// it.
func everyPage(t testing.TB) (*harness.Server, []view) {
	t.Helper()
	url, client := harness.Redis(t)
	s := start(t, harness.Vars{
		"REDIS_URL": url, "HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{"careful.md": carefulKind, "refund.md": refundKind, "release.md": releaseKind, "cleanup.md": cleanupKind}),
		"RINGBACK_SIMULATE_PACE": "60ms", "MAX_ATTEMPTS": "1",
	})
	for d := range 30 { // as if the last month had been busy
		key := "rb:{00}:daily:" + time.Now().UTC().AddDate(0, 0, -d).Format(time.DateOnly)
		cost := func(kind string, millionths int) {
			client.HIncrBy(t.Context(), key, "spent:"+kind, int64(millionths)*1000)
		}
		cost("code-change", (d*d*7919%37)*61000)
		cost("meal-suggestions", (d*104729%23)*21000)
		cost("media", (d*1299709%11)*32000)
		for i, bound := range []string{"1", "2", "5", "10", "20", "30", "60", "120"} {
			client.HIncrBy(t.Context(), key, "firstCallback:"+bound, []int64{3, 9, 21, 14, 6, 3, 1, 1}[i])
		}
		for i, bound := range []string{"10", "30", "60", "300", "900", "3600", "14400", "longer"} {
			client.HIncrBy(t.Context(), key, "approval:"+bound, []int64{1, 2, 3, 5, 3, 2, 1, 1}[i])
		}
	}
	meals := create(t, s, harness.Object{"kind": "meal-suggestions", "userId": "u1", "tags": []string{"nightly", "team:food"}, "input": harness.Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-05"}})
	review := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n", "main.go": "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n"}))
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + review + "/steer", Body: harness.Object{"prompt": "Greet more softly"}})
	media := create(t, s, harness.Object{"kind": "media", "userId": "u2", "input": harness.Object{"prompt": "a lake at dawn", "aspect_ratio": "16:9"}})
	shipped := create(t, s, ship)
	asked := create(t, s, lake)
	failed := create(t, s, harness.Object{"kind": "media", "userId": "u2", "input": harness.Object{"prompt": "a castle"}, "options": harness.Object{"simulate": "failure"}})
	running, envelope := s.Manual(t, nil, harness.Object{"userId": "u3"})
	callback(t, s, "/api/claude/progress", envelope, harness.Object{"message": "Looking through the recipes of the last weeks", "progress": 40})
	tool, answered := ask(t, s)
	<-answered
	forged, long := askForgery(t, s)
	form := askForm(t, s)
	_, again := askAgain(t, s)
	preview := askPreview(t, s)
	for id, want := range map[string]string{meals: "received", media: "received", shipped: "awaiting_approval", asked: "awaiting_input", failed: "failed", review: "awaiting_approval"} {
		harness.Eventually(t, id+" to be "+want, func() bool { return record(t, s, id)["status"] == want })
	}
	done := create(t, s, harness.Object{"kind": "ship", "userId": "u4", "input": harness.Object{"prompt": "Ship it as docs"}})
	harness.Eventually(t, "another question", func() bool { return questionOf(t, s, done) != "" })
	closed := questionOf(t, s, done)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + closed + "/reply", Body: harness.Object{"decision": "deny", "text": "not today"}})
	standing(t, s)

	change := "/jobs/" + review + "/review"
	return s, []view{
		{"overview", "/", nil},
		{"jobs", "/jobs", nil},
		{"jobs-none", "/jobs?kind=media&status=running", nil},
		{"bulk", "/jobs/bulk?action=cancel&user=u1", nil},
		{"bulk-none", "/jobs/bulk?action=retry&user=u9", nil},
		{"bulk-answer", "/jobs/bulk?action=answer&kind=media", nil},
		{"kinds", "/jobs/new", nil},
		{"form", "/jobs/new/meal-suggestions", nil},
		{"form-wrong", "/jobs/new/meal-suggestions", func(b *tab) {
			b.is(`(document.querySelector("form.panel").noValidate = true)`)
			b.fill(`[name="v/dateRangeStart"]`, "2026-03-02")
			b.press("Start")
			b.until("the fault", `!!document.querySelector("[aria-invalid], .faults")`)
		}},
		{"job-done", "/jobs/" + meals, nil},
		{"job-running", "/jobs/" + running, nil},
		{"job-failed", "/jobs/" + failed, nil},
		{"job-asks", "/jobs/" + shipped, nil},
		{"timeline", "/jobs/" + meals + "/timeline", nil},
		{"transcript", "/jobs/" + meals + "/transcript", nil},
		{"audit", "/jobs/" + done + "/audit", nil},
		{"files", "/jobs/" + media + "/files", nil},
		{"files-none", "/jobs/" + failed + "/files", nil},
		{"review", change, nil},
		{"review-split", change + "?view=split", nil},
		{"review-since", change + "?since=0", nil},
		{"review-file", change + "?file=service/SIMULATED.md", nil},
		{"inbox", "/inbox", nil},
		{"question-confirmation", "/inbox/" + questionOf(t, s, shipped), nil},
		{"question-tool", "/inbox/" + tool, nil},
		{"question-forged", "/inbox/" + forged, nil},
		{"question-again", "/inbox/" + again, nil},
		{"question-preview", "/inbox/" + preview, nil},
		{"question-long", "/inbox/" + long, nil},
		{"question-form", "/inbox/" + form, nil},
		{"question-value", "/inbox/" + questionOf(t, s, asked), nil},
		{"question-answered", "/inbox/" + closed, nil},
		{"approvals", "/approvals?user=u1", nil},
		{"docs", "/docs", nil},
		{"docs-open", "/docs", func(b *tab) {
			b.do(chromedp.Click(`details summary`))
			b.sees("What it means")
		}},
		{"link", "/leave?to=https%3A%2F%2Fa.example@%D0%B0%D1%80%D1%80le.example%2Fx%3Fy%3D1", nil},
		{"link-own", "/leave?to=http%3A%2F%2Flocalhost%3A9999%2F", nil},
		{"not-found", "/jobs/req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa", nil},
		{"no-such-page", "/nothing/here", nil},
		{"wrong-filter", "/jobs?status=lost", nil},
		{"wrong-method", "/jobs/" + meals + "/cancel", nil},
		{"refused", "/jobs/" + meals, func(b *tab) { // as a browser without JavaScript shows it
			b.fill("#say-text", "Another lake, please")
			b.is(`(document.getElementById("say").action = "/jobs/req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa/say", document.getElementById("say").submit(), true)`)
			b.sees("What you had written")
		}},
		{"too-large", "/jobs/new/media", func(b *tab) {
			b.is(`(document.querySelector('#new [name="v/prompt"]').value = "x".repeat(5 << 20), document.getElementById("new").submit(), true)`)
			b.sees("The form is too large")
		}},
		{"keys", "/inbox", func(b *tab) {
			b.key("?")
			b.sees("Close")
		}},
	}
}

// firstPages returns the pages of a server on which nothing has happened, and of one that
// requires a sign-in.
func firstPages(t testing.TB) map[*harness.Server][]view {
	t.Helper()
	keyed, _, asked := askAda(t)
	return map[*harness.Server][]view{
		start(t, nil): {{"overview-none", "/", nil}, {"inbox-none", "/inbox", nil}, {"jobs-first", "/jobs", nil}, {"approvals-none", "/approvals", nil}},
		start(t, harness.Vars{"JWT_SECRET": "a-secret-of-at-least-32-characters"}): {
			{"sign-in", "/", nil},
			{"signed-out", "/sign-in", func(b *tab) {
				b.is(`(document.querySelector("form.stack").action = "/jobs/new/media", document.getElementById("token").name = "text", document.getElementById("token").value = "What I wrote", document.querySelector("form.stack").submit(), true)`)
				b.sees("no longer signed in")
			}},
		},
		storeless(t): {{"store-away", "/jobs", nil}},
		keyed:        {{"question-another", "/inbox/" + asked, asOps}},
	}
}

// storeless returns a server whose store is unavailable.
func storeless(t testing.TB) *harness.Server {
	t.Helper()
	redis := harness.StartRedis(t, scan.New(), nil)
	s := start(t, harness.Vars{"REDIS_URL": redis.URL})
	redis.Kill()
	return s
}

// jobOf returns the id of the job that asks a question.
func jobOf(t testing.TB, s *harness.Server, question string) string {
	t.Helper()
	id, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + question})["requestId"].(string)
	return id
}

// questionOf returns the id of the question that a job waits at; empty for none.
func questionOf(t testing.TB, s *harness.Server, job string) string {
	t.Helper()
	open, _ := record(t, s, job)["checkpoint"].(harness.Object)
	id, _ := open["id"].(string)
	return id
}

// callback makes a callback of Claude.
func callback(t testing.TB, s *harness.Server, path string, envelope, payload harness.Object) {
	t.Helper()
	body := harness.Object{}
	for _, part := range []harness.Object{envelope, payload} {
		maps.Copy(body, part)
	}
	s.Want(t, 200, harness.Request{Method: "POST", Path: path, Body: body})
}

// askForm makes a job ask for several values, and returns the question's id.
func askForm(t testing.TB, s *harness.Server) string {
	t.Helper()
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u5", "input": harness.Object{"prompt": "a film"}})
	var schema harness.Object
	text := `{"type": "object", "required": ["title", "length"], "properties": {"title": {"type": "string", "title": "Title"},
		"length": {"type": "integer", "title": "Length in seconds", "minimum": 1}, "style": {"type": "string", "enum": ["calm", "lively"]}, "sound": {"type": "boolean", "title": "With sound"}}}`
	must.OK(t, json.Unmarshal([]byte(text), &schema))
	callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "form_requirements", "message": "What shall the film be like?", "props": harness.Object{"schema": schema}})
	return questionOf(t, s, id)
}

// largePages returns the pages of decisions on much, which take long to show.
func largePages(t testing.TB, s *harness.Server) []view {
	t.Helper()
	many := manyFiles(t, s)
	return []view{
		{"review-many", "/jobs/" + many + "/review", nil},
		{"review-many-viewed", "/jobs/" + many + "/review", func(b *tab) {
			if b.is(`!document.querySelector(".filetree .viewed")`) {
				b.do(chromedp.Click(`.tick`))
			}
			b.sees("not looked at yet, of 70")
			b.is(`(document.getElementById("decide").scrollIntoView(), true)`)
		}},
		{"question-wide", "/inbox/" + askWide(t, s), nil},
	}
}

// manyFiles makes a change of more files than are listed in a question, with what is easily
// overlooked, waits for its review, and returns its job.
func manyFiles(t testing.TB, s *harness.Server) string {
	t.Helper()
	remote := repository(t, map[string]string{"greeting.txt": "hello\n", "ends.txt": "one\ntwo\n", "tool": "#!/bin/sh\n"})
	id := create(t, s, harness.Object{"kind": "code-change", "userId": "u5", "options": harness.Object{"simulate": "manual"}, "input": harness.Object{
		"prompt": "Bring the handlers into one form", "repos": []any{harness.Object{"url": remote}},
		"verifiers": []any{harness.Object{"name": "there", "command": "test -e greeting.txt"}, harness.Object{"name": "a check with a long name\n[PASS]", "command": "seq 1 30; false"}},
	}})
	harness.Eventually(t, "the repository", func() bool { return record(t, s, id)["phase"] == "claude" })
	values := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback"})
	dir := filepath.Join(fmt.Sprint(values["directory"]), "service")
	write := func(name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for n := range 64 {
		write(fmt.Sprintf("handler_%02d.go", n), fmt.Sprintf("package service\n\nfunc handler%d() error {\n\treturn nil\n}\n", n))
	}
	write("ends.txt", "one\r\ntwo")
	write("long.txt", strings.Repeat("a line\n", 1200))
	write("wide.txt", strings.Repeat("wide", 5000)+"\n")
	write(".env", "A=1\n")
	write("a \u202ename\nof two lines", "x\n")
	must.OK(t, os.Remove(filepath.Join(dir, "greeting.txt")))
	callback(t, s, "/api/claude/result", harness.Object{"requestId": id, "hmac": values["hmac"]}, harness.Object{"summary": "All handlers return an error now.\n\n# Approved"})
	harness.Eventually(t, "the review", func() bool { return record(t, s, id)["status"] == "awaiting_approval" })
	return id
}

// askWide makes a job ask for an action with wide and long values, and returns the question's id.
func askWide(t testing.TB, s *harness.Server) string {
	t.Helper()
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "refund", "userId": "u6", "input": harness.Object{}})
	callback(t, s, "/api/claude/actions/refund", envelope, harness.Object{"input": harness.Object{
		"amount": 1, "customer": strings.Repeat("wide", 300), "reason": strings.Repeat("A long line of words without an end ", 40) + "\r\nand another\r",
		"items": []any{harness.Object{"name": strings.Repeat("n", 200), "tags": []string{"a", "b", strings.Repeat("界", 100)}}},
	}})
	return questionOf(t, s, id)
}

// standing approves a tool for good.
func standing(t testing.TB, s *harness.Server) {
	t.Helper()
	question, answered := ask(t, s)
	<-answered
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + question + "/reply", Body: harness.Object{"decision": "approve", "scope": "always"}})
}

// schemes are the two colour schemes.
var schemes = []string{"light", "dark"}

// look shows a view in a colour scheme.
func (v view) look(b *tab, scheme string) {
	b.t.Helper()
	b.do(colours(scheme))
	b.visit(v.path)
	if v.prepare != nil {
		v.prepare(b)
	}
	b.until("the page to be still",
		`document.readyState === "complete" && [...document.images].every(image => image.complete || image.loading === "lazy")`)
}

// Each page is accessible: axe finds no serious problem, in both colour schemes, and no
// page is wider than a phone.
func TestEverybodyCanUseEachPage(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../.tools/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("axe is not installed: run make deps")
		}
		t.Fatal(err)
	}
	looks := sample.Of(t, 1, schemes) // axe takes most of the time
	check := func(s *harness.Server, views []view) {
		b := open(t, s, "/", phone())
		for _, v := range sample.Of(t, 12, views) {
			for _, scheme := range looks {
				v.look(b, scheme)
				for _, fault := range b.faults(string(axe)) {
					t.Errorf("%s, %s: %s", v.name, scheme, fault)
				}
			}
			b.mustNot(`document.body.innerText.includes("%!")`, "%s shows a value that could not be written", v.name)
			b.mustNot(`document.documentElement.scrollWidth > innerWidth`, "%s is wider than a phone", v.name)
			if unreached := b.value(`[...document.querySelectorAll("main *")].filter(one => { const { overflowX: x, overflowY: y } = getComputedStyle(one);
				return /auto|scroll/.test(x + y) && one.tabIndex < 0 && !one.querySelector("a[href], button, input, select, textarea, summary") }).map(one => one.outerHTML.slice(0, 80)).join(" ")`); unreached != "" {
				t.Errorf("%s has parts that may scroll, which the keyboard does not reach: %s", v.name, unreached)
			}
			b.mustNot(`[...document.querySelectorAll(".audit")].some(one => one.scrollWidth > one.clientWidth)`,
				"the table of %s is wider than a phone", v.name)
			b.mustNot(`[...document.querySelectorAll(".tick")].some(tick => tick.getBoundingClientRect().bottom > tick.nextElementSibling.querySelector("summary").getBoundingClientRect().bottom)`,
				"on %s, a button does not fit into the heading of its file", v.name)
		}
	}
	check(everyPage(t))
	for s, views := range firstPages(t) {
		check(s, views)
	}
}

// Pictures of all pages, for people to look at: make screenshots.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		t.Skip("SCREENSHOTS does not say where they are to go: make screenshots")
	}
	wanted := regexp.MustCompile(os.Getenv("SCREENSHOTS_OF")) // all of them, if it is not set
	take := func(s *harness.Server, views []view) {
		for size, option := range map[string]action{"desktop": desktop(), "phone": phone()} {
			b := open(t, s, "/", option)
			for _, v := range views {
				if !wanted.MatchString(v.name) {
					continue
				}
				for _, scheme := range schemes {
					v.look(b, scheme)
					b.screenshot(filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", v.name, size, scheme)))
				}
			}
		}
	}
	s, views := everyPage(t)
	take(s, append(views, largePages(t, s)...))
	for s, views := range firstPages(t) {
		take(s, views)
	}
}
