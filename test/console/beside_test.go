package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// exchange is a job with a question that another one can replace.
type exchange struct {
	t         *testing.T
	s         *harness.Server
	id, asked string
	envelope  harness.Object
	answers   chan any
}

func newExchange(t *testing.T, s *harness.Server) *exchange {
	t.Helper()
	e := &exchange{t: t, s: s, answers: make(chan any, 2)}
	e.id, e.envelope = s.Manual(t, nil, harness.Object{"kind": "careful", "userId": "u1", "input": harness.Object{}})
	e.ask("toolu_1", "go vet ./...")
	return e
}

func (e *exchange) ask(use, command string) {
	e.t.Helper()
	signature, _ := e.envelope["hmac"].(string)
	go func() {
		_, answer := harness.Send(e.t, e.s.URL, harness.Request{
			Method: "POST", Path: "/api/claude/tool-calls", Header: map[string]string{"X-Ringback-Request-Id": e.id, "X-Ringback-Signature": signature},
			Body: harness.Object{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": use, "cwd": "/", "tool_input": harness.Object{"command": command}},
		})
		decided, _ := answer["hookSpecificOutput"].(harness.Object)
		e.answers <- decided["permissionDecision"]
	}()
	before := e.asked
	harness.Eventually(e.t, "the question", func() bool {
		e.asked = questionOf(e.t, e.s, e.id)
		return e.asked != "" && e.asked != before
	})
}

// decide answers the open question elsewhere.
func (e *exchange) decide(decision string) {
	e.t.Helper()
	e.s.Want(e.t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + e.asked + "/reply", Body: harness.Object{"decision": decision}})
	<-e.answers
}

// replace has another person answer the question, and Claude ask another one.
func (e *exchange) replace() {
	e.t.Helper()
	e.decide("deny")
	e.ask("toolu_2", "rm -rf /srv")
}

// isOpen checks that nothing has answered the second question, and then answers it.
func (e *exchange) isOpen() {
	e.t.Helper()
	must.Equal(e.t, "open", e.s.Want(e.t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + e.asked})["status"], "the second question is")
	e.decide("deny")
}

func carefulServer(t *testing.T) *harness.Server {
	t.Helper()
	return start(t, harness.Vars{"PROMPTS_DIR": kinds(t, map[string]string{"careful.md": carefulKind})})
}

const answeredNothing = "The question that you saw is no longer open: your message answered nothing."

// Words answer the question next to which they were written. If another one has replaced it, they
// answer nothing, and the page says so.
func TestWordsAnswerTheQuestionBesideThem(t *testing.T) {
	t.Parallel()
	s := carefulServer(t)
	for name, c := range sample.Cases(t, 2, map[string]struct {
		write   func(b *tab, e *exchange)
		options []action
	}{
		"while the page was open": {write: func(b *tab, e *exchange) {
			b.do(chromedp.SendKeys("#say-text", "ye"))
			e.replace()
			b.sees("rm -rf")
			b.do(chromedp.KeyEvent("s"))
		}},
		"while the page was open, in a browser that stores nothing": {write: func(b *tab, e *exchange) {
			b.is(`(Storage.prototype.setItem = () => { throw new Error("full") }, true)`)
			b.do(chromedp.SendKeys("#say-text", "yes"))
			e.replace()
			b.sees("rm -rf")
		}},
		"while the reader was on another page": {write: func(b *tab, e *exchange) {
			b.do(chromedp.SendKeys("#say-text", "yes"))
			b.visit("/jobs")
			e.replace()
			b.visit("/jobs/" + e.id)
		}},
		"before a reload": {write: func(b *tab, e *exchange) {
			b.do(chromedp.SendKeys("#say-text", "yes"))
			e.replace()
			b.do(chromedp.Reload())
		}},
		"without scripts": {options: []action{noScript()}, write: func(b *tab, e *exchange) {
			b.do(chromedp.SendKeys("#say-text", "yes"))
			e.replace()
		}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newExchange(t, s)
			b := open(t, s, "/jobs/"+e.id, c.options...)
			b.sees("go vet ./...")
			c.write(b, e)
			b.holds("#say-text", "yes")
			b.press("Send")
			b.sees(answeredNothing, "This is open now", "rm -rf")
			e.isOpen()
		})
	}
}

// A message belongs to whatever the page shows when its first letter is written.
func TestWordsBesideTheNewQuestionAnswerIt(t *testing.T) {
	t.Parallel()
	s := carefulServer(t)
	for name, before := range map[string]string{"the field has the focus": "", "what was written is deleted": "ye"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newExchange(t, s)
			b := open(t, s, "/jobs/"+e.id)
			b.sees("go vet ./...")
			b.do(chromedp.Focus("#say-text"), chromedp.KeyEvent(before))
			e.replace()
			b.sees("rm -rf")
			for range before {
				b.do(chromedp.KeyEvent(kb.Backspace))
			}
			b.do(chromedp.KeyEvent("no"))
			b.press("Send")
			must.Equal[any](t, "deny", <-e.answers, "the call is answered")
			b.until("the message", `[...document.querySelectorAll(".message.mine")].some((one) => one.innerText.endsWith("no"))`)
			must.NotContain(t, b.text(), "answered nothing")
		})
	}
}

// A message goes to the job whose page it was written on. If that one has ended meanwhile, nothing is
// sent before the page has said that it starts another job; if the chat goes on in another, it links there.
func TestAMessageGoesToTheJobOfItsPage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for name, options := range map[string][]action{"with scripts": nil, "without scripts": {noScript()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := "s-" + strings.ReplaceAll(name, " ", "-")
			job := harness.Object{"kind": "media", "userId": "u1", "sessionId": session, "input": harness.Object{"prompt": "a lake"}}
			id, _ := s.Manual(t, nil, job)
			chat := func() harness.Object {
				return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/sessions/" + session + "/messages?userId=u1"})
			}
			said := func() (n int) {
				messages, _ := chat()["messages"].([]any)
				for _, one := range messages {
					if m, _ := one.(harness.Object); m["content"] == "one more thing" {
						n++
					}
				}
				return n
			}
			b := open(t, s, "/jobs/"+id, options...)
			b.do(chromedp.SendKeys("#say-text", "one more thing"))
			s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/cancel"})
			b.press("Send")
			b.sees("so the message would start another one: nothing was sent", "Send to a new job")
			b.holds("#say-text", "one more thing")
			must.Equal(t, 0, said(), "is sent")
			b.press("Send to a new job")
			harness.Eventually(t, "the message", func() bool { return said() == 1 })
			harness.Eventually(t, "the job that it starts", func() bool { return chat()["latestJob"] != id })
			later, _ := s.Manual(t, nil, job)
			b.do(chromedp.SendKeys("#say-text", "one more thing"))
			b.press("Send")
			b.sees("A message goes to the latest job of its chat", "This chat goes on in another job")
			b.holds("#say-text", "one more thing")
			must.Equal(t, 1, said(), "is sent")
			b.press("write there")
			b.until("the latest job", `location.pathname.endsWith("`+later+`")`)
		})
	}
}

// A request for another round is for the round that the page showed.
func TestAnotherRoundIsOfTheOneThatWasShown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	b.do(chromedp.SendKeys("#prompt", "whisper"))
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/steer", Body: harness.Object{"prompt": "Shout"}})
	b.sees("round 2")
	b.holds("#prompt", "whisper")
	b.press("Start another round")
	b.sees("You wrote this about an earlier round, so it was not sent.")
	b.holds("#prompt", "whisper")
	b.press("Start another round")
	b.sees("whisper", "round 3")
}
