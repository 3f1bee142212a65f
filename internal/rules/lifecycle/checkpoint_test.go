package lifecycle_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The operations of people in TestStateMachineFollowsItsModel.

func question(m *model, r *rand.Rand) lifecycle.NewCheckpoint {
	q := lifecycle.NewCheckpoint{
		RequestID: m.id, UserID: m.user, SessionID: m.session, Type: job.ErrorRecovery, Message: "Which?",
		Props: json.RawMessage(`{}`), Chat: job.Text(job.FromAssistant, "Which?"), Digest: strconv.FormatUint(r.Uint64(), 10),
	}
	if r.IntN(2) == 0 {
		q.Hold = time.Minute
	}
	return q
}

func ask(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	q := question(m, r)
	outcome, id, _, err := s.Ask(t.Context(), q)
	must.OK(t, err)
	want := lifecycle.Outcome{Kind: lifecycle.Accepted}
	switch {
	case m.asked != "":
		want.Kind = lifecycle.Busy
	case m.state != job.Running:
		want = lifecycle.RefusedIn(m.state)
	default:
		m.asked, m.holds, m.attempt = id, q.Hold > 0, 0
		m.events = append(m.events, "k:message", "k:checkpoint")
		m.state, m.phase = job.AwaitingInput, job.NoPhase
		if m.holds {
			m.phase = job.Held
		}
	}
	must.Equal(t, want, outcome, "asking for a job that is", m.state)
}

// reply replies to the job's checkpoint, or to one that no longer waits.
func reply(t *testing.T, s *storetest.Service, m *model, a lifecycle.Resolution) bool {
	t.Helper()
	if m.asked == "" {
		return false
	}
	c := must.Get(s.Checkpoints.Get(t.Context(), m.asked))(t)
	must.Equal(t, m.holds, c.Held, "held is")
	message := job.Text(job.FromUser, "that one")
	a.Message = &message
	must.Get(s.Answer(t.Context(), c, a))(t)
	var e *job.Error
	if _, err := s.Answer(t.Context(), c, a); !errors.As(err, &e) || e.Kind != job.Conflict {
		t.Errorf("a second reply: %v, want a conflict", err)
	}
	m.events = append(m.events, "k:message", "k:checkpoint:resolved")
	return true
}

func answer(t *testing.T, s *storetest.Service, m *model, _ *rand.Rand) {
	t.Helper()
	if !reply(t, s, m, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Text: "that one"}}) {
		return
	}
	m.asked = ""
	if m.holds {
		m.holds = false
		m.become(job.Running, job.AtWork, "running")
		return
	}
	phase := job.Queued
	if m.again = m.held; m.again {
		phase = job.WaitingForExit
	}
	m.become(job.Pending, phase, "pending")
}

func clarify(t *testing.T, s *storetest.Service, m *model, r *rand.Rand) {
	t.Helper()
	q := question(m, r)
	if !reply(t, s, m, lifecycle.Resolution{To: job.Superseded, Reply: job.Reply{Text: "what?"}, Again: &q}) {
		return
	}
	before := must.Get(s.Checkpoints.Get(t.Context(), m.asked))(t)
	m.asked = before.Next
	m.events = append(m.events, "k:message", "k:checkpoint")
}

func park(t *testing.T, s *storetest.Service, m *model, _ *rand.Rand) {
	t.Helper()
	if m.asked == "" {
		return
	}
	must.OK(t, s.StopWaiting(t.Context(), m.id, m.asked))
	m.holds, m.phase = false, job.NoPhase
}

func tell(t *testing.T, s *storetest.Service, m *model, _ *rand.Rand) {
	t.Helper()
	var to *lifecycle.Addressee
	if !m.state.Terminal() {
		to = new(lifecycle.Addressee)
	}
	must.Get(s.AppendMessage(t.Context(), m.user, m.session, job.Text(job.FromUser, "by the way"), to))(t)
	m.events = append(m.events, "k:message")
	if !m.state.Terminal() {
		m.waiting++
	}
}
