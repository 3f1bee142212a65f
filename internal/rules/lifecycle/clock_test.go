package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// clockPlay is a job whose callback clock is paused and continued by steps such as "ask", "answer", "start A",
// "end A" and "submit". The steps that are possible are those of possible.
type clockPlay struct {
	*State
	t    *testing.T
	runs map[RunID]*Run
}

// actionLimit is the time limit of the actions.
const actionLimit = 10 * time.Minute

func playClock(t *testing.T) *clockPlay {
	t.Helper()
	st := jobIn("running")
	st.Job.HasWorkspace, st.Job.CallbackTimeout = true, 5*time.Minute
	st.setCallbackClock(st.Job, st.Job.CallbackTimeout)
	return &clockPlay{st, t, map[RunID]*Run{}}
}

func (p *clockPlay) do(step string) {
	p.t.Helper()
	verb, what, _ := strings.Cut(step, " ")
	run := RunID(what)
	switch verb {
	case "after":
		p.Now = p.Now.Add(must.Get(time.ParseDuration(what))(p.t))
	case "ask":
		outcome, id, _, err := p.ask(Options{HumanTimeout: time.Hour}, NewCheckpoint{RequestID: p.Job.ID, Type: job.InformationRequest, Digest: fmt.Sprint(p.Now, len(p.Checkpoints)), Hold: time.Minute}, job.CheckpointID(fmt.Sprint("chk_", len(p.Checkpoints))))
		must.OK(p.t, err)
		must.Equal(p.t, Accepted, outcome.Kind, step, id)
	case "answer":
		p.Checkpoint.Set(p.Checkpoints[len(p.Checkpoints)-1])
		_, err := p.answer(p.Checkpoint.Get().View(), Resolution{To: job.Answered, Reply: job.Reply{Text: "x"}}, "")
		must.OK(p.t, err)
	case "start":
		outcome, _ := p.startAction(NewRun{Run: run, ApprovalKey: what, Timeout: actionLimit})
		must.Equal(p.t, Accepted, outcome.Kind, step)
		p.runs[run] = p.Run.Get()
		p.Job.KnownRuns = nil
	case "end":
		p.Run.Set(p.runs[run])
		p.finishAction(RunSucceeded, nil)
		delete(p.runs, run)
	case "submit":
		must.Equal(p.t, Outcome{Kind: Accepted}, submitted(p.t, p.State, "d"))
	}
}

func TestThePausesOfTheCallbackClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps string
		left  time.Duration // until Claude's deadline
	}{
		"nothing pauses it":                                  {"after 1m", 4 * time.Minute},
		"an action runs":                                     {"after 1m, start A, after 3m", 11 * time.Minute},
		"an action has ended":                                {"after 1m, start A, after 9m, end A", 4 * time.Minute},
		"an action has ended after its limit":                {"after 1m, start A, after 11m, end A", 3 * time.Minute},
		"one of two actions has ended":                       {"after 1m, start A, after 2m, start B, after 1m, end A", 13 * time.Minute},
		"two actions have ended, the second first":           {"after 1m, start A, start B, after 2m, end B, after 3m, end A", 4 * time.Minute},
		"two actions have ended, the first first":            {"after 1m, start A, start B, after 2m, end A, after 3m, end B", 4 * time.Minute},
		"an action and a question overlap":                   {"after 1m, start A, after 1m, ask, after 1m, end A, after 1m, answer", 4 * time.Minute},
		"a question is answered while an action runs":        {"after 1m, start A, after 1m, ask, after 1m, answer", 12 * time.Minute},
		"an action ends after an answer":                     {"after 1m, start A, ask, after 1m, answer, after 1m, end A, after 1m", 3 * time.Minute},
		"a question is asked with little left":               {"after 4m59.95s, ask, after 1m, answer", minCallbackLeft},
		"an action ends with little left":                    {"after 4m59.95s, start A, after 1m, end A", 50 * time.Millisecond},
		"an action that was allowed ends with little left":   {"after 4m59.95s, ask, answer, start A, after 1m, end A", minCallbackLeft},
		"actions with little left add up to nothing":         {"after 4m50s, start A, end A, after 9s, start B, end B", time.Second},
		"many pauses take nothing and give nothing":          {"after 1m, start A, end A, start B, end B, ask, answer, start C, ask, end C, answer", 4 * time.Minute},
		"a change is accepted":                               {"after 1m, submit", ServerTime},
		"a change is accepted while an action runs":          {"after 1m, start A, submit, after 1m, end A", ServerTime + actionLimit - time.Minute},
		"the action of an earlier turn ends in the next one": {"after 4m, start A, next turn, after 1m, end A, after 1m", 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := playClock(t)
			for step := range strings.SplitSeq(c.steps, ", ") {
				if step == "next turn" {
					p.setCallbackClock(p.Job, p.Job.CallbackTimeout)
					continue
				}
				p.do(step)
			}
			must.Equal(t, c.left, p.Job.Deadline.Sub(p.Now))
		})
	}
}

// Whatever overlaps, Claude gets exactly the time that passed without a pause, and after an answer what a request takes.
func TestNoOverlapOfPausesChangesWhatClaudeGets(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r, p := rand.New(rand.NewPCG(seed, 1)), playClock(t)
		left, running, waits := p.Job.CallbackTimeout, []string{}, false
		for n := range 40 {
			after := time.Duration(r.IntN(15)) * time.Second
			p.do("after " + after.String())
			if len(running) == 0 && !waits {
				if left -= after; left <= 0 {
					break
				}
			}
			switch action := r.IntN(4); {
			case action == 0 && !waits:
				p.do("ask")
				waits = true
			case action == 1 && waits:
				p.do("answer")
				waits, left = false, max(left, minCallbackLeft)
			case action == 2 && !waits:
				running = append(running, fmt.Sprint("run", n))
				p.do("start " + running[len(running)-1])
			case action == 3 && len(running) > 0:
				i := r.IntN(len(running))
				p.do("end " + running[i])
				running = append(running[:i], running[i+1:]...)
			default:
				continue
			}
			if !waits && len(running) == 0 {
				must.Equal(t, left, p.Job.Deadline.Sub(p.Now), "seed", seed, "step", n)
			}
		}
	}
}

// A turn whose change was accepted is over for Claude: nothing that it sends afterwards changes anything.
func TestWhatClaudeSendsAfterAnAcceptedChange(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*State) (Outcome, error){
		"a failure":           func(st *State) (Outcome, error) { return st.reportFailure("x", "cannot", false) },
		"a retryable failure": func(st *State) (Outcome, error) { return st.reportFailure("x", "cannot", true) },
		"an action":           func(st *State) (Outcome, error) { o, _ := st.startAction(NewRun{Run: "run_1"}); return o, nil },
		"a batch": func(st *State) (Outcome, error) {
			o, _, err := st.addBatch(NewBatch{Index: 1, Others: AnyOthers})
			return o, err
		},
		"a question": func(st *State) (Outcome, error) {
			o, _, _, err := st.ask(Options{HumanTimeout: time.Hour}, NewCheckpoint{Type: job.InformationRequest}, "chk_00_b")
			return o, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := changeAtWork()
			submitted(t, st, "d")
			st.Effects = nil
			before := st.Job.Record
			must.Equal(t, RefusedIn(job.Received), must.Get(send(st))(t))
			must.Equal(t, before, st.Job.Record)
			must.Equal(t, 0, len(st.Effects), "effects")
		})
	}
}
