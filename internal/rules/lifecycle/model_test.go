package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

func newJob(user string) lifecycle.NewJob {
	return lifecycle.NewJob{
		Kind: "k", UserID: user, Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive,
		CallbackTimeout: time.Minute, MaxAttempts: 2,
	}
}

// newChange is newJob for a kind that works on repositories.
func newChange(user string) lifecycle.NewJob {
	n := newJob(user)
	n.HasWorkspace = true
	return n
}

// model is the expected state of a job after a series of operations.
type model struct {
	id      job.ID
	user    string
	session string
	state   job.State
	phase   job.Phase
	turn    int
	attempt int
	held    bool   // a node owns its turn
	secret  bool   // callbacks are accepted: a job that a person has retried gets a new secret with its turn
	digest  string // of the accepted result
	seen    map[string]bool
	events  []string
	// asked is the checkpoint that the job waits at, and holds is true if the asking call still
	// waits. again is true if the next turn waits for the end of this one.
	asked job.CheckpointID
	holds bool
	again bool
	// waiting are the person's messages for the next turn, prompt those in the prompt of the turn, and
	// called is true once Claude has called back in it. begun is true if there is a conversation to resume.
	waiting, prompt int
	called, begun   bool
	// runs are the actions that run.
	runs []lifecycle.RunID
}

func (m *model) become(s job.State, phase job.Phase, event string) {
	if s != m.state && !m.state.CanBecome(s) {
		panic(fmt.Sprintf("the table has no way from %q to %q", m.state, s))
	}
	if s == job.Failed || s == job.Cancelled || s == job.Rejected { // the chat gets a notice
		m.events = append(m.events, "k:message")
	}
	if s.Terminal() && m.asked != "" {
		m.events = append(m.events, "k:checkpoint:resolved")
	}
	if s.Terminal() {
		m.asked, m.again = "", false
	}
	m.state, m.phase = s, phase
	m.secret = m.secret && !s.Terminal()
	m.events = append(m.events, "k:"+event)
}

// refusal returns the expected refusal of a callback; zero if it is accepted.
func (m *model) refusal() lifecycle.Outcome {
	switch {
	case m.state.Terminal() || m.asked != "":
		return lifecycle.RefusedIn(m.state)
	case !m.secret:
		return lifecycle.RefusedIn(job.Expired)
	}
	return lifecycle.Outcome{}
}

// TestStateMachineFollowsItsModel applies random legal and illegal operations to one job and
// compares responses, record and events with a simple model.
func TestStateMachineFollowsItsModel(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		for seed := range uint64(60) {
			m := &model{seen: map[string]bool{}, secret: true}
			j := must.Get(s.Start(t.Context(), newJob(fmt.Sprint("user", seed))))(t)
			m.id, m.user, m.session = j.ID, j.UserID, j.SessionID
			m.become(job.Pending, job.Queued, "pending")
			operate(t, s, m, rand.New(rand.NewPCG(seed, 0)))
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
			_ = s.End(t.Context(), m.id, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}) // make way for the next one
		}
		if unknown, err := s.Unknown(t.Context()); err != nil || len(unknown) > 0 {
			t.Errorf("keys and fields that no list names: %v, %v", unknown, err)
		}
	})
}

