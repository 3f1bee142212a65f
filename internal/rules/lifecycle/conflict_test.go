package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// storm runs n concurrent commands on one job, and returns how many took effect. Each of the others
// must have been refused with an error of one of the given kinds.
func storm(t *testing.T, n int, command func(i int) error, refusals ...job.ErrorKind) int {
	t.Helper()
	begin, results := make(chan struct{}), make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			<-begin
			results[i] = command(i)
		})
	}
	close(begin)
	running.Wait()
	took := 0
	for _, err := range results {
		var refused *job.Error
		switch {
		case err == nil:
			took++
		case !errors.As(err, &refused) || !slices.Contains(refusals, refused.Kind):
			t.Errorf("neither taken nor refused: %v", err)
		}
	}
	return took
}

// started returns a job with a running turn.
func started(t *testing.T, s *storetest.Service) job.Job {
	t.Helper()
	create(t, s, newJob("u"))
	turn := take(t, s)
	if turn == nil {
		t.Fatal("no turn was started")
	}
	return turn.Job
}

// TestCommandsAtOnceAreNeitherLostNorDoneTwice runs enough commands that conflicts are certain.
func TestCommandsAtOnceAreNeitherLostNorDoneTwice(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx := t.Context()
		t.Run("messages of one chat", func(t *testing.T) {
			j := create(t, s, newJob("messages"))
			took := storm(t, 100, func(i int) error {
				_, err := s.AppendMessage(ctx, "messages", j.SessionID, job.Text(job.FromUser, strconv.Itoa(i)), new(lifecycle.Addressee))
				return err
			}, job.Unavailable)
			messages, last, err := s.Chats.Messages(ctx, "messages", j.SessionID, 0, 1000)
			if err != nil || len(messages) != took || last != int64(took) {
				t.Errorf("%d messages were taken, %d are there, the last is %d; %v", took, len(messages), last, err)
			}
			seen := map[string]bool{}
			for i, m := range messages {
				if m.ID != int64(i+1) || seen[m.Content] {
					t.Errorf("message %d is %d: %q", i+1, m.ID, m.Content)
				}
				seen[m.Content] = true
			}
			if turn := take(t, s); turn == nil || len(turn.PendingMessages) != took {
				t.Errorf("the turn is told %+v", turn)
			}
		})
		t.Run("answers to one question", func(t *testing.T) {
			j := started(t, s)
			_, id, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
				RequestID: j.ID, UserID: j.UserID, SessionID: j.SessionID, Type: job.Confirmation, Message: "Do it?",
				Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d", ApprovalKey: "action:a:1",
			})
			must.OK(t, err)
			c := must.Get(s.Checkpoints.Get(ctx, id))(t)
			took := storm(t, 200, func(i int) error {
				decision := [...]job.Decision{job.Approve, job.Deny}[i%2]
				_, err := s.Answer(ctx, c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: decision}})
				return err
			}, job.Conflict, job.Unavailable)
			must.Equal(t, 1, took, "answers were taken")
			if answers, err := s.Checkpoints.Answers(ctx, j.ID); err != nil || len(answers) != 1 {
				t.Errorf("%d answers are kept, %v", len(answers), err)
			}
		})
		t.Run("batches of one result", func(t *testing.T) {
			j := started(t, s)
			var mu sync.Mutex
			totals := map[int]bool{}
			took := storm(t, 60, func(i int) error {
				outcome, total, err := s.AddBatch(ctx, j.ID, lifecycle.NewBatch{Index: i + 1, Digest: strconv.Itoa(i), Items: json.RawMessage(`[1,2]`), Count: 2, Others: lifecycle.AnyOthers})
				if err == nil && outcome.Kind != lifecycle.Accepted {
					t.Errorf("batch %d is %s", i, outcome)
				}
				mu.Lock()
				defer mu.Unlock()
				totals[total] = true
				return err
			}, job.Unavailable)
			delete(totals, 0)
			if len(totals) != took || !totals[2*took] {
				t.Errorf("%d batches were taken, the totals told are %v", took, totals)
			}
		})
		t.Run("ends of one job", func(t *testing.T) {
			j := started(t, s)
			outcomes := make([]string, 90)
			storm(t, 90, func(i int) (err error) {
				var outcome lifecycle.Outcome
				switch i % 3 {
				case 0:
					outcome, err = s.Accept(ctx, j.ID, lifecycle.Submission{Digest: strconv.Itoa(i), Result: json.RawMessage(`{}`)})
				case 1:
					outcome, err = s.ReportFailure(ctx, j.ID, "cannot", strconv.Itoa(i), false)
				case 2:
					outcome.Kind, err = lifecycle.Accepted, s.End(ctx, j.ID, job.Cancelled, job.CodeCancelled, "enough", lifecycle.Holder{})
				}
				if err == nil && outcome.Kind == lifecycle.Accepted {
					outcomes[i] = "took effect"
				}
				return err
			}, job.Conflict, job.Unavailable)
			ends := 0
			for _, outcome := range outcomes {
				if outcome != "" {
					ends++
				}
			}
			must.Equal(t, 1, ends, "the job ended … times")
			now, err := s.Get(ctx, j.ID)
			if err != nil || !now.State.Terminal() {
				t.Errorf("the job is %s, %v", now.State, err)
			}
			terminal := map[string]int{}
			for _, name := range eventsOf(t, s, j) {
				if name == "k:received" || name == "k:error" || name == "k:cancelled" {
					terminal["ends"]++
				}
			}
			must.Equal(t, map[string]int{"ends": 1}, terminal)
		})
		t.Run("turns of one entry", func(t *testing.T) {
			j := create(t, s, newJob("turns"))
			var taken lifecycle.QueueEntry
			for p := range store.Partitions {
				if found, ok, err := s.Dequeue(ctx, store.Partition(p), "n"); err != nil {
					t.Fatal(err)
				} else if ok && found.JobID == j.ID {
					taken = found
				}
			}
			var mu sync.Mutex
			turns := map[string]bool{}
			storm(t, 50, func(i int) error {
				node := []string{"n", fmt.Sprint("another", i)}[i%2]
				turn, err := s.StartTurn(ctx, lifecycle.Worker{Node: node}, taken)
				mu.Lock()
				defer mu.Unlock()
				if turn != nil {
					turns[node] = true
				}
				return err
			}, job.Unavailable)
			if now, err := s.Get(ctx, j.ID); err != nil || len(turns) != 1 || !turns["n"] || now.Turn != 1 {
				t.Errorf("turns were started by %v, the job is in turn %d, %v", turns, now.Turn, err)
			}
		})
	})
}
