package store

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// TaskKind says what is to be done outside of Redis.
type TaskKind string

// The kinds of tasks. Each names, with its id, where its facts stand.
const (
	TaskUnderstand TaskKind = "understand" // ask Claude what a reply means, see ReadingOf
	TaskRead       TaskKind = "read"       // use what Claude made of a reply; the id is the job that read it
	TaskContinue   TaskKind = "continue"   // let a job follow one that has ended
	TaskResume     TaskKind = "resume"     // tell whoever asked from outside what the reply is
	TaskWebhook    TaskKind = "webhook"    // tell a webhook of a job, see NoticeOf
	TaskSlack      TaskKind = "slack"      // tell a Slack channel of a job, see NoticeOf
)

// Task is something to be done outside of Redis, at least once.
type Task struct {
	Kind TaskKind
	// Ref is what it is about: a job or a checkpoint.
	Ref string
	// Attempt counts from 1.
	Attempt int
}

// TakeTasks takes the tasks of a partition that are due. Each is taken again
// unless FinishTask or PostponeTask says otherwise within the lease. It also
// returns how long until the next is due; negative when there is none.
func (s *Store) TakeTasks(ctx context.Context, p Partition, lease time.Duration, limit int) ([]Task, time.Duration, error) {
	answer, err := s.run(ctx, s.scripts.take, p, toMillis(lease), limit)
	if err != nil {
		return nil, 0, err
	}
	parts := stringsOf(answer)
	tasks := make([]Task, 0, len(parts)/2)
	for i := 0; i+1 < len(parts); i += 2 {
		kind, ref, _ := strings.Cut(parts[i], "|")
		tasks = append(tasks, Task{TaskKind(kind), ref, atoi(parts[i+1])})
	}
	return tasks, time.Duration(atoi(parts[len(parts)-1])) * time.Millisecond, nil
}

func (t Task) member() string { return string(t.Kind) + "|" + t.Ref }

// FinishTask removes a task that is done, or given up.
func (s *Store) FinishTask(ctx context.Context, p Partition, t Task) error {
	pipe := s.rdb.TxPipeline()
	pipe.ZRem(ctx, p.key("outbox"), t.member())
	pipe.HDel(ctx, p.key("attempts"), t.member())
	_, err := pipe.Exec(ctx)
	return storeError(err)
}

// PostponeTask lets a task be taken again after a while.
func (s *Store) PostponeTask(ctx context.Context, p Partition, t Task, after time.Duration) error {
	now, err := s.rdb.Time(ctx).Result()
	if err != nil {
		return storeError(err)
	}
	return storeError(s.rdb.ZAddXX(ctx, p.key("outbox"), redis.Z{Score: float64(now.Add(after).UnixMilli()), Member: t.member()}).Err())
}

// Reads returns the reply that a job was made to read.
func (s *Store) Reads(ctx context.Context, id job.ID) (Reading, error) {
	text, found, err := s.field(ctx, "job", id, "reads")
	if err != nil {
		return Reading{}, err
	}
	if !found {
		return Reading{}, NotFound(id)
	}
	return readingOf(text), nil
}

// ReadingOf reads the reference of a TaskUnderstand.
func ReadingOf(t Task) Reading { return readingOf(t.Ref) }

// Notice is what the outside is told of a job: that it asks, or that it has ended.
type Notice struct {
	// Checkpoint is what it asks; empty for its end.
	Checkpoint job.CheckpointID
	// Job has ended; empty for a question.
	Job job.ID
}

// NoticeOf reads the reference of a TaskWebhook or TaskSlack.
func NoticeOf(t Task) Notice {
	what, ref, _ := strings.Cut(t.Ref, "|")
	if what == "opened" {
		return Notice{Checkpoint: job.CheckpointID(ref)}
	}
	id, _, _ := strings.Cut(ref, "|")
	return Notice{Job: job.ID(id)}
}
