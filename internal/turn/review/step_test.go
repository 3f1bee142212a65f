package review_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/review"
	"ringback/test/must"
)

func TestTheNextStepIsReadFromTheRecord(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	id := job.ID("req_1")
	decided := func(decisions ...job.Decision) (answers []job.Checkpoint) {
		for _, d := range decisions {
			answers = append(answers, job.Checkpoint{RequestID: id, Type: job.Review, Reply: &job.Reply{Decision: d}})
		}
		return answers
	}
	ofAnother := decided(job.Approve)
	ofAnother[0].RequestID = "req_2"
	confirmed := decided(job.Approve)
	confirmed[0].Type = job.Confirmation
	unanswered := decided(job.Approve)
	unanswered[0].Reply = nil
	for name, c := range map[string]struct {
		state     job.State
		submitted bool
		captured  bool
		approved  bool
		gone      bool // the workspace
		answers   []job.Checkpoint
		want      string
	}{
		"Claude has not begun":                                    {job.Running, false, false, false, true, nil, "Claude"},
		"Claude is at work":                                       {job.Running, false, false, false, false, nil, "Claude"},
		"Claude has submitted":                                    {job.Running, true, false, false, false, nil, "submission"},
		"Claude has submitted, on another machine":                {job.Running, true, false, false, true, nil, "Claude"},
		"what Claude has submitted is stored, on another machine": {job.Running, true, true, false, true, nil, "submission"},
		"it was steered after it was stored, on another machine":  {job.Running, false, false, false, true, decided(job.Steer), "Claude"},
		"it was approved":                                         {job.Running, false, false, true, false, decided(job.Approve), "publication"},
		"it was approved on another machine":                      {job.Running, false, false, true, true, decided(job.Approve), "publication"},
		"it was steered, and Claude is at work":                   {job.Running, false, false, false, false, decided(job.Steer), "Claude"},
		"it was steered, and Claude has submitted":                {job.Running, true, false, false, false, decided(job.Steer), "submission"},
		"it was approved after it was steered":                    {job.Running, false, false, true, false, decided(job.Steer, job.Approve), "publication"},
		"it was steered after it was approved":                    {job.Running, true, false, false, false, decided(job.Approve, job.Steer), "submission"},
		"another job of the session was approved":                 {job.Running, false, false, false, false, ofAnother, "Claude"},
		"something else was approved":                             {job.Running, false, false, false, false, confirmed, "Claude"},
		"nobody has answered":                                     {job.Running, true, false, false, false, unanswered, "submission"},
		"it waits for its review":                                 {job.AwaitingApproval, true, false, false, false, nil, "Claude"},
		"it was approved, its next turn has not begun":            {job.Pending, true, false, true, false, decided(job.Approve), "Claude"},
		"it was received":                                         {job.Received, true, false, true, false, decided(job.Approve), "Claude"},
		"it was approved, cancelled and retried":                  {job.Running, false, false, false, false, decided(job.Approve), "Claude"},
		"as before, and Claude has submitted":                     {job.Running, true, false, false, false, decided(job.Approve), "submission"},
		"it was cancelled while it was published":                 {job.Cancelled, false, false, false, false, decided(job.Approve), "Claude"},
		"it was cancelled while it was captured":                  {job.Cancelled, true, false, false, false, nil, "Claude"},
		"it was rejected, which ends it whatever was before":      {job.Rejected, true, false, false, false, decided(job.Steer, job.Deny), "Claude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if !c.gone {
				must.OK(t, os.MkdirAll(filepath.Join(dir, "workspaces", string(id)), 0o700))
			}
			change := all.change(all.machine(dir), job.Job{
				ID: id, Kind: "reviewed", State: c.state, Submitted: c.submitted, Captured: c.captured, Approved: c.approved, Input: []byte(`{"repos": [{"url": "/service.git"}]}`),
			})
			got := "Claude"
			switch change.Next(c.answers).(type) {
			case review.Submission:
				got = "submission"
			case review.Publication:
				got = "publication"
			}
			must.Equal(t, c.want, got, "next is")
		})
	}
}

