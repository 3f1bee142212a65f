package lifecycle

import (
	"slices"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// changeAtWork returns a job with a change during its second turn, which the node n runs.
func changeAtWork() *State {
	st := jobIn("running")
	st.Job.HasWorkspace, st.Job.Turn, st.Job.ClaudeTurns, st.Job.Node, st.Job.PendingMessages = true, 2, 2, "n", []int64{1, 2, 3}
	return st
}

// endsUnfinished ends the running turn with a failure that leads to another attempt.
func endsUnfinished(t *testing.T, st *State, code job.Code) {
	t.Helper()
	if state, err := st.endTurn(TurnEnd{ID: st.Job.ID, Turn: 2, Node: "n", Begun: true, Again: true, Code: code}); err != nil || state != job.Pending {
		t.Fatalf("the turn has ended as %s, %v", state, err)
	}
}

// startsNextTurn starts the waiting turn on a node.
func startsNextTurn(t *testing.T, st *State, node string) *Job {
	t.Helper()
	st.EntryOwned.Set(true)
	st.Job.Phase, st.Job.PhaseUntil = job.Queued, time.Time{}
	j, err := st.startTurn(Options{UserLimit: 1}, Worker{Node: node}, QueueEntry{JobID: st.Job.ID, Priority: job.Interactive, Entry: "2-0"}, "secret")
	if err != nil || j == nil {
		t.Fatalf("no turn was started: %v", err)
	}
	return j
}

func submitted(t *testing.T, st *State, digest string) Outcome {
	t.Helper()
	return must.Get(st.accept(Submission{Digest: digest, Result: []byte(`{}`)}))(t)
}

// A submission that was accepted is used, whatever happens to the turn. Claude is asked again only
// if a person requests it, or if the files no longer exist.
func TestASubmittedChangeIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	decided := func(d job.Decision) func(*testing.T, *State) {
		return func(t *testing.T, st *State) {
			t.Helper()
			st.keepAnswer(st.Job, &Checkpoint{ID: "chk_00_a", Type: job.Review}, d)
			endsUnfinished(t, st, job.CodeCrashed)
		}
	}
	for name, c := range map[string]struct {
		then    func(*testing.T, *State)
		node    string
		kept    bool // the submission is kept
		claudes bool // Claude runs in the turn, and receives the user's messages
	}{
		"its process is lost":         {func(t *testing.T, st *State) { t.Helper(); endsUnfinished(t, st, job.CodeCrashed) }, "n", true, false},
		"its node is lost, and back":  {loses, "n", true, false},
		"its node is lost":            {loses, "another", false, true},
		"it cannot be read":           {func(t *testing.T, st *State) { t.Helper(); endsUnfinished(t, st, job.CodeWorkspace) }, "n", false, true},
		"it is steered":               {decided(job.Steer), "n", false, true},
		"it is approved":              {decided(job.Approve), "n", false, false},
		"it is approved, for another": {decided(job.Approve), "another", false, false},
		"it is cancelled and retried": {func(t *testing.T, st *State) {
			t.Helper()
			must.OK(t, st.end(st.Job.ID, job.Cancelled, job.CodeCancelled, "enough", Holder{}))
			must.OK(t, st.retry(st.Job.ID))
		}, "n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := changeAtWork()
			if outcome := submitted(t, st, "d"); outcome.Kind != Accepted {
				t.Fatalf("the first result is %s", outcome)
			}
			c.then(t, st)
			if st.Job.State == job.Pending && st.Job.Secret.Get() != "" {
				for digest, want := range map[string]OutcomeKind{"d": Repeated, "other": Conflict} {
					if outcome := submitted(t, st, digest); c.kept && outcome.Kind != want {
						t.Errorf("%s between the turns is %s, want %s", digest, outcome, want)
					}
				}
			}
			j := startsNextTurn(t, st, c.node)
			if j.Submitted != c.kept || (j.DeliveredMessages == 3) != c.claudes {
				t.Errorf("submitted is %t, want %t; %d messages are told, Claude's turn: %t", j.Submitted, c.kept, j.DeliveredMessages, c.claudes)
			}
			must.Equal(t, map[bool]time.Duration{true: j.CallbackTimeout, false: ServerTime}[c.claudes], j.Deadline.Sub(now), "the turn has")
		})
	}
}

func loses(t *testing.T, st *State) {
	t.Helper()
	if lost, err := st.loseNode(QueueEntry{JobID: st.Job.ID, Priority: job.Interactive, Entry: st.Job.Entry}); !lost || err != nil {
		t.Fatalf("the node was not lost: %v", err)
	}
}

