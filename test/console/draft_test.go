package console

import (
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringback/test/harness"
	"ringback/test/must"
)

// say adds a message of Claude to the chat of a job.
func say(t testing.TB, s *harness.Server, id, text string) {
	t.Helper()
	j := record(t, s, id)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": j["sessionId"], "userId": j["userId"], "content": text}})
}

// holds waits until a control has a value.
func (b *tab) holds(selector, text string) {
	b.t.Helper()
	b.awaits(selector+" to hold "+text, func() bool {
		return b.value(`document.querySelector('`+selector+`')?.value ?? "nothing"`) == text
	})
}

// kept returns the unsent text that the page shows.
func (b *tab) kept() string {
	b.t.Helper()
	return b.value(`[...document.querySelectorAll(".kept textarea")].map(area => area.value).join("|")`)
}

// Text being written survives updates, a reload, navigation, and an answer by another
// person.
func TestWhatOneWritesIsNotLost(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	id := create(t, s, ship)
	harness.Eventually(t, "the question", func() bool { return questionOf(t, s, id) != "" })
	const answer = `[data-question]:last-child textarea[name=text]`
	b := open(t, s, "/inbox")
	b.do(chromedp.SendKeys(answer, "call it shop"))
	create(t, s, harness.Object{"kind": "ship", "userId": "u2", "input": harness.Object{"prompt": "Ship it as blog"}})
	b.until("the second question", `document.querySelectorAll("[data-question]").length === 2`)
	b.do(chromedp.KeyEvent("!"))
	b.holds(answer, "call it shop!")
	b.do(chromedp.Reload())
	b.holds(answer, "call it shop!")
	b.visit("/jobs")
	b.do(chromedp.NavigateBack())
	b.holds(answer, "call it shop!")

	approve(t, s, id, nil)
	b.sees("Answered by", "over the API", "What you had written")
	must.Equal(t, "call it shop!", b.kept(), "of what was written there is")
	create(t, s, harness.Object{"kind": "ship", "userId": "u3", "input": harness.Object{"prompt": "Ship it as docs"}})
	b.until("the third question", `document.querySelectorAll("[data-question]").length === 3`)
	must.Equal(t, "call it shop!", b.kept(), "later there is")
	b.visit("/inbox/" + b.value(`document.querySelector(".closed").closest("article").id.slice(2)`))
}

// On a job's page, the text of an answer stays next to the answer that another person gave,
// and a message to Claude stays in its form through all updates.
func TestWhatOneWritesToAJobIsNotLost(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	id := create(t, s, lake)
	harness.Eventually(t, "the question", func() bool { return questionOf(t, s, id) != "" })
	b := open(t, s, "/jobs/"+id)
	b.do(chromedp.SendKeys(`[data-question] textarea[name=text]`, "wider than that"))
	b.do(chromedp.SendKeys(`#say-text`, "and by the way"))
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + questionOf(t, s, id) + "/reply", Body: harness.Object{"text": "16:9"}})
	b.sees("done", "Answered by", "over the API")
	b.do(chromedp.KeyEvent(" more"))
	b.holds("#say-text", "and by the way more")
	must.Equal(t, "wider than that", b.kept(), "of the answer there is")
	b.do(chromedp.Reload())
	b.holds("#say-text", "and by the way more")
	b.awaits("the answer beside the question", func() bool { return b.kept() == "wider than that" })
	b.press("Throw it away")
	b.do(chromedp.Reload())
	b.holds("#say-text", "and by the way more")
	must.Equal(t, "", b.kept(), "what was thrown away is back")
	b.press("Send")
	b.until("the message",
		`document.querySelector(".messages").innerText.includes("and by the way more")`)
	b.holds("#say-text", "")
	b.do(chromedp.Reload())
	b.holds("#say-text", "")
}

// Comments on lines and the text of a steer survive a reload and other views of the change;
// if another person decides, they can still be read and copied.
func TestWhatOneWritesToAReviewIsNotLost(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	b.comments("service/SIMULATED.md:1", "too loud")
	b.do(chromedp.SendKeys(`#prompt`, "whisper"), chromedp.SendKeys(`#reason`, "nearly"))
	b.press("Side by side")
	const comment = `[name="comment:service/SIMULATED.md:1"]`
	b.holds(comment, "too loud")
	b.do(chromedp.Reload())
	b.holds(comment, "too loud")
	b.holds("#prompt", "whisper")
	b.holds("#reason", "nearly")
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/reject", Body: harness.Object{"reason": "no"}})
	b.sees("Answered by", "over the API", "This can be sent no more")
	b.awaits("all that was written", func() bool {
		kept := b.kept()
		return strings.Contains(kept, "too loud|whisper") && strings.Contains(kept, "nearly")
	})
}

