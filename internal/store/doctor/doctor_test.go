package doctor_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

const user = "u1"

// jobs are one job of each sort: with a limit of two, two of them hold a worker, one waits for
// these and one for a worker.
type jobs struct {
	ended, asking, running, waiting, queued job.ID
	question                                job.CheckpointID
	// place is where they all are, rb:{0a}:
	place string
}

func setUp(t *testing.T, s *storetest.Service) jobs {
	t.Helper()
	ctx := t.Context()
	create := func(tags ...string) job.Job {
		t.Helper()
		j, err := s.Start(ctx, lifecycle.NewJob{
			Kind: "note", UserID: user, EventPrefix: "note", Input: []byte("{}"), Priority: job.Interactive,
			CallbackTimeout: time.Hour, MaxAttempts: 3, IdempotencyKey: rand.Text(), Tags: tags,
		})
		must.OK(t, err)
		return j
	}
	start := func() job.Job {
		t.Helper()
		j := create()
		taken, ok, err := s.Dequeue(ctx, store.PartitionOf(j.ID), "node")
		if err != nil || !ok {
			t.Fatal("nothing to take", err)
		}
		must.Get(s.StartTurn(ctx, lifecycle.Worker{Node: "node"}, taken))(t)
		return j
	}
	must.Get(s.Nodes.Heartbeat(ctx, "node", "", ""))(t)
	var all jobs
	all.ended = start().ID
	must.OK(t, s.End(ctx, all.ended, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
	must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: all.ended, Turn: 1, Node: "node"}))(t)
	asking := start()
	all.asking = asking.ID
	_, question, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
		RequestID: asking.ID, UserID: user, SessionID: asking.SessionID, Type: job.Confirmation, Message: "Do it?",
		Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d", ApprovalKey: "action:a:1",
	})
	must.OK(t, err)
	all.question = question
	all.running, all.waiting = start().ID, start().ID
	all.queued = create("nightly").ID
	all.place = fmt.Sprintf("rb:{%02x}:", int(store.PartitionOf(all.running)))
	return all
}