func TestOnlyKindsWithAWorkspaceMakeChanges(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	must.Equal(t, nil, all.change(all.flow, job.Job{ID: "req_1", Kind: "poem", Input: []byte(`{}`)}), "a poem makes a change")
	k, _ := all.kinds.Get("reviewed")
	for input, says := range map[string]string{
		`{"repos":[{"url":"ext::sh -c id"}]}`: "this kind of address is not allowed",
		`{"repos":[{"url":"a/path"}]}`:        "a relative path",
		`not JSON`:                            "reading the input",
	} {
		_, err := all.flow.Change(k, job.Job{ID: "req_1", Kind: "reviewed", Input: []byte(input)})
		if failed, ok := errors.AsType[*review.Error](err); !ok || failed.Code != job.CodeWorkspace || !strings.Contains(failed.Message, says) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestASubmittedChangeIsReviewed(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	turn := all.begin("reviewed")
	id := turn.Job.ID
	step := all.work(turn, "new.txt", "new\n").Submission()
	all.run(step)
	all.run(step) // as a restarting server does
	j := all.get(id)
	if j.State != job.AwaitingApproval || j.Checkpoint == nil || j.Checkpoint.Type != job.Review || all.asked(id) != 1 {
		t.Fatalf("the job is %s at %+v, %d were asked", j.State, j.Checkpoint, all.asked(id))
	}
	for _, want := range []string{"Claude completed " + string(id), "Wrote it.", "new.txt (added, +1/-0)", "Reply: `approve`"} {
		must.Contain(t, j.Checkpoint.Message, want, "the question")
	}
	if logs, err := all.store.Changes.Logs(t.Context(), id); err != nil || !strings.Contains(string(logs), `"verifier":"service:has","exit_code":0`) {
		t.Errorf("the verifiers' logs are %s, %v", logs, err)
	}
	all.endTurn(id)
	must.Equal(t, "", all.pushed(id, "new.txt"), "without a review it was pushed")
}

func TestNothingSubmittedIsNothingToDo(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	turn := all.begin("reviewed")
	c := all.change(all.flow, turn.Job)
	must.OK(t, c.Prepare(t.Context()))
	all.run(c.Submission())
	if j := all.get(turn.Job.ID); j.State != job.Running || all.asked(j.ID) != 0 {
		t.Errorf("the job is %s, %d were asked", j.State, all.asked(j.ID))
	}
}

func TestWhatWasApprovedIsPublished(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	id := all.reviewed()
	// Changes made after the review were not approved.
	late := filepath.Join(all.change(all.flow, all.get(id)).Dir(), "service", "new.txt")
	must.OK(t, os.WriteFile(late, []byte("late\n"), 0o600))
	turn := all.decide(id, job.Approve, "")
	step := all.change(all.flow, turn.Job).Next(turn.Answers)
	if _, ok := step.(review.Publication); !ok {
		t.Fatalf("next is %T", step)
	}
	all.run(step)
	j := all.get(id)
	if j.State != job.Received || !strings.Contains(string(j.Result), `"branch":"ringback/`+string(id)) {
		t.Errorf("the job is %s with %s", j.State, j.Result)
	}
	must.Equal(t, "new", all.pushed(id, "new.txt"), "pushed was")
	all.run(step) // again: it has ended
	must.Equal(t, "1", all.git(all.remote, "rev-list", "--count", "main..ringback/"+string(id)), "commits")
}

func TestAChangeThatNobodyReviewsIsPublishedAtOnce(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	turn := all.begin("unreviewed")
	all.run(all.work(turn, "new.txt", "new\n").Next(nil))
	j := all.get(turn.Job.ID)
	if j.State != job.Received || all.asked(j.ID) != 0 || !strings.Contains(string(j.Result), `"url":"https://example.com/pull/7"`) {
		t.Errorf("the job is %s with %s, %d were asked", j.State, j.Result, all.asked(j.ID))
	}
	must.Equal(t, "new", all.pushed(j.ID, "new.txt"), "pushed was")
}

func TestASteeredChangeIsReviewedAnew(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	id := all.reviewed()
	turn := all.decide(id, job.Steer, "and another")
	if d, prompt := review.Decision(turn.Answers, id); d != job.Steer || prompt != "and another" {
		t.Errorf("the decision is %s %q", d, prompt)
	}
	c := all.change(all.flow, turn.Job)
	if step := c.Next(turn.Answers); step != nil {
		t.Fatalf("next is %T", step)
	}
	all.run(all.work(turn, "another.txt", "x\n").Next(turn.Answers))
	j := all.get(id)
	if j.Checkpoint == nil || !strings.HasPrefix(j.Checkpoint.Message, "Steering iteration 1 complete") || !strings.Contains(j.Checkpoint.Message, "another.txt") {
		t.Errorf("the question is %+v", j.Checkpoint)
	}
}

func TestAnotherMachinePublishesWhatWasApproved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // the content that is pushed
		says string
	}{
		"the change was kept for it":            {text: "new\n", want: "new"},
		"the change was too large to be kept":   {text: noise(6 << 20), says: "what was approved is on another machine, and no copy of it could be stored"},
		"the change holds what is not a letter": {text: "\x00\xff\n", want: "\x00\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			turn := all.begin("reviewed")
			id := turn.Job.ID
			all.run(all.work(turn, "new.txt", c.text).Next(nil))
			all.endTurn(id)
			question := all.get(id).Checkpoint.Message
			turn = all.decide(id, job.Approve, "")
			must.Equal(t, c.says != "", strings.Contains(question, "Only the server on"), "the question for its review is", question)
			other := all.machine(t.TempDir())
			for attempt := range 2 { // the second one of a change that was published does nothing
				err := all.change(other, turn.Job).Next(turn.Answers).Run(t.Context())
				failed, isFailed := errors.AsType[*review.Error](err)
				if isFailed != (c.says != "") || isFailed && (failed.Code != job.CodeFinalize || !strings.Contains(failed.Message, c.says)) {
					t.Errorf("attempt %d ended with %v", attempt, err)
				}
			}
			must.Equal(t, c.want, all.pushed(id, "new.txt"), "pushed was")
		})
	}
}

