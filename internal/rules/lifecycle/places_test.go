package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

var crowds = flag.Int("crowds", 8, "the number of random histories of a user's jobs to play")

// crowd is a user with more jobs than may run at once, and what happens to them, at random. Other things
// happen between the load and the commit of a command, and answers of commits are lost.
type crowd struct {
	*testing.T
	s     *storetest.Service
	rdb   redis.UniversalClient
	r     *rand.Rand
	limit int
	p     store.Partition
	jobs  []job.ID
	taken []lifecycle.QueueEntry
	// said are the messages that were accepted, and runs the runs of actions that were started.
	said []string
	runs map[lifecycle.RunID]job.ID
	// inside is true while something happens in the middle of a command.
	inside bool
	log    []string
}

// crowdOps are the things that happen, by name. Each may be refused.
var crowdOps = map[string]func(*crowd) error{
	"a job is created": func(c *crowd) error {
		n := newJob("u")
		n.SessionID, n.MaxAttempts = "chat", 1
		j, err := c.s.Start(c.Context(), n)
		if err == nil {
			c.jobs, c.p = append(c.jobs, j.ID), store.PartitionOf(j.ID)
		}
		return err
	},
	"an entry is dequeued": func(c *crowd) error {
		taken, ok, err := c.s.Dequeue(c.Context(), c.p, "n")
		if ok {
			c.taken = append(c.taken, taken)
		}
		return err
	},
	"a turn starts": func(c *crowd) error {
		taken, ok := c.pop()
		if !ok {
			return nil
		}
		_, err := c.s.StartTurn(c.Context(), lifecycle.Worker{Node: "n"}, taken)
		return err
	},
	"an entry is put back": func(c *crowd) error {
		taken, ok := c.pop()
		if !ok {
			return nil
		}
		return c.s.PutBack(c.Context(), taken)
	},
	"a turn ends": func(c *crowd) error {
		j := c.any()
		_, err := c.s.EndTurn(c.Context(), lifecycle.TurnEnd{
			ID: j.ID, Turn: j.Turn, Node: "n", Code: job.CodeNoCallback, Message: "no", Again: c.r.IntN(2) == 0, Begun: true,
		})
		return err
	},
	"a job is cancelled": func(c *crowd) error { return c.s.Cancel(c.Context(), c.any().ID, job.Actor{}) },
	"a job's clock expires": func(c *crowd) error {
		clocks := []lifecycle.Clock{lifecycle.QueueClock, lifecycle.CallbackClock, lifecycle.RetryClock}
		return c.expire(clocks[c.r.IntN(len(clocks))])
	},
	"a job is deleted":   func(c *crowd) error { return c.expire(lifecycle.PurgeClock) },
	"a job is retried":   func(c *crowd) error { return c.s.Retry(c.Context(), c.any().ID) },
	"a result arrives":   func(c *crowd) error { return c.accept() },
	"a turn gives up":    func(c *crowd) error { return c.giveUp() },
	"a message is sent":  func(c *crowd) error { return c.say() },
	"an action starts":   func(c *crowd) error { return c.act() },
	"an action ends":     func(c *crowd) error { return c.endAction() },
	"the node is lost":   func(c *crowd) error { return c.lose() },
	"what is due is due": func(c *crowd) error { return c.s.FireDue(c.Context(), c.p) },
}

func (c *crowd) pop() (taken lifecycle.QueueEntry, ok bool) {
	if len(c.taken) == 0 {
		return taken, false
	}
	taken, c.taken = c.taken[0], c.taken[1:]
	return taken, true
}

// any returns one of the jobs; a zero one if it is gone.
func (c *crowd) any() job.Job {
	if len(c.jobs) == 0 {
		return job.Job{ID: "req_00_" + job.ID(strings.Repeat("a", 26))}
	}
	id := c.jobs[len(c.jobs)-1-c.r.IntN(min(8, len(c.jobs)))]
	if running := c.rdb.SMembers(c.Context(), c.key("running", "u")).Val(); len(running) > 0 && c.r.IntN(2) == 0 {
		id = job.ID(slices.Min(running))
	}
	j, err := c.s.Get(c.Context(), id)
	if err != nil {
		return job.Job{ID: id}
	}
	return j
}