// TestEachInconsistencyIsFoundAndMended plants what no rule leaves behind.
func TestEachInconsistencyIsFoundAndMended(t *testing.T) {
	t.Parallel()
	type planting struct {
		plant [][]any
		// found are the problems, and about is part of their keys.
		found []string
		// mended are the problems while mending, where one mended is another less.
		mended []string
	}
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 2}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		all := setUp(t, s)
		gone := string(all.running[:7]) + strings.Repeat("z", 26)
		goneQuestion := "chk_" + string(all.running[4:7]) + strings.Repeat("z", 26)
		d := doctor.New(s.Store, s.Service, slog.New(slog.DiscardHandler))
		if r := examine(t, d, false); r.Found != 0 {
			t.Fatalf("a store in order has %+v", r.Findings)
		}
		const missing, stranger, noJob = "a list misses it", "it does not belong in the list", "it names a job that is gone"
		for name, p := range map[string]planting{
			"a place that nobody holds":          {plant: [][]any{{"SADD", "running:" + user, string(all.ended)}}, found: []string{"a worker is counted, but held by no turn"}},
			"a place of a job that is gone":      {plant: [][]any{{"SADD", "running:" + user, gone}}, found: []string{noJob}},
			"a place that is not counted":        {plant: [][]any{{"SREM", "running:" + user, string(all.asking)}}, found: []string{"a job holds a worker and is not counted", "a job waits for a place, and one is free"}, mended: []string{"a job holds a worker and is not counted"}},
			"a job that waits no more":           {plant: [][]any{{"ZADD", "waiting:" + user, 1, string(all.ended)}}, found: []string{"a job is kept waiting, but not waiting"}},
			"a job that no limit knows":          {plant: [][]any{{"ZREM", "waiting:" + user, string(all.waiting)}}, found: []string{missing}},
			"a job that is in no queue":          {plant: [][]any{{"DEL", "line:" + user}}, found: []string{"a job waits for a worker and is not in the queue"}},
			"a job that no level has":            {plant: [][]any{{"ZADD", "line:" + user, -1, string(all.queued)}}, found: []string{"a job waits for a worker and is not in the queue"}},
			"a user without a turn":              {plant: [][]any{{"DEL", "round:interactive:new"}}, found: []string{"a user with waiting jobs is not in line"}},
			"a job in a queue that has ended":    {plant: [][]any{{"ZADD", "line:" + user, 1, string(all.ended)}}, found: []string{"a job is queued, but not waiting for a worker"}},
			"a job in another user's queue":      {plant: [][]any{{"ZADD", "line:u2", 1e13, string(all.queued)}}, found: []string{"a job is queued, but not waiting for a worker"}},
			"a job that no node has taken":       {plant: [][]any{{"DEL", "line:" + user}, {"XADD", "queue:interactive", "*", "id", string(all.queued)}}, found: []string{"a job waits for a worker and is not in the queue"}},
			"a job missing in the list":          {plant: [][]any{{"ZREM", "jobs", string(all.ended)}}, found: []string{missing}},
			"a job missing in all lists":         {plant: [][]any{{"DEL", "jobs"}, {"DEL", "jobs:" + user}, {"DEL", "ids"}, {"DEL", "kinds"}}, found: slices.Repeat([]string{missing}, 5*3+1+5)},
			"a job in the list of its past":      {plant: [][]any{{"ZADD", "jobs-by:running:note", 1, string(all.ended)}}, found: []string{stranger}},
			"a job missing in the list of a tag": {plant: [][]any{{"ZREM", "jobs-tagged:nightly", string(all.queued)}}, found: []string{missing}},
			"a job in the list of another tag":   {plant: [][]any{{"ZADD", "jobs-tagged:daily:" + user, 1, string(all.queued)}}, found: []string{stranger}},
			"a job that is gone in a list":       {plant: [][]any{{"ZADD", "jobs-by:failed:note:" + user, 1, gone}}, found: []string{noJob}},
			"an id that is none":                 {plant: [][]any{{"ZADD", "jobs", 1, "nonsense"}}, found: []string{noJob}},
			"a question missing in a list":       {plant: [][]any{{"ZREM", "checkpoints-by:open:confirmation", string(all.question)}}, found: []string{missing}},
			"a question in the list of its past": {plant: [][]any{{"ZADD", "checkpoints-by:answered:confirmation", 1, string(all.question)}}, found: []string{stranger}},
			"a question that is gone":            {plant: [][]any{{"ZADD", "checkpoints", 1, goneQuestion}}, found: []string{stranger}},
			"a job without a clock":              {plant: [][]any{{"DEL", "deadlines"}, {"DEL", "housekeeping"}}, found: []string{"no clock runs for a job that is cancelled", "no clock runs for a job that is pending", "no clock runs for a job that is pending"}},
			"a key of a job that is gone":        {plant: [][]any{{"HSET", "idempotency:" + user, "k", gone}}, found: []string{noJob}},
			"what is kept of a job that is gone": {plant: [][]any{{"RPUSH", "audit:" + gone, "{}"}, {"HSET", "change:" + gone, "diff", "{}"}}, found: []string{"it is kept for a job that is gone", "it is kept for a job that is gone"}},
			"a secret of a job that is gone":     {plant: [][]any{{"HSET", "secret:" + gone, "secret", "s"}}, found: []string{"it is kept for a job that is gone"}},
			"a node that nobody knows":           {plant: [][]any{{"ZREM", "rb:{00}:nodes", "node"}}, found: []string{"jobs are held by an unknown node"}},
			"an approval of a job that is gone":  {plant: [][]any{{"HSET", "standing:" + user, "a1", `{"id":"a1","userId":"` + user + `","requestId":"` + gone + `","rule":"Bash"}`}}, found: []string{noJob}},
			"an approval of a job that ended":    {plant: [][]any{{"HSET", "standing:" + user, "a2", `{"id":"a2","userId":"` + user + `","requestId":"` + string(all.ended) + `","rule":"Bash"}`}}, found: []string{"an approval is kept for a job that has ended"}},
			"tries of a task that is done":       {plant: [][]any{{"HSET", "attempts", "webhook|ended|x|1", 3}}, found: []string{"attempts are counted for a finished task"}},
			"a call of a job that has ended":     {plant: [][]any{{"HSET", "calls:" + string(all.ended), "toolu_1", "person||Bash"}, {"HSET", "calls:" + string(all.ended), "toolu_2", "ended||Bash"}}, found: []string{"a tool call of a job that has ended is open"}},
			"a run that is gone":                 {plant: [][]any{{"ZADD", "acting", 1, "run-1"}}, found: []string{"a run of an action is watched, but not running"}},
		} {
			for _, words := range p.plant {
				if key := words[1].(string); !strings.HasPrefix(key, "rb:") {
					words[1] = all.place + key
				}
				must.OK(t, rdb.Do(t.Context(), words...).Err())
			}
			for step, mend := range []bool{false, true} {
				var problems []string
				for _, f := range examine(t, d, mend).Findings {
					must.Equal(t, mend, f.Mended, name, "mended")
					problems = append(problems, f.Problem)
				}
				slices.Sort(problems)
				if mend && p.mended != nil {
					p.found = p.mended
				}
				if want := slices.Sorted(slices.Values(p.found)); !slices.Equal(problems, want) {
					t.Errorf("%s, examined %d times: found %q, want %q", name, step+1, problems, want)
				}
			}
			if r := examine(t, d, false); r.Found != 0 {
				t.Fatalf("%s: after mending there is %+v", name, r.Findings)
			}
		}
	})
}

