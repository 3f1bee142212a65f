package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// permitted is a job whose person decides about its calls.
type permitted struct {
	t  *testing.T
	s  *storetest.Service
	id job.ID
	// yes are the questions that were answered with a yes. calls counts the calls, and runs the runs of
	// actions.
	yes         []job.CheckpointID
	calls, runs int
	running     []lifecycle.RunID
}

func startPermitted(t *testing.T, s *storetest.Service, user string) *permitted {
	t.Helper()
	must.Get(s.Start(t.Context(), newJob(user)))(t)
	return &permitted{t: t, s: s, id: s.Next(t, "n").Job.ID}
}

func (p *permitted) job() job.Job { return must.Get(p.s.Get(p.t.Context(), p.id))(p.t) }

// call returns the id of a call and the key of its approval.
func call(n int) (id, key string) { return fmt.Sprint("toolu_", n), fmt.Sprint("tool:Bash:", n) }

// ask asks about a call, and decides on it. An action has a preview.
func (p *permitted) ask(n int, about job.Operation, decision job.Decision, life time.Duration) {
	p.t.Helper()
	j := p.job()
	id, key := call(n)
	chat := job.Text(job.FromAssistant, "Allow it?")
	chat.Parts = append(chat.Parts, job.Part{Type: job.ToolCallPart, ToolCallID: id, ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{}`)})
	p.calls++
	outcome, c, _, err := p.s.Ask(p.t.Context(), lifecycle.NewCheckpoint{
		RequestID: p.id, UserID: j.UserID, SessionID: j.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: fmt.Sprint(n, p.calls),
		ApprovalKey: key, ToolCallID: id, AuditFields: about, Hold: time.Minute,
	})
	must.OK(p.t, err)
	if outcome.Kind != lifecycle.Accepted {
		return
	}
	_, err = p.s.Answer(p.t.Context(), must.Get(p.s.Checkpoints.Get(p.t.Context(), c))(p.t), lifecycle.Resolution{
		To: job.Answered, Reply: job.Reply{Decision: decision}, Approval: approval.Permission{Life: life},
	})
	must.OK(p.t, err)
	if decision == job.Approve {
		p.yes = append(p.yes, c)
	}
}

var bash = job.Operation{Tool: "Bash"}

// use lets a call run.
func (p *permitted) use(n int) {
	p.t.Helper()
	id, key := call(n)
	use := lifecycle.ToolUse{RequestID: p.id, ToolCallID: id, ApprovalKey: key, AuditFields: bash}
	if c := must.Get(p.s.Decided(p.t.Context(), p.id, key))(p.t); c != nil {
		use.Decided = c.ID
	}
	_, _, err := p.s.UseApproval(p.t.Context(), use)
	must.OK(p.t, err)
}

// prints adds the end of a call to the turn's output.
func (p *permitted) prints(n int, state job.PartState, output string) {
	p.t.Helper()
	id, _ := call(n)
	p.calls++
	must.OK(p.t, p.s.AppendAssistantMessages(p.t.Context(), p.id, p.job().Turn, []lifecycle.AssistantMessage{{End: int64(p.calls), Body: job.MessageBody{
		Sender: job.FromAssistant, Role: job.FromTool, MessageType: job.ToolMessage,
		Parts: []job.Part{{Type: job.ToolResultPart, ToolCallID: id, ToolName: "Bash", State: state, Output: job.MustJSON(output)}},
	}}}))
}

// start starts a run of an action.
func (p *permitted) start(n int, about job.Operation) {
	p.t.Helper()
	_, key := call(n)
	p.runs++
	outcome, run, _, err := p.s.StartAction(p.t.Context(), lifecycle.NewRun{
		RequestID: p.id, Run: lifecycle.RunID(fmt.Sprint("run_", p.runs)), ApprovalKey: key, AuditFields: about, Gated: true,
	})
	must.OK(p.t, err)
	if outcome.Kind == lifecycle.Accepted {
		p.running = append(p.running, run)
	}
}

// finish ends the oldest run.
func (p *permitted) finish(state lifecycle.RunState, result string) {
	p.t.Helper()
	if len(p.running) > 0 {
		must.OK(p.t, p.s.FinishAction(p.t.Context(), p.id, p.running[0], state, json.RawMessage(result)))
		p.running = p.running[1:]
	}
}

func (p *permitted) exit() {
	p.t.Helper()
	must.Get(p.s.EndTurn(p.t.Context(), lifecycle.TurnEnd{
		ID: p.id, Turn: p.job().Turn, Node: "n", Code: job.CodeNoCallback, Message: "no", Again: true, Begun: true,
	}))(p.t)
}

func (p *permitted) cancel() {
	_ = p.s.Cancel(p.t.Context(), p.id, job.Actor{}) // it may have ended
}

func (p *permitted) submit() {
	p.t.Helper()
	must.Get(p.s.Accept(p.t.Context(), p.id, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{}`)}))(p.t)
}