func (c *crowd) key(parts ...string) string {
	return fmt.Sprintf("rb:{%02x}:%s", int(c.p), strings.Join(parts, ":"))
}

// expire makes a job's clock due, if it is set, and fires it.
func (c *crowd) expire(clock lifecycle.Clock) error {
	id := string(c.any().ID)
	for _, set := range []string{"deadlines", "housekeeping"} {
		c.rdb.ZAddXX(c.Context(), c.key(set), redis.Z{Score: 1, Member: string(clock) + "|" + id})
	}
	if record := c.key("job:" + id); clock == lifecycle.PurgeClock && c.rdb.HExists(c.Context(), record, "finished").Val() {
		c.rdb.HSet(c.Context(), record, "finished", 1)
	}
	return c.s.Fire(c.Context(), lifecycle.ExpiredClock{Clock: clock, Ref: id})
}

func (c *crowd) accept() error {
	_, err := c.s.Accept(c.Context(), c.any().ID, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{}`)})
	return err
}

func (c *crowd) giveUp() error {
	_, err := c.s.ReportFailure(c.Context(), c.any().ID, "cannot", "I cannot", c.r.IntN(2) == 0)
	return err
}

func (c *crowd) say() error {
	text := fmt.Sprint("message ", c.r.Uint32())
	to := []*lifecycle.Addressee{nil, {}}[c.r.IntN(2)]
	_, err := c.s.AppendMessage(c.Context(), "u", "chat", job.Text(job.FromUser, text), to)
	if err == nil {
		c.said = append(c.said, text)
	}
	return err
}

// act starts the run of an action: several may run at once.
func (c *crowd) act() error {
	j, run := c.any(), lifecycle.RunID(fmt.Sprint("run_", c.r.Uint32()))
	key := fmt.Sprint("action:", c.r.IntN(3))
	started, id, _, err := c.s.StartAction(c.Context(), lifecycle.NewRun{
		RequestID: j.ID, Run: run, ApprovalKey: key, Timeout: time.Minute, AuditFields: job.Operation{Action: "look"},
		Chat: job.Text(job.FromAssistant, "I am looking"),
	})
	switch {
	case err != nil:
	case started.Kind == lifecycle.Accepted:
		if id != run {
			c.Errorf("the run %s was started as %s", run, id)
		}
		c.runs[run] = j.ID
	case started.Kind == lifecycle.Repeated && c.runs[id] != j.ID:
		c.Errorf("the call is told of the run %s of another job", id)
	}
	return err
}

// endAction ends a run, and sometimes Claude hears of it.
func (c *crowd) endAction() error {
	for run, id := range c.runs {
		err := c.s.FinishAction(c.Context(), id, run, lifecycle.RunSucceeded, json.RawMessage(`{}`))
		return errors.Join(err, c.s.AckActionResult(c.Context(), id, fmt.Sprint("action:", c.r.IntN(3)), run))
	}
	return nil
}

// lose takes everything from the node.
func (c *crowd) lose() error {
	lost, err := c.s.Nodes.Lost(c.Context(), "n")
	c.taken = nil
	for _, one := range lost {
		_, failed := c.s.LoseNode(c.Context(), one)
		err = errors.Join(err, failed)
	}
	return err
}

// happen lets something happen. A command may be refused, but the store is always there.
func (c *crowd) happen() {
	names := slices.Sorted(maps.Keys(crowdOps))
	for range 3 { // the queue is mostly empty, and jobs wait over the limit
		names = append(names, "a job is created", "an entry is dequeued", "an entry is dequeued", "a turn starts", "a turn starts")
	}
	if c.inside { // what frees and takes places
		names = append(names, slices.Repeat([]string{"a turn ends", "a turn starts", "a job is cancelled"}, 10)...)
	}
	name := names[c.r.IntN(len(names))]
	err := crowdOps[name](c)
	c.log = append(c.log, fmt.Sprint(name, ": ", err))
	if job.HasKind(err, job.Unavailable) || job.HasKind(err, job.Internal) {
		c.Errorf("%s: %v", name, err)
	}
}

// hook lets something happen before a script is sent, or after it was and its answer is lost.
func (c *crowd) hook(send func() error) error {
	if c.inside {
		return send()
	}
	c.inside = true
	defer func() { c.inside = false }()
	switch c.r.IntN(4) {
	case 0:
		c.happen()
	case 1:
		if err := send(); err != nil {
			return err
		}
		c.happen()
	}
	return send()
}

// check compares what the user's jobs do: no job waits while a place is free that none has been called to.
func (c *crowd) check(ctx context.Context) {
	running := int(c.rdb.SCard(ctx, c.key("running", "u")).Val())
	over, called := 0, 0
	for _, id := range c.jobs {
		j, err := c.s.Get(ctx, id)
		switch {
		case err != nil || j.State != job.Pending || !j.PhaseUntil.IsZero():
		case j.Phase == job.WaitingForLimit:
			over++
		case j.Phase == job.Queued:
			called++
		}
	}
	if running > c.limit || over > 0 && running+called < c.limit {
		c.Errorf("of %d places %d are taken, %d jobs are called to one, and %d wait", c.limit, running, called, over)
	}
}

// TestNoJobWaitsWhileAPlaceIsFree plays random histories of a user's jobs, with other commits in the middle
// of each command. -crowds plays more of them.
func TestNoJobWaitsWhileAPlaceIsFree(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2} {
		onBothHooked(t, lifecycle.Options{UserLimit: limit}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
			var c *crowd
			rdb.AddHook(scriptHook(func(send func() error) error { return c.hook(send) }))
			for seed := range uint64(*crowds) {
				c = &crowd{
					T: t, s: s, rdb: rdb, r: rand.New(rand.NewPCG(seed, 1)), limit: limit, runs: map[lifecycle.RunID]job.ID{}, inside: true,
				}
				c.play()
				if t.Failed() {
					t.Fatalf("seed %d, after %s", seed, strings.Join(c.log, "\n"))
				}
			}
		})
	}
}

func (c *crowd) play() {
	must.OK(c, c.rdb.FlushAll(c.Context()).Err())
	must.OK(c, c.s.Prepare(c.Context()))
	c.inside = false
	for range 100 {
		c.happen()
		c.check(c.Context())
		if c.Failed() {
			return
		}
	}
	messages, _, err := c.s.Chats.Messages(c.Context(), "u", "chat", 0, 10000)
	must.OK(c, err)
	seen := map[string]int{}
	for _, m := range messages {
		seen[m.Content]++
	}
	for _, text := range c.said {
		if seen[text] != 1 {
			c.Errorf("%q is in the chat %d times", text, seen[text])
		}
	}
}

// overLimit starts a user's first job, and lets the others wait for its end, on a node that is free.
func overLimit(t *testing.T, s *storetest.Service, jobs int) (first job.Job, others []job.ID) {
	t.Helper()
	must.Get(s.Start(t.Context(), newJob("u")))(t)
	first = take(t, s).Job
	for range jobs {
		others = append(others, must.Get(s.Start(t.Context(), newJob("u")))(t).ID)
		if turn := take(t, s); turn != nil {
			t.Fatalf("%s runs over the limit", turn.Job.ID)
		}
	}
	return first, others
}

// A job that is called to a free place and does not take it leaves it to the next, by whatever door.
func TestAPlaceThatIsNotTakenIsHandedOn(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(ctx context.Context, s *storetest.Service, rdb redis.UniversalClient, called job.ID) error{
		"it is cancelled": func(ctx context.Context, s *storetest.Service, _ redis.UniversalClient, called job.ID) error {
			return s.Cancel(ctx, called, job.Actor{})
		},
		"it has waited for too long": func(ctx context.Context, s *storetest.Service, rdb redis.UniversalClient, called job.ID) error {
			rdb.ZAdd(ctx, "rb:{"+string(called[4:6])+"}:deadlines", redis.Z{Score: 1, Member: "queue|" + string(called)})
			return s.Fire(ctx, lifecycle.ExpiredClock{Clock: lifecycle.QueueClock, Ref: string(called)})
		},
		"its result arrives": func(ctx context.Context, s *storetest.Service, _ redis.UniversalClient, called job.ID) error {
			_, err := s.Accept(ctx, called, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{}`)})
			return err
		},
		"it gives up": func(ctx context.Context, s *storetest.Service, _ redis.UniversalClient, called job.ID) error {
			_, err := s.ReportFailure(ctx, called, "cannot", "I cannot", false)
			return err
		},
		"it is cancelled after it was dequeued": func(ctx context.Context, s *storetest.Service, _ redis.UniversalClient, called job.ID) error {
			_, _, err := s.Dequeue(ctx, store.PartitionOf(called), "n")
			return errors.Join(err, s.Cancel(ctx, called, job.Actor{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBothHooked(t, lifecycle.Options{UserLimit: 1}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
				first, others := overLimit(t, s, 2)
				must.OK(t, s.Cancel(t.Context(), first.ID, job.Actor{}))
				must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n"}))(t)
				must.Equal(t, job.Queued, must.Get(s.Get(t.Context(), others[0]))(t).Phase, "the next one is")
				must.OK(t, leave(t.Context(), s, rdb, others[0]))
				if turn := take(t, s); turn == nil || turn.Job.ID != others[1] {
					t.Errorf("the place is free, and taken by %+v", turn)
				}
			})
		})
	}
}

