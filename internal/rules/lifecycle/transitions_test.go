package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// position is a possible position of a job.
type position struct {
	state job.State
	phase job.Phase
}

// positions returns all positions: each state with each phase it may have.
func positions() []position {
	found := []position{{"", ""}}
	for _, s := range job.States {
		if s != job.Pending && s != job.Running {
			found = append(found, position{s, job.NoPhase})
		}
		for _, row := range job.Phases {
			if slices.Contains(row.States, s) {
				found = append(found, position{s, row.Phase})
			}
		}
	}
	return found
}

// allowed finds the move in the table.
func allowed(from, to position) (job.Transition, bool) {
	for _, t := range job.Transitions {
		if t.From == from.state && t.To == to.state && (!t.Within() || t.FromPhase == from.phase) && slices.Contains(t.Phases, to.phase) {
			return t, true
		}
	}
	return job.Transition{}, false
}

// TestScriptsMoveJobsByTheTableOnly puts a job into each state and phase and tries to move it into
// each state with each phase, including phases that the state cannot have.
func TestScriptsMoveJobsByTheTableOnly(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		j := must.Get(s.Start(t.Context(), newJob("u")))(t)
		key := jobKey(t, rdb, j.ID)
		phases := []job.Phase{job.NoPhase}
		for _, row := range job.Phases {
			phases = append(phases, row.Phase)
		}
		taken := 0
		for _, from := range positions() {
			for _, state := range job.States {
				for _, phase := range phases {
					to := position{state, phase}
					must.OK(t, rdb.HSet(t.Context(), key, "state", string(from.state), "phase", string(from.phase)).Err())
					before := eventsOf(t, s, j)
					err := s.Move(t.Context(), j.ID, to.state, to.phase)
					told := eventsOf(t, s, j)[len(before):]
					record := stored(t, rdb, key)
					row, ok := allowed(from, to)
					var refused *job.Error
					switch {
					case from == to && err == nil && len(told) == 0: // no move at all
					case ok:
						taken++
						if err != nil || cmp.Diff([]string{string(to.state), string(to.phase)}, record) != "" {
							t.Errorf("from %v to %v: %v, the record says %v", from, to, err, record)
						}
						if want := names(row); cmp.Diff(want, told) != "" {
							t.Errorf("from %v to %v: events %q, want %q", from, to, told, want)
						}
					case !errors.As(err, &refused) || refused.Kind != job.Internal || len(told) > 0,
						cmp.Diff([]string{string(from.state), string(from.phase)}, record) != "":
						t.Errorf("from %v to %v: %v, the record says %v, told is %q; want a refusal", from, to, err, record, told)
					}
				}
			}
		}
		if taken < len(job.Transitions) {
			t.Errorf("only %d moves were taken of %d", taken, len(job.Transitions))
		}
	})
}

// stored returns the state and phase in a record.
func stored(t *testing.T, rdb redis.UniversalClient, key string) []string {
	t.Helper()
	values := must.Get(rdb.HMGet(t.Context(), key, "state", "phase").Result())(t)
	state, _ := values[0].(string)
	phase, _ := values[1].(string)
	return []string{state, phase}
}

func names(row job.Transition) []string {
	if row.Event == "" {
		return []string{}
	}
	return []string{"k:" + string(row.Event)}
}

// eventsOf returns the names of a job's events.
func eventsOf(t *testing.T, s *storetest.Service, j job.Job) []string {
	t.Helper()
	events, _, err := s.Events.OfJob(t.Context(), j, 0, 10000)
	must.OK(t, err)
	found := []string{}
	for _, e := range events {
		_, rest, _ := strings.Cut(e.Frame(), `"event":"`)
		name, _, _ := strings.Cut(rest, `"`)
		found = append(found, name)
	}
	return found
}

// phasesTold returns the phases in the state's events, in order; "-" for none.
func phasesTold(t *testing.T, s *storetest.Service, j job.Job) []string {
	t.Helper()
	events, _, err := s.Events.OfJob(t.Context(), j, 0, 10000)
	must.OK(t, err)
	var found []string
	for _, e := range events {
		_, data, _ := strings.Cut(e.Frame(), `"data":{"status":"`)
		if data == "" {
			continue
		}
		status, rest, _ := strings.Cut(data, `"`)
		if status != string(job.Pending) && status != string(job.Running) {
			continue
		}
		phase := "-"
		if _, after, ok := strings.Cut(rest, `"phase":"`); ok {
			phase, _, _ = strings.Cut(after, `"`)
		}
		found = append(found, phase)
	}
	return found
}

// take starts the turn of the only waiting job. It returns nil if none waits.
func take(t *testing.T, s *storetest.Service) *lifecycle.Turn {
	t.Helper()
	for p := range store.Partition(store.Partitions) {
		must.OK(t, s.FireDue(t.Context(), p))
	}
	return s.Next(t, "n")
}