func (p *permitted) fire() {
	p.t.Helper()
	must.OK(p.t, p.s.FireDue(p.t.Context(), store.PartitionOf(p.id)))
}

// outcome returns the outcome of a question.
func (p *permitted) outcome(c job.CheckpointID) *job.Outcome {
	p.t.Helper()
	return must.Get(p.s.Checkpoints.Get(p.t.Context(), c))(p.t).Outcome
}

// told returns how often events report the outcome of a question.
func (p *permitted) told(c job.CheckpointID) (times int) {
	p.t.Helper()
	all, _, err := p.s.Events.OfJob(p.t.Context(), p.job(), 0, 10000)
	must.OK(p.t, err)
	for _, e := range all {
		if e.Type == job.EventAction && strings.Contains(e.Frame(), string(c)) {
			times++
		}
	}
	return times
}

var deploy = job.Operation{Action: "deploy", PreviewDigest: "a"}

func TestEveryYesHasAnOutcome(t *testing.T) {
	t.Parallel()
	yes := func(p *permitted) { p.ask(1, bash, job.Approve, time.Minute) }
	for name, row := range map[string]struct {
		happens []func(*permitted)
		want    string
	}{
		"a call that prints an error":   {[]func(*permitted){yes, func(p *permitted) { p.use(1); p.prints(1, job.OutputError, "Exit code 1") }}, "As the Claude CLI reports, it failed: Exit code 1"},
		"a call that has an output":     {[]func(*permitted){yes, func(p *permitted) { p.use(1); p.prints(1, job.OutputAvailable, "x") }}, "As the Claude CLI reports, it ran."},
		"a call whose process has died": {[]func(*permitted){yes, func(p *permitted) { p.use(1) }, (*permitted).exit}, "Whether it took effect is not known: its process was interrupted while it was running"},
		"a call whose job is cancelled": {[]func(*permitted){yes, func(p *permitted) { p.use(1) }, (*permitted).cancel}, "Whether it took effect is not known: its process was interrupted while it was running"},
		"a call that is never made":     {[]func(*permitted){yes, (*permitted).submit}, "It was not run: Claude has submitted its result without it"},
		"a call that comes too late": {
			[]func(*permitted){func(p *permitted) { p.ask(1, bash, job.Approve, -time.Minute) }, func(p *permitted) { p.use(1) }},
			"It was not run: the approval has expired",
		},
		"a run that was interrupted": {
			[]func(*permitted){func(p *permitted) { p.ask(1, deploy, job.Approve, time.Minute); p.start(1, deploy) }, func(p *permitted) {
				p.finish(lifecycle.RunUnknown, `{"message":"its job has ended`+lifecycle.NotKnown+`"}`)
			}},
			"Whether it took effect is not known: its job has ended",
		},
		"a yes whose time has passed": {[]func(*permitted){func(p *permitted) { p.ask(1, bash, job.Approve, -time.Minute) }, (*permitted).fire}, "It was not run: the approval has expired"},
		"a yes that is taken back":    {[]func(*permitted){yes, func(p *permitted) { p.ask(1, bash, job.Deny, 0) }}, "It was not run: a later decision has replaced the approval"},
		"an action that fails": {
			[]func(*permitted){func(p *permitted) { p.ask(1, deploy, job.Approve, time.Minute); p.start(1, deploy) }, func(p *permitted) { p.finish(lifecycle.RunFailed, `{"message":"disk\u202e full"}`) }},
			"It failed: disk� full",
		},
		"an action that ends after its job": {
			[]func(*permitted){func(p *permitted) { p.ask(1, deploy, job.Approve, time.Minute); p.start(1, deploy) }, (*permitted).cancel, func(p *permitted) { p.finish(lifecycle.RunSucceeded, `{"message":"Done"}`) }},
			"It ran: Done",
		},
		"an action that would do something else by now": {
			[]func(*permitted){func(p *permitted) { p.ask(1, deploy, job.Approve, time.Minute) }, func(p *permitted) {
				changed := job.Operation{Action: "deploy", PreviewDigest: "b"}
				p.start(1, changed)
				p.ask(1, changed, job.Deny, 0)
			}},
			"It was not run: the action's preview has changed since it was approved",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := storetest.InProcess(t, store.Options{})
			p := startPermitted(t, &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}, "u")
			for _, step := range row.happens {
				step(p)
			}
			got := p.outcome(p.yes[0])
			if got == nil {
				t.Fatal("it has none")
			}
			must.Equal(t, row.want, got.Words())
			failed := p.job().FailedActions
			if (got.Status == job.OutcomeSucceeded) != (len(failed) == 0) || len(failed) > 0 && cmp.Diff(*got, failed[0].Outcome) != "" {
				t.Errorf("the record has the failed actions %v", failed)
			}
			must.Equal(t, 1, p.told(p.yes[0]), "events")
			must.Equal(t, false, p.job().Published, "a job without a change has published one")
		})
	}
}