// onRecord is a log that calls a function for each record.
type onRecord struct {
	slog.Handler
	call func(message string)
}

func (h onRecord) Enabled(context.Context, slog.Level) bool { return true }

func (h onRecord) Handle(_ context.Context, r slog.Record) error {
	h.call(r.Message)
	return nil
}

func (h onRecord) WithAttrs([]slog.Attr) slog.Handler { return h }

// A copy of a change that cannot be made is tried again: what prevents it may pass.
func TestACopyIsTriedAgain(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	var base string
	tried := 0
	all.flow = all.machineWith(t.TempDir(), onRecord{slog.DiscardHandler, func(message string) {
		if strings.Contains(message, "trying again") {
			tried++
			must.OK(t, os.Rename(base+".moved", base))
		}
	}})
	turn := all.begin("reviewed")
	c := all.work(turn, "new.txt", "new\n")
	all.run(c.Next(nil))
	base = filepath.Join(c.Dir(), "..", "git", "service", "refs", "ringback", "base")
	must.OK(t, os.Rename(base, base+".moved"))
	kept, err := c.Snapshot(t.Context(), must.Get(all.store.Changes.Trees(t.Context(), turn.Job.ID))(t))
	must.Equal(t, 1, tried, "attempts that failed")
	if err != nil || len(kept) == 0 {
		t.Errorf("the copy is %q, %v", kept, err)
	}
}

// reviewedElsewhere creates a change that waits for review. It was begun on a machine, which has kept
// half of it, and made on another.
func (a *team) reviewedElsewhere(text string) (earlier *review.Workflow, id job.ID) {
	a.t.Helper()
	turn := a.begin("reviewed")
	earlier = a.machine(a.t.TempDir())
	stale := a.change(earlier, turn.Job)
	must.OK(a.t, stale.Prepare(a.t.Context()))
	must.OK(a.t, os.WriteFile(filepath.Join(stale.Dir(), "service", "half.txt"), []byte("half\n"), 0o600))
	a.run(a.work(turn, "new.txt", text).Next(nil))
	a.endTurn(turn.Job.ID)
	return earlier, turn.Job.ID
}

// A machine that ran an earlier turn of a job has files that are older than the latest
// capture from another machine.
func TestAMachineGoesOnFromTheLatestCapture(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		says string
	}{
		"which was kept":         {text: "new\n"},
		"which was not, too big": {text: noise(6 << 20), says: "what was approved is on another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			earlier, id := all.reviewedElsewhere(c.text)
			turn := all.decide(id, job.Approve, "")
			err := all.change(earlier, turn.Job).Next(turn.Answers).Run(t.Context())
			if c.says != "" {
				must.Fail(t, err, c.says)
				return
			}
			if err != nil || all.asked(id) != 1 {
				t.Errorf("it ended with %v, and %d were asked", err, all.asked(id))
			}
			must.Equal(t, "new.txt", all.git(all.remote, "diff", "--name-only", "main", "ringback/"+string(id)), "pushed was")
		})
	}
}

