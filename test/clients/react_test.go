package clients

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/browser"
	"ringback/test/harness"
	"ringback/test/must"
)

// stage is a server in open mode, and a site of another origin with one page.
type stage struct {
	server *harness.Server
	env    harness.Vars
	site   string
}

// newStage starts both. In the script, localhost:3001 is replaced by this server.
func newStage(t *testing.T, html string, script []byte, settings harness.Vars) *stage {
	t.Helper()
	address := "127.0.0.1:" + harness.FreePort(t)
	script = bytes.ReplaceAll(script, []byte("http://localhost:3001"), []byte("http://"+address))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(script)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(html))
	}))
	t.Cleanup(site.Close)
	redis, _ := harness.Redis(t)
	s := &stage{site: site.URL, env: harness.Vars{
		"LISTEN_ADDR": address, "REDIS_URL": redis, "DATA_DIR": t.TempDir(), "SANDBOX": "off",
		"CORS_ORIGINS": site.URL, "RINGBACK_SIMULATE_PACE": "1s",
	}}
	maps.Copy(s.env, settings)
	s.server = harness.Start(t, s.env, nil)
	return s
}

// restart kills the server, and starts it again at the same address.
func (s *stage) restart(t *testing.T) {
	t.Helper()
	s.server.Stop(t, syscall.SIGKILL)
	s.server = harness.Start(t, s.env, nil)
}

func (s *stage) open(t *testing.T, query url.Values) tab {
	t.Helper()
	b := tab{t, browser.Open(t)}
	query.Set("server", s.server.URL)
	must.OK(t, chromedp.Do(b.ctx, chromedp.Navigate(s.site+"/?"+query.Encode())))
	return b
}

// sees waits until the page contains all of these.
func (b tab) sees(words ...string) {
	b.t.Helper()
	for _, word := range words {
		harness.Eventually(b.t, "the page to say "+word, func() bool {
			return strings.Contains(evaluate[string](b, "document.body.innerText"), word)
		})
	}
}

// awaitsProgress waits until the page shows progress reported by Claude.
func (b tab) awaitsProgress() {
	b.t.Helper()
	harness.Eventually(b.t, "the page to show progress", func() bool {
		return evaluate[bool](b, `document.querySelector("progress")?.value > 0`)
	})
}

// press clicks the first button with this text.
func (b tab) press(words string) {
	b.t.Helper()
	ok := evaluate[bool](b, `(button => { button?.click(); return !!button })([...document.querySelectorAll("button")].find(one => one.innerText.includes("`+words+`")))`)
	if !ok {
		b.t.Fatalf("there is no button %q on the page:\n%s", words, evaluate[string](b, "document.body.innerText"))
	}
}

func example(t *testing.T) (html string, script []byte) {
	t.Helper()
	page := must.Get(os.ReadFile(filepath.Join(repository(t), "examples/suggestions-react/public/index.html")))(t)
	return string(page), bundle(t, "examples/suggestions-react/src/page.tsx", "--format=esm")
}

// suggesting opens the page and starts a job there.
func suggesting(t *testing.T) (*stage, tab) {
	t.Helper()
	html, script := example(t)
	s := newStage(t, html, script, nil)
	b := s.open(t, url.Values{})
	b.sees("Suggest")
	b.press("Suggest")
	b.awaitsProgress()
	return s, b
}

func TestSuggestionsAppearThoughTheServerIsKilled(t *testing.T) {
	t.Parallel()
	s, b := suggesting(t)
	s.restart(t)
	b.sees("Baked salmon on fennel", "dinner, 2026-03-02")
	if text := evaluate[string](b, "document.body.innerText"); strings.Count(text, "Baked salmon on fennel") != 1 || strings.Contains(text, "Cancel") {
		t.Errorf("the page reads:\n%s", text)
	}
}

func TestARunIsCancelledInThePage(t *testing.T) {
	t.Parallel()
	_, b := suggesting(t)
	b.press("Cancel")
	harness.Eventually(t, "the page to let another be asked for", func() bool {
		return evaluate[bool](b, `!document.querySelector("progress") && !document.querySelector("form button").disabled && !!document.querySelector("[role=alert]")`)
	})
}

func TestTheInboxFollowsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	ship := harness.Object{"kind": "ship", "userId": "u1", "input": harness.Object{"prompt": "Ship it as blog"}}
	first := s.open(t, url.Values{})
	first.sees("0 waiting")
	id, _ := s.server.Want(t, http.StatusAccepted, harness.Request{Method: "POST", Path: "/api/jobs", Body: ship})["requestId"].(string)
	first.sees("1 waiting", "Shipper Cloud?")
	second := s.open(t, url.Values{"job": {id}})
	second.sees("1 waiting", "job: awaiting_approval")
	second.press("Shipper Cloud?")
	first.sees("0 waiting")
	second.sees("0 waiting", "job: received")
}

// A job that cannot be followed is no error of the page once the page has forgotten the job.
func TestAnErrorIsForgottenWithItsJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	b := s.open(t, url.Values{"job": {"req_01_abcdefghijklmnopqrstuvwxyz"}})
	b.sees("error: No job has the requestId")
	b.press("Forget")
	b.sees("error: none")
}

// A chat follows what is said, and marks what came since its user looked.
func TestAChatMarksWhatIsFresh(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	say := func(session, content string) {
		t.Helper()
		s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": session, "userId": "u1", "content": content}})
	}
	say("s1", "Before")
	b := s.open(t, url.Values{"chat": {"s1"}})
	b.sees("1 said, fresh: none.")
	say("s2", "Elsewhere")
	say("s1", "First")
	b.sees("2 said, fresh: First.")
	say("s1", "Second")
	b.sees("3 said, fresh: First; Second.")
	b.press("Look")
	b.sees("3 said, fresh: none.")
	b.press("Greet")
	b.sees("4 said, fresh: none.")
	say("s1", "Third")
	b.sees("5 said, fresh: Third.")
}

// What a user says in a chat is for the job that the page shows, or for the latest of the chat.
func TestAChatWritesToTheJobThatItShows(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	begin := func() string {
		t.Helper()
		id, _ := s.server.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "sessionId": "s1", "input": harness.Object{"prompt": "a lake"}})
		return id
	}
	addressees := func() (ids []any) {
		t.Helper()
		messages, _ := s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/sessions/s1/messages?userId=u1"})["messages"].([]any)
		for _, one := range messages {
			if m, _ := one.(harness.Object); m["content"] == "yes" {
				props, _ := m["props"].(harness.Object)
				ids = append(ids, props["request_id"])
			}
		}
		return ids
	}
	first := begin()
	chat, beside := s.open(t, url.Values{"chat": {"s1"}}), s.open(t, url.Values{"chat": {"s1"}, "beside": {first}})
	chat.sees("1 said")
	beside.sees("1 said")
	chat.press("Agree")
	harness.Eventually(t, "the message", func() bool { return len(addressees()) == 1 })
	s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/jobs/" + first + "/cancel"})
	second := begin()
	harness.Eventually(t, "a message to the job that follows", func() bool {
		chat.press("Agree")
		return len(addressees()) > 1
	})
	sent := addressees()
	must.Equal(t, []any{first, second}, sent[:2], "the messages are for")
	beside.press("Agree")
	beside.sees("A message goes to the latest job of its chat")
	// More than one message to the second job may have been on its way.
	must.Equal(t, false, slices.Contains(addressees()[1:], any(first)), "a message to the earlier job is sent")
}

// An answer is for the job that asks, even if another one follows it in the chat.
func TestAChatAnswersTheQuestionOfAnEarlierJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	begin := func() (string, harness.Object) {
		t.Helper()
		return s.server.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "sessionId": "s1", "input": harness.Object{"prompt": "a lake"}})
	}
	first, envelope := begin()
	asks := harness.Object{"type": "information_request", "message": "Which lake?"}
	maps.Copy(asks, envelope)
	s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: asks})
	begin()
	b := s.open(t, url.Values{"chat": {"s1"}})
	b.sees("1 waiting", "3 said")
	b.press("Agree")
	harness.Eventually(t, "the answer", func() bool {
		record := s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs/" + first})
		return record["checkpoint"] == nil
	})
}