// However decisions, calls, ends of turns and of the job follow one another: once the job and its processes
// have ended, every yes has an outcome, told once.
func TestNoYesIsLeftWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := startPermitted(t, s, fmt.Sprint("user", seed))
			about := func(n int) job.Operation {
				if n > 2 {
					return job.Operation{Action: "deploy", PreviewDigest: strconv.Itoa(r.IntN(2))}
				}
				return bash
			}
			operations := []func(n int){
				func(n int) { p.ask(n, about(n), job.Approve, time.Minute) },
				func(n int) { p.ask(n, about(n), job.Approve, time.Minute) },
				func(n int) { p.ask(n, about(n), job.Approve, -time.Minute) },
				func(n int) { p.ask(n, about(n), job.Deny, 0) },
				func(n int) { p.use(min(n, 2)) },
				func(n int) { p.prints(n, []job.PartState{job.OutputError, job.OutputAvailable}[r.IntN(2)], "x") },
				func(n int) { p.start(max(n, 3), about(max(n, 3))) },
				func(int) {
					p.finish([]lifecycle.RunState{lifecycle.RunFailed, lifecycle.RunUnknown}[r.IntN(2)], `{"message":"x"}`)
				},
				func(int) { p.exit(); p.s.Next(t, "n") },
				func(int) { p.fire() },
				func(n int) {
					if n == 1 && r.IntN(4) == 0 {
						p.cancel()
					}
				},
			}
			for range 40 {
				operations[r.IntN(len(operations))](1 + r.IntN(4))
			}
			if r.IntN(2) == 0 {
				p.submit()
			}
			p.cancel()
			p.exit()
			for len(p.running) > 0 {
				p.finish(lifecycle.RunSucceeded, `{}`)
			}
			for _, c := range p.yes {
				if got, events := p.outcome(c), p.told(c); got == nil || events != 1 {
					t.Fatalf("seed %d: a yes has the outcome %v and %d events", seed, got, events)
				}
			}
		}
	})
}

// What a person allowed under a version that did not record it yet has an outcome, too.
func TestWhatAnEarlierVersionAllowedHasAnOutcome(t *testing.T) {
	t.Parallel()
	allow := func(about job.Operation) func(*permitted) {
		return func(p *permitted) { p.ask(1, about, job.Approve, time.Minute) }
	}
	start := func(p *permitted) { p.start(1, deploy) }
	fails := func(p *permitted) { p.finish(lifecycle.RunFailed, `{"message":"disk full"}`) }
	change := func(p *permitted) {
		_, c, _, err := p.s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: p.id, UserID: "u", SessionID: p.job().SessionID, Type: job.Review, Message: "Good?", Chat: job.Text(job.FromAssistant, "Good?"), ApprovalKey: "change:0",
			AuditFields: job.Operation{Action: "finalize"},
		})
		must.OK(t, err)
		must.Get(p.s.Answer(t.Context(), must.Get(p.s.Checkpoints.Get(t.Context(), c))(t), lifecycle.Resolution{
			To: job.Answered, Reply: job.Reply{Decision: job.Approve}, Approval: approval.Permission{Life: time.Minute},
		}))(t)
		p.yes = append(p.yes, c)
		p.exit()
	}
	ends := func(p *permitted) {
		must.OK(p.t, p.s.End(p.t.Context(), p.id, job.Failed, job.CodeFinalize, "It could not be published", lifecycle.Holder{}))
	}
	for name, row := range map[string]struct {
		before []func(*permitted)
		lacks  []string // in the record of the earlier version
		after  []func(*permitted)
		want   string
	}{
		"a run that has begun":                   {[]func(*permitted){allow(deploy), start}, []string{"allowed"}, []func(*permitted){fails}, "It failed: disk full"},
		"a run that has begun, of an ended job":  {[]func(*permitted){allow(deploy), start, (*permitted).cancel}, []string{"allowed"}, []func(*permitted){fails}, "It failed: disk full"},
		"an action that is not called yet":       {[]func(*permitted){allow(deploy)}, []string{"allowed"}, []func(*permitted){start, fails}, "It failed: disk full"},
		"a tool call that is not made yet":       {[]func(*permitted){allow(bash)}, []string{"allowed"}, []func(*permitted){func(p *permitted) { p.use(1); p.prints(1, job.OutputError, "Exit code 1") }}, "As the Claude CLI reports, it failed: Exit code 1"},
		"an action that is never called":         {[]func(*permitted){allow(deploy)}, []string{"allowed"}, []func(*permitted){(*permitted).cancel}, "It was not run: the job was cancelled before that"},
		"a change":                               {[]func(*permitted){change}, []string{"allowed"}, []func(*permitted){ends}, "It failed: It could not be published"},
		"a change whose approval is used":        {[]func(*permitted){change}, []string{"allowed", "decisions"}, []func(*permitted){ends}, "It failed: It could not be published"},
		"a second change whose approval is used": {[]func(*permitted){change, func(p *permitted) { p.s.Next(t, "n"); change(p) }}, []string{"allowed", "decisions"}, []func(*permitted){ends}, "It failed: It could not be published"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, embedded := storetest.InProcess(t, store.Options{})
			s := &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}
			must.Get(s.Start(t.Context(), newChange("u")))(t)
			p := &permitted{t: t, s: s, id: s.Next(t, "n").Job.ID}
			for _, happens := range row.before {
				happens(p)
			}
			must.OK(t, embedded.Client.HDel(t.Context(), jobKey(t, embedded.Client, p.id), row.lacks...).Err())
			for _, happens := range row.after {
				happens(p)
			}
			c := p.yes[len(p.yes)-1]
			if got := p.outcome(c); got == nil || got.Words() != row.want || p.told(c) != 1 {
				t.Errorf("it has the outcome %+v, told %d times; want %s", got, p.told(c), row.want)
			}
		})
	}
}

