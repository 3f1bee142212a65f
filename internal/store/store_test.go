package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/store"
)

// onBoth runs a test against the in-process store and a private redis-server.
func onBoth(t *testing.T, opts store.Options, check func(t *testing.T, s *store.Store, rdb redis.UniversalClient)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		embedded, err := store.StartInProcess()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(embedded.Close)
		check(t, prepared(t, embedded.Client, opts), embedded.Client)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		client := privateRedis(t)
		check(t, prepared(t, client, opts), client)
	})
}

func prepared(t *testing.T, client redis.UniversalClient, opts store.Options) *store.Store {
	t.Helper()
	s := store.New(client, opts, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { s.Close() })
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// privateRedis starts a redis-server on a socket, for one test.
func privateRedis(t *testing.T) redis.UniversalClient {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: run make deps")
		}
		t.Skip("redis-server is not installed: run make deps")
	}
	dir, err := os.MkdirTemp("", "rb") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(t.Context(), bin, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--logfile", "log")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{socket}})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil && client.Ping(t.Context()).Err() == nil {
			return client
		}
		if time.Now().After(deadline) {
			t.Fatal("redis-server did not start")
		}
	}
}

func newJob(user string) store.NewJob {
	return store.NewJob{
		Kind: "k", UserID: user, Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive,
		CallbackTimeout: time.Minute, Attempts: 2,
	}
}

// model is what a job should be after a series of operations.
type model struct {
	id      job.ID
	user    string
	session string
	state   job.State
	phase   job.Phase
	turn    int
	attempt int
	held    bool   // a node holds its turn
	secret  bool   // callbacks are taken: a job retried by a person gets a new one with its turn
	digest  string // of the accepted result
	seen    map[string]bool
	events  []string
	// asked is the checkpoint the job waits at, and holds whether the call that
	// asked still waits; again says that the next turn waits for this one's end.
	asked job.CheckpointID
	holds bool
	again bool
}

