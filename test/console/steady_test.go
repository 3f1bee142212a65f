package console

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// Updates do not move what a person is looking at.
func TestNothingMovesWhenEventsArrive(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, nil)
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	for i, path := range []string{"/", "/jobs", "/jobs/" + id, "/jobs/" + id + "/timeline"} {
		b := open(t, s, path)
		b.sees("media")
		b.watchMoves()
		for n := range 5 {
			message := fmt.Sprintf("report %d of page %d: looking at what is there", n, i)
			callback(t, s, "/api/claude/progress", envelope, harness.Object{"message": message, "progress": 10 * n})
			b.sees(message)
		}
		b.wantStill(path)
	}
}

// watchMoves records layout shifts from now on.
func (b *tab) watchMoves() {
	b.t.Helper()
	b.is(`(window.moved = [], new PerformanceObserver(list => { for (const one of list.getEntries()) for (const source of one.sources) window.moved.push((source.node?.outerHTML ?? source.node?.textContent ?? "").slice(0, 200)) }).observe({ type: "layout-shift" }), true)`)
}

// wantStill fails the test if something has moved.
func (b *tab) wantStill(where string) {
	b.t.Helper()
	b.is(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	must.Equal(b.t, "", b.value(`window.moved.join("\n")`), where, "this has moved")
}

// note records the position in the window of the first element that each CSS selector
// finds.
func (b *tab) note(selectors ...string) {
	b.t.Helper()
	list := must.Get(json.Marshal(selectors))(b.t)
	b.is(`(window.noted = ` + string(list) + `.map(selector => ({ selector, element: document.querySelector(selector) })).map(one => ({ ...one, box: one.element.getBoundingClientRect() })), true)`)
}

// wantAtPlace fails the test if a recorded element has moved by a pixel or more, or is
// gone.
func (b *tab) wantAtPlace(after string) {
	b.t.Helper()
	moved := b.value(`noted.filter(({ element, box }) => {
		const now = element.getBoundingClientRect();
		return !element.isConnected || Math.abs(now.top - box.top) >= 1 || Math.abs(now.left - box.left) >= 1;
	}).map(({ selector, element, box }) => selector + " from " + box.top + " to " + element.getBoundingClientRect().top).join()`)
	must.Equal(b.t, "", moved, after, "moves")
}

// The bar of a page does not move when questions are opened and answered, or the server
// restarts.
func TestTheBarStandsStill(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, harness.Vars{"HOLD": "1ms"})
	for name, size := range map[string]action{"desktop": desktop(), "phone": phone()} {
		b := open(t, s, "/jobs", size)
		b.sees("Jobs")
		b.note("#nav a:last-of-type", ".new", "main > h1")
		id := create(t, s, harness.Object{"kind": "ship", "userId": name, "input": harness.Object{"prompt": "Ship it as blog"}})
		b.awaits("the count", func() bool { return b.value(`document.getElementById("waiting").dataset.count`) == "1" })
		b.is(`(document.getElementById("away").hidden = false, true)`)
		b.wantAtPlace("a question, on " + name)
		approve(t, s, id, nil)
		b.awaits("the count to be gone", func() bool { return b.value(`document.getElementById("waiting").dataset.count`) == "0" })
		b.wantAtPlace("an answer, on " + name)
	}
}