func examine(t *testing.T, d *doctor.Doctor, mend bool) job.Examination {
	t.Helper()
	return must.Get(d.Examine(t.Context(), mend))(t)
}

// TestALostPlaceIsGivenToTheJobThatWaits leaves a user's places taken by jobs that are
// gone: the user's next jobs would wait for ever.
func TestALostPlaceIsGivenToTheJobThatWaits(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 2}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		all := setUp(t, s)
		for _, id := range []job.ID{all.asking, all.running} { // as if their records were lost
			must.OK(t, rdb.Del(t.Context(), all.place+"job:"+string(id)).Err())
		}
		d := doctor.New(s.Store, s.Service, slog.New(slog.DiscardHandler))
		examine(t, d, true)
		j, err := s.Get(t.Context(), all.waiting)
		if err != nil || j.Phase != job.Queued {
			t.Errorf("the job that waits is %s/%s, %v", j.State, j.Phase, err)
		}
		must.Equal(t, 0, examine(t, d, true).Found, "findings afterwards")
	})
}

// A turn whose node holds its queue entry no more would be missed by nobody if the node
// died: it is begun again.
func TestATurnWithoutItsEntryIsBegunAgain(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 2}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		all := setUp(t, s)
		must.OK(t, rdb.HSet(t.Context(), all.place+"job:"+string(all.running), "entry", "1-1").Err())
		d := doctor.New(s.Store, s.Service, slog.New(slog.DiscardHandler))
		for _, mend := range []bool{false, true} {
			if r := examine(t, d, mend); len(r.Findings) != 1 || r.Findings[0].Problem != "a turn is running that its node no longer holds" || r.Findings[0].RequestID != all.running {
				t.Fatalf("mend %t: found %+v", mend, r.Findings)
			}
		}
		if j, err := s.Get(t.Context(), all.running); err != nil || j.State != job.Pending {
			t.Errorf("the job is %s: %v", j.State, err)
		}
	})
}

// A job whose next turn does not call Claude stays where a node at a limit of Claude's finds it.
func TestAJobThatNeedsNoClaudeIsInOrder(t *testing.T) {
	t.Parallel()
	for name, record := range map[string][]any{
		"a simulated job":                {"simulated", 1},
		"a job that a person plays":      {"manual", 1},
		"an approved change":             {"hasWorkspace", 1, "reviewed", "approve"},
		"a captured change, not decided": {"submitted", 1, "captured", 1, "claudeTurns", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.OnBoth(t, lifecycle.Options{UserLimit: 2}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
				all := setUp(t, s)
				must.OK(t, rdb.HSet(t.Context(), all.place+"job:"+string(all.queued), record...).Err())
				created := must.Get(s.Get(t.Context(), all.queued))(t).CreatedAt
				must.OK(t, rdb.ZAdd(t.Context(), all.place+"unlimited", redis.Z{Score: float64(created.UnixMilli()), Member: string(all.queued)}).Err())
				d := doctor.New(s.Store, s.Service, slog.New(slog.DiscardHandler))
				if r := examine(t, d, true); r.Found != 0 {
					t.Errorf("it has %+v", r.Findings)
				}
				taken, _, err := s.Queue.DequeueUnlimited(t.Context(), "node")
				must.OK(t, err)
				must.Equal(t, all.queued, taken.JobID)
			})
		})
	}
}