func operate(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	operations := []func(*testing.T, *storetest.Service, *model, *rand.Rand){claim, claim, progress, result, cancel, endTurn, retry, giveUp, ask, ask, answer, answer, clarify, park, tell, lose, startRun, endRun}
	for range 40 {
		operations[r.IntN(len(operations))](t, s, m, r)
		compare(t, s, m)
		if t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, s *storetest.Service, m *model) {
	t.Helper()
	j := must.Get(s.Get(t.Context(), m.id))(t)
	if j.State != m.state || j.Phase != m.phase || j.Turn != m.turn || j.Attempt != m.attempt || (j.Result != nil) != (m.digest != "") || j.FinishedAt.IsZero() == m.state.Terminal() {
		t.Errorf("the record is %+v, the model %+v", j, m)
	}
	events, _, err := s.Events.OfJob(t.Context(), j, 0, 1000)
	must.OK(t, err)
	names := make([]string, len(events))
	for i, e := range events {
		var head struct{ Event string }
		must.OK(t, json.Unmarshal([]byte(e.Frame()), &head))
		names[i] = head.Event
		if i > 0 && (e.After != events[i-1].Seq || e.Seq <= e.After) {
			t.Errorf("event %d follows %d, and is behind %d", e.Seq, e.After, events[i-1].Seq)
		}
	}
	must.Equal(t, m.events, names, "events")
}

func claim(t *testing.T, s *storetest.Service, m *model, _ *rand.Rand) {
	t.Helper()
	for p := range store.Partition(store.Partitions) {
		must.OK(t, s.FireDue(t.Context(), p)) // due retries
	}
	taken := s.Next(t, "n")
	if (taken != nil) != (m.state == job.Pending && !m.again) {
		t.Errorf("claimed %+v of a job that is %s", taken, m.state)
		return
	}
	if taken != nil {
		m.turn++
		m.held, m.secret, m.called = true, true, false
		m.prompt, m.waiting = m.waiting, 0
		m.become(job.Running, job.AtWork, "running")
	}
}

func progress(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	digest := fmt.Sprintf("digest-%05d", r.IntN(4))
	facts, _, _, err := s.Calls.Header(t.Context(), m.id)
	must.OK(t, err)
	outcome, err := s.Calls.Progress(t.Context(), m.id, facts, json.RawMessage(`{"message":"x"}`), digest)
	outcome.Waiting = false // the model has no chat
	must.OK(t, err)
	want := lifecycle.Outcome{Kind: lifecycle.Accepted}
	if refusal := m.refusal(); refusal != (lifecycle.Outcome{}) && m.asked == "" {
		want = refusal
	} else if !m.seen[digest] {
		m.seen[digest], m.called = true, true
		m.events = append(m.events, "k:activity")
	}
	if outcome != want {
		t.Errorf("progress of a job that is %s: %s, want %s", m.state, outcome, want)
	}
}

func result(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	digest := fmt.Sprint("result ", r.IntN(2))
	outcome := must.Get(s.Accept(t.Context(), m.id, lifecycle.Submission{Digest: digest, Result: json.RawMessage(`{}`)}))(t)
	want := lifecycle.Outcome{Kind: lifecycle.Accepted}
	switch {
	case m.state == job.Received && m.digest == digest:
		want.Kind = lifecycle.Repeated
	case m.state == job.Received:
		want.Kind = lifecycle.Conflict
	case m.refusal() != (lifecycle.Outcome{}):
		want = m.refusal()
	default:
		m.digest = digest
		m.become(job.Received, job.NoPhase, "received")
	}
	if outcome != want {
		t.Errorf("result for a job that is %s: %s, want %s", m.state, outcome, want)
	}
}

func cancel(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	if r.IntN(3) > 0 {
		return // give the other operations a chance
	}
	err := s.End(t.Context(), m.id, job.Cancelled, job.CodeCancelled, "enough", lifecycle.Holder{})
	if (err == nil) == m.state.Terminal() {
		t.Errorf("cancelling a job that is %s: %v", m.state, err)
	}
	if err == nil {
		m.become(job.Cancelled, job.NoPhase, "cancelled")
	}
}

func endTurn(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	turn, spoken := m.turn-r.IntN(2), r.IntN(2) == 0
	state, err := s.EndTurn(t.Context(), lifecycle.TurnEnd{
		ID: m.id, Turn: turn, Node: "n", Code: job.CodeNoCallback, Message: "no", Again: true, Begun: true, Spoken: spoken,
		ResumeReason: lifecycle.ResumeReason{Reason: lifecycle.Unfinished},
	})
	must.OK(t, err)
	if turn != m.turn || !m.held {
		must.Equal(t, "", state, "the end of turn", turn, "of a job in turn", m.turn, "was taken")
		return
	}
	m.begun = true
	m.turnEnds(spoken)
	must.Equal(t, m.state, state, "after the turn's end the job is")
}

// lose makes another node notice that the node of the job's turn is lost.
func lose(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	if !m.held || r.IntN(2) > 0 {
		return
	}
	for _, taken := range must.Get(s.Nodes.Lost(t.Context(), "n"))(t) {
		must.Get(s.LoseNode(t.Context(), taken))(t)
	}
	m.turnEnds(false)
}

// turnEnds is the end of the turn's process. spoken is true if the conversation contains its prompt.
func (m *model) turnEnds(spoken bool) {
	if spoken || m.called && m.begun {
		m.events = append(m.events, slices.Repeat([]string{"k:message:heard"}, m.prompt)...)
	} else {
		m.waiting += m.prompt
	}
	m.prompt = 0
	if m.again { // the reply came before the process had exited
		m.become(job.Pending, job.Queued, "pending")
	}
	if m.phase == job.Held {
		m.phase = job.NoPhase
	}
	m.held, m.holds, m.again = false, false, false
	if m.state == job.Running {
		m.attempt++
		if m.attempt >= 2 {
			m.become(job.Failed, job.NoPhase, "error")
		} else {
			m.become(job.Pending, job.Queued, "pending")
		}
	}
}

// startRun starts an action, also while others run.
func startRun(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	run := lifecycle.RunID(fmt.Sprintf("run_%s_%d", string(m.id)[4:], r.Uint64()))
	outcome, _, _, err := s.StartAction(t.Context(), lifecycle.NewRun{
		RequestID: m.id, Run: run, ApprovalKey: string(run), AuditFields: job.Operation{Action: "tell"}, Timeout: time.Hour,
		Chat: job.Text(job.FromAssistant, "Telling"),
	})
	must.OK(t, err)
	if m.state != job.Running {
		must.Equal(t, lifecycle.Refused, outcome.Kind, "starting an action of a job that is", m.state)
		return
	}
	must.Equal(t, lifecycle.Accepted, outcome.Kind, "starting an action")
	m.runs = append(m.runs, run)
	m.events = append(m.events, "k:message")
	m.checkPause(t, s)
}

// endRun ends any of the actions that run.
func endRun(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	if len(m.runs) == 0 {
		return
	}
	i := r.IntN(len(m.runs))
	must.OK(t, s.FinishAction(t.Context(), m.id, m.runs[i], lifecycle.RunSucceeded, json.RawMessage(`"told"`)))
	m.runs = slices.Delete(slices.Clone(m.runs), i, i+1)
	m.events = append(m.events, "k:action")
	m.checkPause(t, s)
}

// checkPause checks that exactly the actions that run pause Claude's clock.
func (m *model) checkPause(t *testing.T, s *storetest.Service) {
	t.Helper()
	j := must.Get(s.Get(t.Context(), m.id))(t)
	if j.State == job.Running {
		must.Equal(t, len(m.runs) > 0, time.Until(j.Deadline) > 30*time.Minute, "the clock is paused while", len(m.runs), "actions run")
	}
}

func retry(t *testing.T, s *storetest.Service, m *model, _ *rand.Rand) {
	t.Helper()
	err := s.Retry(t.Context(), m.id)
	must.Equal(t, m.state.Terminal() && m.state.CanBecome(job.Pending), err == nil, "retrying a job that is", m.state, err)
	if err == nil {
		m.attempt, m.holds, m.seen = 0, false, map[string]bool{}
		phase := job.Queued
		if m.held { // the process of the last turn has not exited
			phase = job.WaitingForExit
		}
		m.become(job.Pending, phase, "pending")
		m.again = m.held
	}
}

func giveUp(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	if r.IntN(3) > 0 {
		return
	}
	outcome := must.Get(s.ReportFailure(t.Context(), m.id, "cannot", "I cannot", false))(t)
	if want := m.refusal(); m.state != job.Failed && want != (lifecycle.Outcome{}) && outcome != want {
		t.Errorf("giving up a job that is %s: %s, want %s", m.state, outcome, want)
	}
	if m.refusal() == (lifecycle.Outcome{}) {
		m.become(job.Failed, job.NoPhase, "error")
	}
}

func TestFinishedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{Retention: 300 * time.Millisecond}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		must.OK(t, s.FireDue(ctx, 0))
		baseline := keys(t, rdb)
		for i := range 20 {
			n := newJob(fmt.Sprint("user", i))
			n.IdempotencyKey = "key"
			j := must.Get(s.Start(ctx, n))(t)
			batch := lifecycle.NewBatch{Index: 1, Digest: "d", Items: json.RawMessage(`[]`), Others: lifecycle.AnyOthers}
			_, _, err := s.AddBatch(ctx, j.ID, batch)
			must.OK(t, err)
			must.Get(s.Calls.Progress(ctx, j.ID, store.JobHeader{UserID: n.UserID}, json.RawMessage(`{}`), "d"))(t)
			must.OK(t, s.Transcripts.Write(ctx, j.ID, 1, 0, []byte("x")))
		}
		for p := range store.Partition(store.Partitions) {
			for {
				turn := must.Get(s.Claim(ctx, p, lifecycle.Worker{Node: "n"}))(t)
				if turn == nil {
					break
				}
				must.OK(t, s.End(ctx, turn.Job.ID, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
				must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: turn.Job.ID, Turn: 1, Node: "n"}))(t)
			}
		}
		var left []string
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			for p := range store.Partition(store.Partitions) {
				must.OK(t, s.FireDue(ctx, p))
			}
			if left = keys(t, rdb); len(left) == len(baseline) {
				return
			}
		}
		t.Errorf("these keys are left:\n%v\nthese were there before:\n%v", left, baseline)
	})
}

func keys(t *testing.T, rdb redis.UniversalClient) []string {
	t.Helper()
	all := must.Get(rdb.Keys(context.Background(), "*").Result())(t)
	return slices.DeleteFunc(all, func(key string) bool { // the names of kinds and nodes are kept
		return strings.HasSuffix(key, ":kinds") || strings.HasSuffix(key, ":nodes")
	})
}