// New messages and a question move neither the form being filled in, nor the text being
// read: the page shows that there is something new, with a link to it.
func TestAChatStandsStill(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, harness.Vars{"HOLD": "1ms"})
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	for n := range 12 {
		say(t, s, id, fmt.Sprintf("message %d\n\nwith a second paragraph", n))
	}
	for name, size := range map[string]action{"desktop": desktop(), "phone": phone()} {
		b := open(t, s, "/jobs/"+id, size)
		b.sees("message 11")
		b.do(chromedp.SendKeys("#say-text", "well"))
		b.is(`(document.querySelectorAll(".message")[5].scrollIntoView({ block: "center" }), true)`)
		b.note("#say-text", ".message:nth-child(6)")
		say(t, s, id, "a new message on "+name)
		b.sees("a new message on "+name, "New below")
		b.wantAtPlace("a message, on " + name)
		b.do(chromedp.Click("#newer"))
		b.until("the new message in sight",
			`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector(".message:last-child").getBoundingClientRect())`)
	}
	b := open(t, s, "/jobs/"+id)
	b.sees("message 11")
	b.note("#say-text", ".message:nth-child(3)")
	callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "information_request", "message": "Which lake?"})
	b.sees("Which lake?", "New above")
	b.wantAtPlace("a question")
	b.do(chromedp.Click("#newer"))
	b.until("the question in sight",
		`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector("[data-question]").getBoundingClientRect())`)
}

// A new question, or an answer by another person, moves no button under the pointer of a
// person who is about to press it.
func TestTheInboxStandsStill(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, env := range map[string]harness.Vars{
		"without a sign-in": {"HOLD": "1ms"},
		"signed in":         {"HOLD": "1ms", "API_KEYS": opsKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, env)
			header := map[string]string{"Authorization": "Bearer " + opsKey}
			asks := func(user string) string {
				ship := harness.Object{"kind": "ship", "userId": user, "input": harness.Object{"prompt": "Ship it as blog"}}
				id, _ := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: ship})["requestId"].(string)
				harness.Eventually(t, "the question", func() bool {
					return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: header})["checkpoint"] != nil
				})
				return id
			}
			asks("u1")
			other := asks("u2")
			b := open(t, s, "/inbox")
			if env["API_KEYS"] != "" {
				asOps(b)
			}
			b.until("both", `document.querySelectorAll("[data-question]").length === 2`)
			const last = "[data-question]:last-child [data-yes]"
			b.do(chromedp.Focus(last))
			b.note(last)
			asks("u3")
			b.until("the third", `document.querySelectorAll("[data-question]").length === 3`)
			b.wantAtPlace("a question that comes")
			approve(t, s, other, header)
			b.sees("Answered by")
			b.wantAtPlace("an answer elsewhere")
			b.must(`document.activeElement === noted[0].element`, "the button has lost the focus")
		})
	}
}

// A question that the reader has answered leaves the inbox, in whichever order the response
// and the events arrive.
func TestAnAnsweredQuestionLeavesTheInbox(t *testing.T) {
	t.Parallel()
	for held, until := range map[string]string{
		"POST": `document.getElementById("main").innerText.includes("Answered lately")`, // the event's page is there first
		"GET":  `document.getElementById("done").textContent`,                           // a page fetched before the answer arrives after it
	} {
		t.Run(held, func(t *testing.T) {
			t.Parallel()
			s := start(t, harness.Vars{"HOLD": "1ms"})
			id := create(t, s, lake)
			harness.Eventually(t, "the question", func() bool { return questionOf(t, s, id) != "" })
			b := open(t, s, "/inbox")
			b.sees("16:9")
			b.value(`window.fetched = 0; window.done = new Promise(go => window.release = go);
				const real = window.fetch;
				window.fetch = async (url, options) => {
					const method = options.method ?? "GET", answer = await real(url, options);
					fetched++;
					if (method === "` + held + `") await done;
					return answer;
				}; ""`)
			if held == "GET" { // an event that has nothing to do with the question
				say(t, s, id, "One moment")
				b.until("the page to be fetched", `fetched > 0`)
			}
			b.press("16:9")
			b.until("the question to be answered", `!!(`+until+`)`)
			b.is(`(new MutationObserver(() => window.back ||= !!document.querySelector("[data-question] form:not([data-sending])")).observe(document.body, { childList: true, subtree: true }), release(), true)`)
			b.sees("Nothing waits for an answer", "Answered lately")
			b.mustNot(`!!window.back`, "the question could be answered again")
		})
	}
}