func create(t *testing.T, s *storetest.Service, n lifecycle.NewJob) job.Job {
	t.Helper()
	return must.Get(s.Start(t.Context(), n))(t)
}

// in checks the phase in a job's record.
func in(t *testing.T, s *storetest.Service, id job.ID, want job.Phase) job.Job {
	t.Helper()
	j := must.Get(s.Get(t.Context(), id))(t)
	must.Equal(t, want, j.Phase, "the job is in phase")
	return j
}

func phasesWere(t *testing.T, s *storetest.Service, j job.Job, want ...string) {
	t.Helper()
	must.Equal(t, want, phasesTold(t, s, j), "the phases told")
}

func TestJobOverItsUsersLimitWaitsForIt(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		first := create(t, s, newJob("u"))
		in(t, s, first.ID, job.Queued)
		if turn := take(t, s); turn == nil || turn.Job.ID != first.ID || turn.Job.Phase != job.AtWork {
			t.Fatalf("took %+v", turn)
		}
		second, third := create(t, s, newJob("u")), create(t, s, newJob("u"))
		if turn := take(t, s); turn != nil {
			t.Fatalf("took %s over its user's limit", turn.Job.ID)
		}
		in(t, s, second.ID, job.WaitingForLimit)
		in(t, s, third.ID, job.WaitingForLimit)
		must.OK(t, s.End(t.Context(), second.ID, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
		in(t, s, second.ID, job.NoPhase)
		must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n", Code: job.CodeCrashed}))(t)
		in(t, s, third.ID, job.Queued)
		if turn := take(t, s); turn == nil || turn.Job.ID != third.ID {
			t.Fatalf("took %+v", turn)
		}
		phasesWere(t, s, third, "queued", "waiting_for_limit", "queued", "claude")
	})
}

func TestRetryOfAFailedTurnSaysWhen(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := create(t, s, newJob("u"))
		take(t, s)
		end := lifecycle.TurnEnd{ID: j.ID, Turn: 1, Node: "n", Code: job.CodeCrashed, Message: "no", Again: true, Begun: true, Spoken: true, Backoff: 300 * time.Millisecond}
		must.Get(s.EndTurn(t.Context(), end))(t)
		waits := in(t, s, j.ID, job.Queued)
		must.Equal(t, 300*time.Millisecond, waits.PhaseUntil.Sub(waits.UpdatedAt), "the next attempt is made after")
		var turn *lifecycle.Turn
		for deadline := time.Now().Add(10 * time.Second); turn == nil && time.Now().Before(deadline); {
			turn = take(t, s)
		}
		if turn == nil || !turn.Job.PhaseUntil.IsZero() {
			t.Fatalf("took %+v", turn)
		}
		phasesWere(t, s, j, "queued", "claude", "queued", "claude") // the end of a wait is no change
	})
}

// A job that continues a conversation knows its answers. Its own are not those of the job before it.
func TestAFollowUpKnowsTheAnswersBefore(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx := t.Context()
		first := askAndAnswer(t, s, started(t, s), "Where to?", "Rome").Job
		must.Get(s.Accept(ctx, first.ID, lifecycle.Submission{Digest: "d", Result: []byte(`{}`)}))(t)
		must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: first.ID, Turn: first.Turn, Node: "n", Begun: true, Spoken: true}))(t)
		must.Get(s.AppendMessage(ctx, "u", first.SessionID, job.Text(job.FromUser, "and then?"), new(lifecycle.Addressee)))(t)
		n := newJob("u")
		n.SessionID, n.Follows = first.SessionID, first.ID
		second := create(t, s, n)
		askAndAnswer(t, s, take(t, s).Job, "And from there?", "Oslo")
		for id, want := range map[job.ID][]string{first.ID: {"Rome"}, second.ID: {"Rome", "Oslo"}} {
			var said []string
			for _, c := range must.Get(s.Checkpoints.Answers(ctx, id))(t) {
				said = append(said, c.Reply.Text)
			}
			must.Equal(t, want, said, "the answers")
		}
	})
}

func TestFollowUpWaitsForTheProcessBefore(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		first := create(t, s, newJob("u"))
		take(t, s)
		if outcome, err := s.Accept(t.Context(), first.ID, lifecycle.Submission{Digest: "d", Result: []byte(`{}`)}); err != nil || outcome.Kind != lifecycle.Accepted {
			t.Fatal(outcome, err)
		}
		must.Get(s.AppendMessage(t.Context(), "u", first.SessionID, job.Text(job.FromUser, "and then?"), new(lifecycle.Addressee)))(t)
		n := newJob("u")
		n.SessionID, n.Follows = first.SessionID, first.ID
		second := create(t, s, n)
		in(t, s, second.ID, job.WaitingForExit)
		if turn := take(t, s); turn != nil {
			t.Fatalf("took %+v while the process of the job before is there", turn)
		}
		must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n", Begun: true, Spoken: true}))(t)
		in(t, s, second.ID, job.Queued)
		if turn := take(t, s); turn == nil || turn.Job.ID != second.ID {
			t.Fatalf("took %+v", turn)
		}
		phasesWere(t, s, second, "waiting_for_exit", "queued", "claude")
	})
}

