package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Lists can be filtered, and all matches cancelled, without JavaScript: their number is
// shown first, and exactly the shown ones are cancelled.
func TestAListIsFilteredAndAllOfItCancelled(t *testing.T) {
	t.Parallel()
	dir := kinds(t, map[string]string{"trip.md": "Plan."})
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": dir})
	plan := func(end string, tags ...string) string {
		return create(t, s, harness.Object{
			"kind": "meal-suggestions", "userId": "u1", "tags": tags, "options": harness.Object{"simulate": "manual"},
			"input": harness.Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": end},
		})
	}
	first, second, other := plan("2026-03-03", "nightly"), plan("2026-03-05", "nightly", "team:food"), plan("2026-03-07")
	b := open(t, s, "/jobs", phone(), noScript())
	b.sees("Meals from 2026-03-02 to 2026-03-03", "Meals from 2026-03-02 to 2026-03-07", "team:food")
	b.fill("[name=tag]", "nightly")
	b.fill("[name=q]", "03-05 MEALS")
	b.press("Filter")
	b.awaits("the filtered list", func() bool { return strings.Contains(b.address(), "q=") })
	b.sees("to 2026-03-05")
	if text := b.text(); strings.Contains(text, "to 2026-03-03") || strings.Contains(text, "to 2026-03-07") || !strings.Contains(b.address(), "tag=nightly&q=03-05+MEALS") {
		t.Errorf("%s shows %s", b.address(), text)
	}
	b.visit("/jobs?until=2026-01-01")
	b.sees("No job is like that")
	b.visit("/jobs?since=yesterday")
	b.sees("expected a date such as 2026-03-02")
	b.visit("/jobs?tag=nightly")
	b.press("Cancel …")
	b.sees("Cancel 2 jobs?", "to 2026-03-03", "to 2026-03-05")
	late := plan("2026-03-09", "nightly")
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + first + "/cancel", Body: harness.Object{}})
	b.press("Cancel these 2 jobs")
	b.sees("1 job cancelled", "Not cancelled: 1 job", "to 2026-03-03")
	for id, want := range map[string]bool{first: true, second: true, other: false, late: false} {
		must.Equal(t, want, record(t, s, id)["status"] == "cancelled", id, "is cancelled")
	}
	b.press("Back to the list")
	b.sees("to 2026-03-09")
	b.visit("/jobs?tag=nightly&status=cancelled")
	b.press("Try again …")
	b.press("Try these 2 jobs again")
	b.sees("2 jobs started again")

	// One answer for all that ask: the questions are shown first.
	for range 2 {
		_, envelope := s.Manual(t, nil, harness.Object{"userId": "u1", "tags": []string{"zone"}})
		callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "information_request", "message": "Which time zone?\n**None**"})
	}
	b.visit("/jobs?tag=zone")
	b.press("Answer …")
	b.sees("Answer 2 jobs?", "Claude asks:", "Which time zone?\nNone")
	b.fill("[name=text]", "UTC")
	b.press("Answer these 2 jobs")
	b.sees("2 jobs answered")

	// A job keeps the version of its kind until a person moves it.
	trips := make([]string, 2)
	for i := range trips {
		trips[i] = create(t, s, harness.Object{"kind": "trip", "userId": "u1", "input": harness.Object{}, "options": harness.Object{"simulate": "manual"}})
	}
	b.visit("/jobs/" + trips[0])
	must.NotContain(t, b.text(), "current version", "a job of the current version can be moved to it")
	must.OK(t, os.WriteFile(filepath.Join(dir, "trip.md"), []byte("Plan otherwise."), 0o600))
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/kinds/reload"})
	b.visit("/jobs/" + trips[0])
	b.press("Move to the kind's current version")
	b.sees("moves to the kind's current version with its next turn")
	b.visit("/jobs?kind=trip")
	b.press("Move to the kind's current version …")
	b.sees("Move 2 jobs to the current version of their kind?")
	b.press("Move these 2 jobs to the current version of their kind")
	b.sees("2 jobs moved")
	if s := record(t, s, trips[1]); s["nextKindVersion"] == nil {
		t.Errorf("the job was not moved: %v", s)
	}
}