// A turn's loss is judged by its phase: what was accepted from Claude and is stored is continued on any node,
// and costs Claude nothing.
func TestALostNodesPhaseDecidesWhoseTurnFollows(t *testing.T) {
	t.Parallel()
	submits := func(t *testing.T, st *State) {
		t.Helper()
		must.Equal(t, Outcome{Kind: Accepted}, submitted(t, st, "d"))
	}
	captures := func(phases ...job.Phase) func(*testing.T, *State) {
		return func(t *testing.T, st *State) {
			t.Helper()
			submits(t, st)
			st.Job.keepSubmission()
			for _, phase := range phases {
				must.OK(t, st.movePhase(st.Job, phase))
			}
		}
	}
	for name, c := range map[string]struct {
		before  func(*testing.T, *State)
		claudes bool // Claude works in the turn that follows
		attempt int  // after the loss
	}{
		"Claude is at work":                {func(*testing.T, *State) {}, true, 2},
		"Claude's change is captured":      {submits, true, 2},
		"the captured change is stored":    {captures(), false, 1},
		"the stored change is verified":    {captures(job.Verifying), false, 1},
		"the verified change is published": {captures(job.Verifying, job.Publishing), false, 1},
		"an earlier one was stored, and steered": {func(t *testing.T, st *State) {
			t.Helper()
			captures()(t, st)
			st.keepAnswer(st.Job, &Checkpoint{ID: "chk_00_a", Type: job.Review}, job.Steer)
			endsUnfinished(t, st, job.CodeCrashed)
			startsNextTurn(t, st, "n")
			submits(t, st)
		}, true, 2},
	} {
		for _, node := range []string{"n", "another"} {
			t.Run(name+", and goes on on "+node, func(t *testing.T) {
				t.Parallel()
				st := changeAtWork()
				st.Job.Attempt, st.Job.MaxAttempts = 1, 3
				c.before(t, st)
				reason := st.Job.ResumeReason
				loses(t, st)
				must.Equal(t, c.attempt, st.Job.Attempt, "attempts")
				hasFiles := node == "n" && st.Job.Submitted // they are on that node's machine
				j := startsNextTurn(t, st, node)
				must.Equal(t, c.claudes && !hasFiles, j.DeliveredMessages == 3, "Claude works")
				must.Equal(t, !c.claudes || hasFiles, j.Submitted, "the change is submitted")
				must.Equal(t, !c.claudes, j.isCaptured(), "it is captured")
				if !c.claudes {
					must.Equal(t, reason, j.ResumeReason, "the reason for Claude's next turn")
				}
			})
		}
	}
}

// The server's own work is tried some times even for a kind that pays for one attempt of Claude's, but a
// change that kills each server is not repeated for ever.
func TestTheServersOwnWorkIsRepeated(t *testing.T) {
	t.Parallel()
	for name, loss := range map[string]func(*testing.T, *State){
		"its node is lost": loses,
		"its work fails": func(t *testing.T, st *State) {
			t.Helper()
			must.Get(st.endTurn(TurnEnd{ID: st.Job.ID, Turn: st.Job.Turn, Node: "n", Begun: true, Again: true, Code: job.CodeWorkspace}))(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := changeAtWork()
			st.Job.MaxAttempts = 1
			submitted(t, st, "d")
			st.Job.keepSubmission()
			for range minServerAttempts - 1 {
				loss(t, st)
				must.Equal(t, true, startsNextTurn(t, st, "n").isCaptured(), "the change is captured")
			}
			loss(t, st)
			must.Equal(t, job.Failed, st.Job.State)
		})
	}
}

// Between two turns, no node has the files of a result, so it is not accepted.
func TestNoChangeIsSubmittedBetweenTurns(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*testing.T, *State){
		"its process is lost": func(t *testing.T, st *State) { t.Helper(); endsUnfinished(t, st, job.CodeCrashed) },
		"its node is lost":    loses,
		"its question was answered": func(t *testing.T, st *State) {
			t.Helper()
			must.OK(t, st.resume(st.Job, ResumeReason{Reason: Replied}))
		},
	} {
		st := changeAtWork()
		then(t, st)
		if outcome := submitted(t, st, "d"); outcome != RefusedIn(job.Pending) || st.Job.Submitted || st.Job.Result != nil {
			t.Errorf("%s: a result is %s; submitted: %t", name, outcome, st.Job.Submitted)
		}
	}
}

// Claude has not received a message that a user writes while a change is published: another job
// does.
func TestAMessageWrittenBeforeThePublicationIsAnswered(t *testing.T) {
	t.Parallel()
	st := changeAtWork()
	if outcome := submitted(t, st, "d"); outcome.Kind != Accepted {
		t.Fatalf("the result is %s", outcome)
	}
	st.keepAnswer(st.Job, &Checkpoint{ID: "chk_00_a", Type: job.Review}, job.Approve)
	endsUnfinished(t, st, job.CodeCrashed)
	startsNextTurn(t, st, "n")
	if outcome, err := st.accept(Submission{Digest: "published", Result: []byte(`{}`), Final: true}); err != nil || outcome.Kind != Accepted {
		t.Fatalf("what was published is %s, %v", outcome, err)
	}
	if !slices.ContainsFunc(st.Effects, func(e Effect) bool { task, ok := e.(AddTask); return ok && task.Kind == TaskContinue }) {
		t.Error("nothing goes on with what the user has written")
	}
}