// A job is cancelled before Claude has read its prompt, and its user writes on before or after its process is gone:
// the job that follows has both messages.
func TestAFollowUpHasWhatTheJobBeforeNeverRead(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		for _, exitsFirst := range []bool{false, true} {
			storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
				ctx := t.Context()
				first := create(t, s, newJob("u"))
				write := func(text string) {
					must.Get(s.AppendMessage(ctx, "u", first.SessionID, job.Text(job.FromUser, text), new(lifecycle.Addressee)))(t)
				}
				exit := func() {
					must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n", Unstarted: !begun, Begun: begun, Spoken: begun}))(t)
				}
				write("use metres")
				take(t, s)
				must.OK(t, s.Cancel(ctx, first.ID, job.Actor{}))
				if exitsFirst {
					exit()
				}
				write("and go on")
				n := newJob("u")
				n.SessionID, n.Follows = first.SessionID, first.ID
				second := create(t, s, n)
				if !exitsFirst {
					exit()
				}
				want, got := []string{"use metres", "and go on"}, []string{}
				if begun { // the conversation has the first one
					want = want[1:]
				}
				for _, m := range take(t, s).PendingMessages {
					got = append(got, m.Content)
				}
				must.Equal(t, want, got, "the prompt has")
				must.Equal(t, len(want), len(must.Get(s.Get(ctx, second.ID))(t).Words), "words that wait")
			})
		}
	}
}

// TestPhaseIsTheRunningTurnsOwn sets phases for turns that are not the job's, or no longer.
func TestPhaseIsTheRunningTurnsOwn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		n := newJob("u")
		n.HasWorkspace = true
		j := create(t, s, n)
		phase := func(turn int, node string, p job.Phase) {
			t.Helper()
			if err := s.SetPhase(t.Context(), j.ID, lifecycle.Holder{Turn: turn, Node: node}, p); err != nil {
				t.Errorf("phase %s: %v", p, err)
			}
		}
		phase(0, "n", job.Capturing)
		in(t, s, j.ID, job.Queued)
		take(t, s)
		in(t, s, j.ID, job.Preparing)
		phase(2, "n", job.AtWork)
		phase(1, "another", job.AtWork)
		in(t, s, j.ID, job.Preparing)
		for _, p := range []job.Phase{job.AtWork, job.AtWork, job.Capturing, job.Verifying, job.Capturing, job.Verifying, job.Publishing} {
			phase(1, "n", p)
			in(t, s, j.ID, p)
		}
		var refused *job.Error
		if err := s.SetPhase(t.Context(), j.ID, lifecycle.Holder{Turn: 1, Node: "n"}, job.AtWork); !errors.As(err, &refused) || refused.Kind != job.Internal {
			t.Errorf("back to Claude from publishing: %v, want a refusal", err)
		}
		in(t, s, j.ID, job.Publishing)
		must.OK(t, s.End(t.Context(), j.ID, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
		phase(1, "n", job.Capturing)
		in(t, s, j.ID, job.NoPhase)
		phasesWere(t, s, j, "queued", "preparing", "claude", "capturing", "verifying", "capturing", "verifying", "publishing")
	})
}

// TestParkedJobDoesNotFail requests an end that the table does not contain.
func TestParkedJobDoesNotFail(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := create(t, s, newJob("u"))
		take(t, s)
		outcome, _, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.ErrorRecovery, Message: "Which?", Props: []byte(`{}`),
			Chat: job.Text(job.FromAssistant, "Which?"), Digest: "d", Hold: time.Minute,
		})
		if err != nil || outcome.Kind != lifecycle.Accepted {
			t.Fatal(outcome, err)
		}
		before := eventsOf(t, s, j)
		var refused *job.Error
		if err := s.End(t.Context(), j.ID, job.Failed, job.CodeFinalize, "no", lifecycle.Holder{Turn: 1}); !errors.As(err, &refused) || refused.Kind != job.Conflict {
			t.Errorf("%v, want a conflict", err)
		}
		if waits := in(t, s, j.ID, job.Held); waits.State != job.AwaitingInput || waits.Error != "" {
			t.Errorf("the record is %+v", waits)
		}
		must.Equal(t, before, eventsOf(t, s, j), "events")
	})
}

// jobKey returns the key of a job's record.
func jobKey(t *testing.T, rdb redis.UniversalClient, id job.ID) string {
	t.Helper()
	keys, err := rdb.Keys(t.Context(), "*:job:"+string(id)).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("the record of %s: %q, %v", id, keys, err)
	}
	return keys[0]
}
