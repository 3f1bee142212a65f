package console

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
)

// What comes in does not move what somebody looks at.
func TestNothingMovesWhenEventsArrive(t *testing.T) {
	t.Parallel()
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

// watchMoves notes what moves from now on.
func (b *tab) watchMoves() {
	b.t.Helper()
	b.is(`(window.moved = [], new PerformanceObserver(list => { for (const one of list.getEntries()) for (const source of one.sources) window.moved.push((source.node?.outerHTML ?? source.node?.textContent ?? "").slice(0, 200)) }).observe({ type: "layout-shift", buffered: true }), true)`)
}

// wantStill fails where something has moved.
func (b *tab) wantStill(where string) {
	b.t.Helper()
	b.is(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	if moved := b.value(`window.moved.join("\n")`); moved != "" {
		b.t.Errorf("%s: this has moved: %s", where, moved)
	}
}

// at is where the first element that a CSS selector finds stands in the window.
func (b *tab) at(selector string) string {
	b.t.Helper()
	return b.value(`(box => box ? Math.floor(box.top + 0.4) + "," + Math.round(box.left) : "nowhere")(document.querySelector('` + selector + `')?.getBoundingClientRect())`)
}

// The bar of a page stands still when questions come and go, and the server does.
func TestTheBarStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	for name, size := range map[string]action{"desktop": desktop(), "phone": phone()} {
		b := open(t, s, "/jobs", size)
		b.sees("Jobs")
		where := func() string { return b.at("#nav a:last-of-type") + " " + b.at(".new") + " " + b.at("main > h1") }
		before := where()
		id := create(t, s, harness.Object{"kind": "ship", "userId": name, "input": harness.Object{"prompt": "Ship it as blog"}})
		b.awaits("the count", func() bool { return b.value(`document.getElementById("waiting").dataset.count`) == "1" })
		b.is(`(document.getElementById("away").hidden = false, true)`)
		if now := where(); now != before {
			t.Errorf("%s: what stood at %s stands at %s", name, before, now)
		}
		s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/approve"})
		b.awaits("the count to be gone", func() bool { return b.value(`document.getElementById("waiting").dataset.count`) == "0" })
		if now := where(); now != before {
			t.Errorf("%s: afterwards it stands at %s, before at %s", name, now, before)
		}
	}
}

// New messages and a question move neither the form that one writes in, nor what one reads:
// the page says that there is something new, and leads there.
func TestAChatStandsStill(t *testing.T) {
	t.Parallel()
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
		const read = ".message:nth-child(6)"
		where := func() string { return b.at("#say-text") + " " + b.at(read) }
		before := where()
		say(t, s, id, "a new message on "+name)
		b.sees("a new message on "+name, "New below")
		if now := where(); now != before {
			t.Errorf("%s: a message moves what stood at %s to %s", name, before, now)
		}
		b.do(chromedp.Click("#newer"))
		b.awaits("the new message in sight", func() bool {
			return b.is(`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector(".message:last-child").getBoundingClientRect())`)
		})
	}
	b := open(t, s, "/jobs/"+id)
	b.sees("message 11")
	before := b.at(".message:nth-child(3)")
	callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "information_request", "message": "Which lake?"})
	b.sees("Which lake?", "New above")
	if now := b.at(".message:nth-child(3)"); now != before {
		t.Errorf("a question moves what stood at %s to %s", before, now)
	}
	b.do(chromedp.Click("#newer"))
	b.awaits("the question in sight", func() bool {
		return b.is(`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector("[data-question]").getBoundingClientRect())`)
	})
}

// A question that comes, and one that somebody else answers, move no button under the
// pointer of whoever is about to press it.
func TestTheInboxStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	first := create(t, s, ship)
	harness.Eventually(t, "the first question", func() bool { return questionOf(t, s, first) != "" })
	other := create(t, s, harness.Object{"kind": "ship", "userId": "u2", "input": harness.Object{"prompt": "Ship it as shop"}})
	harness.Eventually(t, "the second question", func() bool { return questionOf(t, s, other) != "" })
	b := open(t, s, "/inbox")
	b.awaits("both", func() bool { return b.is(`document.querySelectorAll("[data-question]").length === 2`) })
	b.is(`(window.held = [...document.querySelectorAll("[data-yes]")].pop(), held.focus(), true)`)
	b.is(`(window.stood = held.getBoundingClientRect().top, true)`)
	const stands = `held.isConnected && Math.abs(held.getBoundingClientRect().top - stood) < 1 && document.activeElement === held`
	create(t, s, harness.Object{"kind": "ship", "userId": "u3", "input": harness.Object{"prompt": "Ship it as docs"}})
	b.awaits("the third", func() bool { return b.is(`document.querySelectorAll("[data-question]").length === 3`) })
	if !b.is(stands) {
		t.Error("a question that comes moves the button")
	}
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + other + "/approve"})
	b.sees("Answered by")
	if !b.is(stands) {
		t.Error("an answer elsewhere moves the button")
	}
}