// In a chat whose job has ended, a message starts another only if the page allows it.
func TestAChatStartsAJobOnlyIfItMay(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	id, _ := s.server.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "sessionId": "s1", "input": harness.Object{"prompt": "a lake"}})
	s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/cancel"})
	jobs := func() int {
		t.Helper()
		all, _ := s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs?userId=u1"})["jobs"].([]any)
		return len(all)
	}
	b, starting := s.open(t, url.Values{"chat": {"s1"}}), s.open(t, url.Values{"chat": {"s1"}, "start": {""}})
	b.sees("said")
	b.press("Agree")
	b.sees("the message would start another one: nothing was sent")
	must.Equal(t, 1, jobs(), "the jobs are")
	starting.sees("said")
	starting.press("Agree")
	harness.Eventually(t, "another job", func() bool { return jobs() == 2 })
}

// What a user says in a chat names the question that its messages show, or none.
func TestAChatAnswersTheQuestionThatItShows(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/hooks.tsx", "--format=esm"), nil)
	shown := func(id int) any {
		t.Helper()
		var props map[string]any
		harness.Eventually(t, "the message", func() bool {
			messages, _ := s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/sessions/s1/messages?userId=u1"})["messages"].([]any)
			if len(messages) < id {
				return false
			}
			props, _ = messages[id-1].(harness.Object)["props"].(map[string]any)
			return true
		})
		return props["checkpoint_message_id"]
	}
	s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": "s1", "userId": "u1", "content": "Before"}})
	b := s.open(t, url.Values{"chat": {"s1"}})
	b.sees("1 said")
	b.press("Agree")
	must.Equal[any](t, 0.0, shown(2), "without a question, the message names")
	s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{
		"sessionId": "s1", "userId": "u1", "content": "Really?", "messageType": "hitl_checkpoint", "props": harness.Object{"checkpoint_type": "confirmation"},
	}})
	b.sees("3 said")
	b.press("Agree")
	must.Equal[any](t, 3.0, shown(4), "below a question, the message names")
	b.sees("4 said")
	b.press("Agree")
	must.Equal[any](t, 0.0, shown(5), "below an answered question, the message names")
	for _, text := range []string{"One?", "Two?"} {
		s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{
			"sessionId": "s1", "userId": "u1", "content": text, "messageType": "hitl_checkpoint", "props": harness.Object{"checkpoint_type": "confirmation"},
		}})
	}
	b.sees("7 said")
	b.press("Agree")
	b.sees("Several questions are open") // and nothing was sent
	must.Equal(t, 7, len(s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/sessions/s1/messages?userId=u1"})["messages"].([]any)))
}

// The parts of a large result appear as they arrive, each once.
func TestSuggestionsAppearBatchByBatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, `<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>`, bundle(t, "test/clients/testdata/batches.tsx", "--format=esm"), nil)
	b := s.open(t, url.Values{})
	b.sees("Suggest")
	b.press("Suggest")
	b.sees("followed: req_")
	id := evaluate[string](b, `document.body.innerText.match(/req_\w+/)[0]`)
	harness.Eventually(t, "the job to run", func() bool {
		return s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs/" + id})["status"] == "running"
	})
	values := s.server.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback"})
	batch := func(number int, final bool, names ...string) {
		var dishes []harness.Object
		for _, name := range names {
			dishes = append(dishes, harness.Object{"date": "2026-03-02", "mealType": "dinner", "recipe": harness.Object{"name": name}})
		}
		payload := harness.Object{"requestId": id, "hmac": values["hmac"], "batch": number, "final": final, "suggestions": dishes}
		if final {
			payload["reasoning"] = "Three soups."
		}
		s.server.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/claude/suggestions/batch", Body: payload})
	}
	batch(1, false, "Leek soup", "Pea soup")
	b.sees("asked: running Leek soup, Pea soup.", "open Leek soup, Pea soup.")
	batch(2, false, "Bean soup")
	b.sees("asked: running Leek soup, Pea soup, Bean soup.", "open Leek soup, Pea soup, Bean soup.")
	batch(3, true, "Fish soup")
	b.sees("asked: at rest Leek soup, Pea soup, Bean soup, Fish soup. Three soups.", "ended Leek soup, Pea soup, Bean soup, Fish soup.")
}