func (m *model) become(s job.State, phase job.Phase, event string) {
	if s != m.state && !m.state.CanBecome(s) {
		panic(fmt.Sprintf("the table has no way from %q to %q", m.state, s))
	}
	if s == job.Failed || s == job.Cancelled || s == job.Rejected { // the chat is told
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

// refusal is how a callback is refused; empty when it is taken.
func (m *model) refusal() store.Outcome {
	switch {
	case m.state.Terminal():
		return store.Outcome(m.state)
	case m.asked != "":
		return store.Outcome(m.state)
	case !m.secret:
		return store.Outcome(job.Expired)
	}
	return ""
}

// TestStateMachineFollowsItsModel applies random legal and illegal operations
// to one job and compares answers, record and events with a simple model.
func TestStateMachineFollowsItsModel(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{}, func(t *testing.T, s *store.Store, _ redis.UniversalClient) {
		for seed := range uint64(60) {
			m := &model{seen: map[string]bool{}, secret: true}
			j, err := s.Create(t.Context(), newJob(fmt.Sprint("user", seed)))
			if err != nil {
				t.Fatal(err)
			}
			m.id, m.user, m.session = j.ID, j.UserID, j.SessionID
			m.become(job.Pending, job.Queued, "pending")
			operate(t, s, m, rand.New(rand.NewPCG(seed, 0)))
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
			_ = s.End(t.Context(), m.id, job.Cancelled, job.CodeCancelled, "", 0) // out of the next one's way
		}
	})
}

func operate(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	operations := []func(*testing.T, *store.Store, *model, *rand.Rand){claim, claim, progress, result, cancel, endTurn, retry, giveUp, ask, ask, answer, answer, clarify, park, tell}
	for range 40 {
		operations[r.IntN(len(operations))](t, s, m, r)
		compare(t, s, m)
		if t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, s *store.Store, m *model) {
	t.Helper()
	j, err := s.Get(t.Context(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	if j.State != m.state || j.Phase != m.phase || j.Turn != m.turn || j.Attempt != m.attempt || (j.Result != nil) != (m.digest != "") || j.FinishedAt.IsZero() == m.state.Terminal() {
		t.Errorf("the record is %+v, the model %+v", j, m)
	}
	events, err := s.JobEvents(t.Context(), j, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(events))
	for i, e := range events {
		var head struct{ Event string }
		if err := json.Unmarshal(e.Frame, &head); err != nil {
			t.Fatal(err)
		}
		names[i] = head.Event
		if i > 0 && e.Seq != events[i-1].Seq+1 {
			t.Errorf("event %d follows %d", e.Seq, events[i-1].Seq)
		}
	}
	if diff := cmp.Diff(m.events, names); diff != "" {
		t.Errorf("events: %s", diff)
	}
}

func claim(t *testing.T, s *store.Store, m *model, _ *rand.Rand) {
	t.Helper()
	var taken *store.Turn
	for p := range store.Partition(store.Partitions) {
		if _, err := s.FireDue(t.Context(), p); err != nil { // retries that are due
			t.Fatal(err)
		}
		turn, err := s.Claim(t.Context(), p, store.Worker{Node: "n"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if turn != nil {
			taken = turn
		}
	}
	if (taken != nil) != (m.state == job.Pending && !m.again) {
		t.Errorf("claimed %+v of a job that is %s", taken, m.state)
		return
	}
	if taken != nil {
		m.turn++
		m.held, m.secret = true, true
		m.become(job.Running, job.AtWork, "running")
	}
}

func progress(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	digest := fmt.Sprintf("digest-%05d", r.IntN(4))
	facts, _, _, err := s.Facts(t.Context(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := s.Progress(t.Context(), m.id, facts, json.RawMessage(`{"message":"x"}`), digest)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Accepted
	if refusal := m.refusal(); refusal != "" && m.asked == "" {
		want = refusal
	} else if !m.seen[digest] {
		m.seen[digest] = true
		m.events = append(m.events, "k:activity")
	}
	if outcome != want {
		t.Errorf("progress of a job that is %s: %s, want %s", m.state, outcome, want)
	}
}

func result(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	digest := fmt.Sprint("result ", r.IntN(2))
	outcome, err := s.Result(t.Context(), m.id, store.Submission{Digest: digest, Result: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := store.Accepted
	switch {
	case m.state == job.Received && m.digest == digest:
		want = store.Repeated
	case m.state == job.Received:
		want = store.Conflict
	case m.refusal() != "":
		want = m.refusal()
	default:
		m.digest = digest
		m.become(job.Received, job.NoPhase, "received")
	}
	if outcome != want {
		t.Errorf("result for a job that is %s: %s, want %s", m.state, outcome, want)
	}
}

func cancel(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	if r.IntN(3) > 0 {
		return // the other operations shall have a chance
	}
	err := s.End(t.Context(), m.id, job.Cancelled, job.CodeCancelled, "enough", 0)
	if (err == nil) == m.state.Terminal() {
		t.Errorf("cancelling a job that is %s: %v", m.state, err)
	}
	if err == nil {
		m.become(job.Cancelled, job.NoPhase, "cancelled")
	}
}

func endTurn(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	turn := m.turn - r.IntN(2)
	state, err := s.EndTurn(t.Context(), store.TurnEnd{
		ID: m.id, Turn: turn, Node: "n", Code: job.CodeNoCallback, Message: "no", Again: true, Begun: true, Note: store.Note{Reason: store.Unfinished},
	})
	if err != nil {
		t.Fatal(err)
	}
	if turn != m.turn || !m.held {
		if state != "" {
			t.Errorf("the end of turn %d was taken, the job is in turn %d", turn, m.turn)
		}
		return
	}
	if m.again { // the reply came while the process was ending
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
	if state != m.state {
		t.Errorf("after the turn's end the job is %s, want %s", state, m.state)
	}
}

func retry(t *testing.T, s *store.Store, m *model, _ *rand.Rand) {
	t.Helper()
	err := s.Retry(t.Context(), m.id)
	if legal := m.state.Terminal() && m.state.CanBecome(job.Pending); (err == nil) != legal {
		t.Errorf("retrying a job that is %s: %v", m.state, err)
	}
	if err == nil {
		m.attempt, m.holds, m.seen = 0, false, map[string]bool{}
		phase := job.Queued
		if m.held { // the process of the last turn is still ending
			phase = job.WaitingForExit
		}
		m.become(job.Pending, phase, "pending")
		m.again = m.held
	}
}

func giveUp(t *testing.T, s *store.Store, m *model, r *rand.Rand) {
	t.Helper()
	if r.IntN(3) > 0 {
		return
	}
	outcome, err := s.GiveUp(t.Context(), m.id, "cannot", "I cannot", false)
	if err != nil {
		t.Fatal(err)
	}
	if want := m.refusal(); m.state != job.Failed && want != "" && outcome != want {
		t.Errorf("giving up a job that is %s: %s, want %s", m.state, outcome, want)
	}
	if m.refusal() == "" {
		m.become(job.Failed, job.NoPhase, "error")
	}
}

func TestFinishedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{Retention: 300 * time.Millisecond}, func(t *testing.T, s *store.Store, rdb redis.UniversalClient) {
		ctx := t.Context()
		baseline := keys(t, rdb)
		for i := range 20 {
			n := newJob(fmt.Sprint("user", i))
			n.IdempotencyKey = "key"
			j, err := s.Create(ctx, n)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Batch(ctx, j.ID, store.NewBatch{Index: 1, Digest: "d", Items: json.RawMessage(`[]`), Others: store.AnyOthers}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Progress(ctx, j.ID, store.Facts{UserID: n.UserID}, json.RawMessage(`{}`), "d"); err != nil {
				t.Fatal(err)
			}
			if err := s.WriteTranscript(ctx, j.ID, 1, 0, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		for p := range store.Partition(store.Partitions) {
			for {
				turn, err := s.Claim(ctx, p, store.Worker{Node: "n"}, false)
				if err != nil {
					t.Fatal(err)
				}
				if turn == nil {
					break
				}
				if err := s.End(ctx, turn.Job.ID, job.Cancelled, job.CodeCancelled, "", 0); err != nil {
					t.Fatal(err)
				}
				if _, err := s.EndTurn(ctx, store.TurnEnd{ID: turn.Job.ID, Turn: 1, Node: "n"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var left []string
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			for p := range store.Partition(store.Partitions) {
				if _, err := s.FireDue(ctx, p); err != nil {
					t.Fatal(err)
				}
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
	all, err := rdb.Keys(context.Background(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReplayTellsWhatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{}, func(t *testing.T, s *store.Store, rdb redis.UniversalClient) {
		ctx := t.Context()
		j, err := s.Create(ctx, newJob("u"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			if _, err := s.Progress(ctx, j.ID, store.Facts{UserID: "u"}, json.RawMessage(`{}`), fmt.Sprintf("digest-%05d", i)); err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.Events(ctx, "u", 0, 100)
		if err != nil || all.Missed || len(all.Events) != 10 {
			t.Fatalf("%d events, missed %t, %v", len(all.Events), all.Missed, err)
		}
		stream := keysLike(t, rdb, "*:events:u")
		if err := rdb.XTrimMaxLen(ctx, stream, 4).Err(); err != nil {
			t.Fatal(err)
		}
		last := all.Events[9].Seq
		for since, missed := range map[job.Seq]bool{0: true, last - 5: true, last - 4: false, last: false, last - 1000: true} {
			got, err := s.Events(ctx, "u", since, 100)
			if err != nil || got.Missed != missed {
				t.Errorf("since %d (the last is %d): missed %t, want %t, %v", since, last, got.Missed, missed, err)
			}
		}
	})
}

func keysLike(t *testing.T, rdb redis.UniversalClient, pattern string) string {
	t.Helper()
	found, err := rdb.Keys(context.Background(), pattern).Result()
	if err != nil || len(found) != 1 {
		t.Fatalf("keys like %s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func FuzzParseSeq(f *testing.F) {
	for _, seed := range []string{"0", "1763678000000042", "-1", "9223372036854775808", " 1", "1-0", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := job.ParseSeq(text)
		if err == nil && n > 1<<63-1 {
			t.Errorf("%q is read as %d, which Redis cannot hold", text, n)
		}
		if again, err2 := job.ParseSeq(n.String()); err == nil && (err2 != nil || again != n) {
			t.Errorf("%q is read as %d and then as %d", text, n, again)
		}
	})
}
