package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// modes are the ways in which a browser shows the pages.
var modes = map[string][]action{"with scripts": nil, "without scripts": {noScript()}}

// enter presses Enter in a control.
func (b *tab) enter(selector string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter))
}

// Enter in a field of a question that asks for values sends what was filled in.
func TestEnterSendsAForm(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms"})
	for mode, options := range sample.Cases(t, 1, modes) {
		for _, place := range []string{"/inbox/", "/jobs/"} {
			t.Run(place+" "+mode, func(t *testing.T) {
				t.Parallel()
				question := askForm(t, s)
				page := place + question
				if place == "/jobs/" {
					page = place + jobOf(t, s, question)
				}
				b := open(t, s, page, options...)
				b.do(chromedp.SendKeys(`[name="v/title"]`, "The sea"), chromedp.SendKeys(`[name="v/length"]`, "30"))
				b.enter(`[name="v/title"]`)
				harness.Eventually(t, "the answer", func() bool {
					asked := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + question})
					reply, _ := asked["reply"].(harness.Object)
					return fmt.Sprint(reply["values"]) == "map[length:30 title:The sea]"
				})
			})
		}
	}
}

// Enter in a field next to a decision decides nothing, and the page says so.
func TestEnterDecidesNothing(t *testing.T) {
	t.Parallel()
	s := carefulServer(t)
	change := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	e := newExchange(t, s)
	for mode, options := range sample.Cases(t, 1, modes) {
		for page, choice := range map[string]string{
			"/inbox": `input[name=scope][value=always]`, "/inbox/" + e.asked: `input[name=scope][value=job]`,
			"/jobs/" + e.id: `input[name=scope][value=always]`, "/jobs/" + change + "/review": `input[name=unviewed-too]`,
		} {
			t.Log(mode, page)
			b := open(t, s, page, options...)
			b.do(chromedp.Click(choice))
			b.enter(choice)
			b.sees("Nothing was decided: press one of the buttons")
		}
	}
	must.Equal(t, "awaiting_approval", record(t, s, change)["status"], "the change is")
	approvals, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/approvals?userId=u1"})["approvals"].([]any)
	must.Equal(t, 0, len(approvals), "standing approvals")
	e.isOpen()
}

// fields finds the controls of the forms of a page in which Enter may send the form.
const fields = `[...document.querySelectorAll('main form[method="post"]')].flatMap((form) => [...form.elements]).filter((one) => one.matches('input:not([type="hidden"], [type="submit"]), select'))`

// Enter in any field of any page cancels, approves, adds and removes nothing.
func TestEnterInEachField(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{"careful.md": carefulKind})})
	form := askForm(t, s)
	change := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	e := newExchange(t, s)
	jobs := func() string {
		list, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs"})["jobs"].([]any)
		var all []string
		for _, one := range list {
			j, _ := one.(harness.Object)
			all = append(all, fmt.Sprintln(j["requestId"], j["status"]))
		}
		return strings.Join(all, "")
	}
	before := jobs()
	for mode, options := range sample.Cases(t, 1, modes) {
		b := open(t, s, "/", options...)
		walked := 0
		for _, page := range []string{"/inbox", "/inbox/" + form, "/jobs/" + e.id, "/jobs/" + change + "/review", "/jobs/new/meal-suggestions", "/jobs/new/meal-suggestions?from=" + jobOf(t, s, form)} {
			for i := 0; ; i++ {
				b.visit(page)
				if !b.is(fmt.Sprintf(`((all) => { for (const one of document.querySelectorAll("details")) one.open = true; all[%d]?.focus(); return all.length > %d })(%s)`, i, i, fields)) {
					break
				}
				walked++
				b.do(chromedp.KeyEvent(kb.Enter))
				b.awaits("the page to be there", func() bool {
					there, err := within(b, chromedp.Evaluate[bool](`document.readyState === "complete" && !document.querySelector("[data-sending]")`))
					return err == nil && there
				})
				b.mustNot(`document.querySelectorAll(".item").length > 0`, "%s, %s: Enter in field %d has added a row", page, mode, i)
			}
		}
		if walked < 20 {
			t.Errorf("%s, there are %d fields", mode, walked)
		}
	}
	must.Equal(t, before, jobs(), "after Enter in each field, the jobs are")
	e.isOpen()
}

// Enter in a row of a new job starts the job with that row.
func TestEnterInARowStartsTheJob(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for mode, options := range sample.Cases(t, 1, modes) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := open(t, s, "/jobs/new/meal-suggestions", options...)
			b.fill(`[name="v/dateRangeStart"]`, "2026-03-02")
			b.fill(`[name="v/dateRangeEnd"]`, "2026-03-03")
			b.press("Add to Recipe history")
			b.sees("Last cooked")
			b.do(chromedp.SendKeys(`[name="v/recipeHistory/0/name"]`, "Soup"))
			b.enter(`[name="v/recipeHistory/0/name"]`)
			b.sees("What was asked for", "Soup")
		})
	}
}
