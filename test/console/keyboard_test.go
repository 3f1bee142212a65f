package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringback/test/harness"
	"ringback/test/must"
)

// focused returns the focused element's text, or else its id.
func (b *tab) focused() string {
	b.t.Helper()
	return b.value(`(document.activeElement.innerText || document.activeElement.id || document.activeElement.name || "").trim()`)
}

// Questions can be found, opened and answered without a mouse.
func TestQuestionsAreAnsweredByKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	b := open(t, s, "/inbox")
	b.sees("Nothing waits for an answer")
	first := create(t, s, ship)
	b.awaits("the question to be announced", func() bool {
		return b.value(`document.getElementById("said").textContent`) == "One question waits for an answer."
	})
	second := create(t, s, harness.Object{"kind": "ship", "userId": "u2", "input": harness.Object{"prompt": "Ship it as shop"}})
	b.awaits("both to be counted in the title", func() bool { return b.value(`document.title`) == "(2) Inbox · Ringback" })
	b.awaits("both to be listed", func() bool { return b.value(`String(document.querySelectorAll('[data-question]').length)`) == "2" })

	b.key("j")
	b.key("j")
	b.key("j") // there is no third
	if chosen := b.value(`document.querySelector(".chosen").id`); chosen != "q-"+questionOf(t, s, first) {
		t.Errorf("the older question is %s, chosen is %s", questionOf(t, s, first), chosen)
	}
	b.key("k")
	b.key(kb.Enter)
	b.sees("To the inbox")
	if at := b.address(); !strings.HasSuffix(at, questionOf(t, s, second)) {
		t.Errorf("Enter opened %s", at)
	}
	b.key("d")
	must.Equal(t, "No, Cancel", b.focused(), "d leads to")
	must.Equal(t, "awaiting_approval", record(t, s, second)["status"], "d alone decides")
	b.key(kb.Enter)
	b.sees("Answered by somebody in the console: deny")
	b.key("g")
	b.key("i")
	b.sees("Answered lately", "deny", "by somebody in the console")
	b.key("j")
	b.key("a")
	must.Equal(t, "Yes, Deploy", b.focused(), "a leads to")
	b.key(kb.Enter)
	b.awaits("the count to be gone from the title", func() bool { return b.value(`document.title`) == "Inbox · Ringback" })
	harness.Eventually(t, "both to end", func() bool {
		return record(t, s, first)["status"] == "received" && record(t, s, second)["status"] == "received"
	})
}

// The focus moves through a page in reading order, starts with a link that skips the
// navigation, and returns from the list of keys to where it was.
func TestFocusGoesInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	b := open(t, s, "/jobs")
	var walked []string
	for range 13 {
		b.key(kb.Tab)
		walked = append(walked, b.focused())
	}
	got := strings.Join(walked, ", ")
	for i, words := range []string{"Skip to the content", "Ringback", "Overview", "Jobs", "Inbox", "API", "New job", "all", "all", "user", "id", "tag", "q"} {
		if !strings.HasPrefix(walked[i], words) {
			t.Fatalf("the focus goes to %s", got)
		}
	}
	b.do(chromedp.Focus(`.skip`))
	b.key(kb.Enter)
	if b.focused(); !b.is(`document.activeElement.id === "main"`) {
		t.Errorf("past the navigation comes %q", b.focused())
	}
	b.do(chromedp.Focus(`a.new`))
	b.key("?")
	b.until("the list of keys", `document.getElementById("keys").open`)
	b.key(kb.Escape)
	b.awaits("the focus to be back", func() bool { return b.focused() == "New job" })
	b.key("n")
	b.sees("What is to be done?")
	b.key("g")
	b.key("o")
	b.until("the overview", `document.querySelector("h1")?.innerText === "Overview"`)
}

// A line of a change can be commented on with the keyboard.
func TestALineIsCommentedOnByKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	b.do(chromedp.Focus(`.patch .scroll`))
	b.key(kb.ArrowDown)
	if !b.is(`document.activeElement.dataset.place === "service/SIMULATED.md:1" && document.activeElement.getAttribute("aria-label") === "Comment on service/SIMULATED.md:1"`) {
		t.Fatalf("the arrow leads to %q", b.focused())
	}
	b.key(kb.Enter)
	b.do(chromedp.KeyEvent("louder"))
	b.do(chromedp.Click(`#steer button`))
	b.sees("service/SIMULATED.md:1: louder")
}

// A person who is about to answer a question sees immediately that another person has
// answered it, and who.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms", "JWT_SECRET": "a-secret-of-at-least-32-characters"})
	token := mint(t, s, "u1")
	b := open(t, s, "/inbox")
	b.fill("#token", token)
	b.press("Sign in")
	b.sees("Nothing waits for an answer")
	header := map[string]string{"Authorization": "Bearer " + token}
	id, _ := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: harness.Object{"kind": "ship", "input": harness.Object{"prompt": "Ship it as blog"}}})["requestId"].(string)
	b.sees("Yes, Deploy")
	b.do(chromedp.SendKeys(`textarea[name=text]`, "I was about to say"))
	approve(t, s, id, header)
	b.sees("Answered by u1 over the API: approve")
	b.loses("Yes, Deploy")
	s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: harness.Object{"kind": "media", "input": harness.Object{"prompt": "a lake", "aspect_ratio": "5:3"}}})
	b.sees("16:9", "Answered by u1 over the API: approve")
}