// The event that triggers a fetch of the page may be the last one of its job, so a failed
// fetch is retried.
func TestAPageThatCouldNotBeFetchedIsFetchedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	id := create(t, s, lake)
	harness.Eventually(t, "the question", func() bool { return questionOf(t, s, id) != "" })
	b := open(t, s, "/jobs/"+id)
	b.value(`const real = window.fetch; window.fetch = (...args) => { if (window.refusing) window.refused = performance.now(); return window.refusing ? Promise.reject(new Error("refused")) : real(...args) }; window.refusing = true; ""`)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + questionOf(t, s, id) + "/reply", Body: harness.Object{"text": "16:9"}})
	harness.Eventually(t, "the result", func() bool { return record(t, s, id)["status"] == "received" })
	b.until("the fetch for the last event", `performance.now() - window.refused > 1000`)
	b.value(`window.refusing = false; ""`)
	b.sees("Generated a simulated image in 16:9")
}

// Behind a proxy that passes no WebSockets, a page is updated, and does not claim that the server is away.
func TestAPageWithoutWebSocketsIsUpdated(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	b := open(t, s, "/leave?to=http://a.example", before(`window.WebSocket = class { constructor() { setTimeout(() => { window.refused = true; this.onclose({ code: 1006 }); }); } }`))
	b.visit("/jobs")
	b.until("the WebSocket to be refused", `window.refused === true`)
	create(t, s, lake)
	b.sees("a lake", "needs an answer")
	b.mustNot(`document.getElementById("away").checkVisibility()`, "the page says that the server is away")
}

// In a browser that denies the storage, what is sent is taken once, and forms work as elsewhere.
func TestABrowserWithoutStorageSends(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id, _ := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	b := open(t, s, "/jobs/"+id)
	b.until("the scripts", `document.readyState === "complete"`)
	b.is(`(Object.defineProperty(window, "sessionStorage", { get() { throw new Error("denied"); } }), true)`)
	b.do(chromedp.SendKeys("#say-text", "w"), chromedp.KeyEvent(kb.Backspace))
	b.do(chromedp.KeyEvent("with the shore"))
	b.press("Send")
	b.until("the message", `[...document.querySelectorAll(".message.mine")].some((one) => one.innerText.includes("with the shore"))`)
	b.holds("#say-text", "")
	must.NotContain(t, b.text(), "The server is away")
}

// If the server is down when something is sent, nothing is lost: it is sent again when the
// server is back.
func TestWhatIsSentToAServerThatIsAwayIsNotLost(t *testing.T) {
	t.Parallel()
	env := harness.Vars{"DATA_DIR": t.TempDir(), "SANDBOX": "off", "HOLD": "1ms"}
	s := harness.Start(t, env, nil)
	id := create(t, s, ship)
	harness.Eventually(t, "the question", func() bool { return questionOf(t, s, id) != "" })
	b := open(t, s, "/inbox")
	b.do(chromedp.SendKeys(`textarea[name=text]`, "not today"))
	other := open(t, s, "/jobs/new/media") // which follows no events
	other.fill(`[name="v/prompt"]`, "a lake")
	_ = s.Cmd.Process.Signal(syscall.SIGKILL)
	b.sees("The server is away")
	b.do(chromedp.Focus(`[data-no]`), chromedp.KeyEvent(kb.Enter))
	b.sees("Nothing is lost: send it again when it is back")
	other.press("Start")
	other.sees("The server is away. This page")
	env["LISTEN_ADDR"] = strings.TrimPrefix(s.URL, "http://")
	again := harness.Start(t, env, nil)
	b.loses("The server is away. This page")
	other.loses("The server is away. This page")
	other.holds(`[name="v/prompt"]`, "a lake")
	b.holds(`textarea[name=text]`, "not today")
	b.press("No, Cancel")
	b.sees("Answered lately", "deny")
	harness.Eventually(t, "the reason", func() bool {
		return strings.Contains(harness.Text(t, again.URL+"/api/jobs/"+id+"/audit"), "deny")
	})
}