// An approved change that is not published is an approval that came to nothing.
func TestAnApprovedChangeHasAnOutcome(t *testing.T) {
	t.Parallel()
	fails := func(p *permitted) {
		must.OK(p.t, p.s.End(p.t.Context(), p.id, job.Failed, job.CodeFinalize, "The change could not be published: it is gone", lifecycle.Holder{}))
	}
	retried := func(p *permitted) {
		p.exit()
		must.OK(p.t, p.s.Retry(p.t.Context(), p.id))
		must.Equal(p.t, (*job.Outcome)(nil), p.outcome(p.yes[0]), "it is not over")
		must.Equal(p.t, 0, len(p.job().FailedActions), "failed actions")
	}
	published := func(p *permitted) {
		p.s.Next(p.t, "n")
		message := job.Text(job.FromAssistant, "Done.\nservice: pushed to main as abc")
		must.Get(p.s.Accept(p.t.Context(), p.id, lifecycle.Submission{Digest: "e", Result: json.RawMessage(`{}`), Message: &message, Final: true}))(p.t)
	}
	for name, row := range map[string]struct {
		then func(*permitted)
		want string
	}{
		"cancelled before it is published": {(*permitted).cancel, "It was not run: the job was cancelled before that"},
		"cancelled while it is published": {func(p *permitted) {
			turn := p.s.Next(p.t, "n")
			must.OK(p.t, p.s.SetPhase(p.t.Context(), p.id, lifecycle.Holder{Turn: turn.Job.Turn, Node: "n"}, job.Publishing))
			p.cancel()
		}, "Whether it took effect is not known: the job was cancelled while the change was being published"},
		"its job fails":   {fails, "It failed: The change could not be published: it is gone"},
		"it is published": {published, "It ran: service: pushed to main as abc"},
		"its job fails, and a retry publishes it": {func(p *permitted) { fails(p); retried(p); published(p) }, "It ran: service: pushed to main as abc"},
		"its job fails, and so does a retry":      {func(p *permitted) { fails(p); retried(p); fails(p) }, "It failed: The change could not be published: it is gone"},
		"its job fails, and a retry is cancelled": {func(p *permitted) { fails(p); retried(p); p.cancel() }, "It was not run: the job was cancelled before that"},
		"its job is cancelled, and retried": {func(p *permitted) {
			p.cancel()
			must.OK(p.t, p.s.Retry(p.t.Context(), p.id))
		}, "It was not run: the job was cancelled before that"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := storetest.InProcess(t, store.Options{})
			s := &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}
			must.Get(s.Start(t.Context(), newChange("u")))(t)
			j := s.Next(t, "n").Job
			p := &permitted{t: t, s: s, id: j.ID}
			_, c, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
				RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.Review, Message: "Good?", Chat: job.Text(job.FromAssistant, "Good?"), ApprovalKey: "change:0",
				AuditFields: job.Operation{Action: "finalize"},
			})
			must.OK(t, err)
			must.Get(s.Answer(t.Context(), must.Get(s.Checkpoints.Get(t.Context(), c))(t), lifecycle.Resolution{
				To: job.Answered, Reply: job.Reply{Decision: job.Approve}, Approval: approval.Permission{Life: time.Minute},
			}))(t)
			p.yes = append(p.yes, c)
			p.exit()
			row.then(p)
			if got := p.outcome(c); got == nil || got.Words() != row.want {
				t.Errorf("it has the outcome %+v, want %s", got, row.want)
			}
			must.Equal(t, p.job().State == job.Received, p.job().Published, "the change is published")
		})
	}
}