// A count may change between its load and the commit that relies on it: the decision is made again.
func TestAPlaceThatBecomesFreeMeanwhileIsTaken(t *testing.T) {
	t.Parallel()
	type step func(ctx context.Context, s *storetest.Service, first job.Job, taken lifecycle.QueueEntry) error
	end := func(ctx context.Context, s *storetest.Service, first job.Job, _ lifecycle.QueueEntry) error {
		_, err := s.EndTurn(ctx, lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n", Code: job.CodeCrashed, Message: "x"})
		return err
	}
	start := func(ctx context.Context, s *storetest.Service, _ job.Job, taken lifecycle.QueueEntry) error {
		_, err := s.StartTurn(ctx, lifecycle.Worker{Node: "n"}, taken)
		return err
	}
	for name, row := range map[string]struct{ command, between step }{
		"a turn ends while another job finds that it is over the limit":             {start, end},
		"a job finds that it is over the limit while the turn ends that leaves one": {end, start},
	} {
		t.Run(name, func(t *testing.T) {
			onBothHooked(t, lifecycle.Options{UserLimit: 1}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
				must.Get(s.Start(t.Context(), newJob("u")))(t)
				first := take(t, s).Job
				second := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
				taken, _, err := s.Dequeue(t.Context(), store.PartitionOf(second), "n")
				must.OK(t, err)
				var done atomic.Bool
				rdb.AddHook(scriptHook(func(send func() error) error {
					if done.CompareAndSwap(false, true) {
						must.OK(t, row.between(t.Context(), s, first, taken))
					}
					return send()
				}))
				must.OK(t, row.command(t.Context(), s, first, taken))
				now := must.Get(s.Get(t.Context(), second))(t)
				if now.State != job.Running && take(t, s) == nil {
					t.Errorf("nothing runs, and the job is %s, %s", now.State, now.Phase)
				}
			})
		})
	}
}