// If the latest capture is not available, Claude starts over and is told so. It never
// continues from what an earlier turn has left here.
func TestClaudeNeverGoesOnFromAnOlderStateUnawares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		lost bool
		want []string
	}{
		"the latest capture was kept":          {text: "new\n", want: []string{"new.txt"}},
		"the latest capture is somewhere else": {text: noise(6 << 20), lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			earlier, id := all.reviewedElsewhere(c.text)
			turn := all.decide(id, job.Steer, "and another")
			// The first attempt ends before Claude is told.
			must.OK(t, all.change(earlier, turn.Job).Prepare(t.Context()))
			next := all.change(earlier, turn.Job)
			must.OK(t, next.Prepare(t.Context()))
			var files []string
			entries, _ := os.ReadDir(filepath.Join(next.Dir(), "service"))
			for _, e := range entries {
				if e.Name() != ".git" {
					files = append(files, e.Name())
				}
			}
			if next.Lost != c.lost || !slices.Equal(files, c.want) {
				t.Errorf("lost: %t, the files are %v; want %t, %v", next.Lost, files, c.lost, c.want)
			}
		})
	}
}

// The commit has the time of the first approval: if a push could not be recorded, approving again
// pushes the same commit, even from another machine.
func TestWhatIsApprovedAgainIsTheSameCommit(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	id := all.reviewed()
	takePushes := all.refusePushes("not now")
	turn := all.decide(id, job.Approve, "")
	first := turn.Answers[len(turn.Answers)-1].AnsweredAt
	all.run(all.change(all.flow, turn.Job).Next(turn.Answers))
	all.endTurn(id)
	takePushes()
	for time.Now().Unix() == first.Unix() { // commit times have a resolution of a second
		time.Sleep(10 * time.Millisecond)
	}
	turn = all.decide(id, job.Approve, "")
	all.run(all.change(all.machine(t.TempDir()), turn.Job).Next(turn.Answers))
	want := strconv.FormatInt(first.Unix(), 10)
	must.Equal(t, want+" "+want, all.git(all.remote, "log", "-1", "--format=%at %ct", "ringback/"+string(id)), "its time is not when it was approved")
}

// noise returns an incompressible text.
func noise(size int) string {
	var out strings.Builder
	for n, x := 0, uint32(1); n < size; n++ {
		x = x*1664525 + 1013904223
		out.WriteByte(byte(x >> 24))
	}
	return out.String()
}

func TestWhatTheRemoteRefusesIsAskedAgain(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	id := all.reviewed()
	takePushes := all.refusePushes("no pushing on Fridays")
	turn := all.decide(id, job.Approve, "")
	all.run(all.change(all.flow, turn.Job).Next(turn.Answers))
	j := all.get(id)
	if j.Checkpoint == nil || !strings.Contains(j.Checkpoint.Message, "no pushing on Fridays") || all.asked(id) != 2 {
		t.Fatalf("the job is %s at %+v", j.State, j.Checkpoint)
	}
	all.endTurn(id)
	takePushes()
	turn = all.decide(id, job.Approve, "")
	all.run(all.change(all.flow, turn.Job).Next(turn.Answers))
	if j := all.get(id); j.State != job.Received || all.pushed(id, "new.txt") != "new" {
		t.Errorf("the job is %s", j.State)
	}
	ends := all.finished(id)
	if len(ends) != 2 || !strings.HasPrefix(ends[0], "finalize error service: ") || !strings.Contains(ends[0], "no pushing on Fridays") ||
		!strings.HasPrefix(ends[1], "finalize success service: ringback/"+string(id)+" ") {
		t.Errorf("the audit log says %q", ends)
	}
}

// If the server stops or the job ends, the step is interrupted, and no person is asked.
func TestAStepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	turn := all.begin("slow")
	c := all.work(turn, "new.txt", "new\n")
	cause := errors.New("the server stops")
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Submission().Run(ctx) }()
	must.Eventually(t, "the verifier to run", func() bool {
		_, err := os.Stat(filepath.Join(c.Dir(), "..", "verify", "service", "reached"))
		return err == nil
	})
	must.Equal(t, job.Verifying, all.get(turn.Job.ID).Phase, "the phase is")
	stop(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("it ended with %v", err)
	}
	if logs, err := all.store.Changes.Logs(t.Context(), turn.Job.ID); string(logs) != "[]" || err != nil || all.asked(turn.Job.ID) != 0 {
		t.Errorf("verified is %s, %v", logs, err)
	}
	if outcome, err := all.jobs.EndTurn(t.Context(), lifecycle.TurnEnd{ID: turn.Job.ID, Turn: 1, Node: "n"}); err != nil || outcome == job.Received {
		t.Errorf("the job is %s, %v", outcome, err)
	}
}
