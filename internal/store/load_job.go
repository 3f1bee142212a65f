package store

import (
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"

	"github.com/redis/go-redis/v9"
)

// underJob reads the further data that a query requests from under its job's ID.
func (l *loading) underJob(id job.ID, j *lifecycle.Job) {
	if l.q.Batches {
		l.batches(id, j)
	}
	if l.q.Answers {
		l.answers(id, j)
	}
	if l.q.Run != "" {
		l.readRun(l.q.Run)
	}
	if l.q.Belongings {
		l.belongings(id, j)
	}
}

func (l *loading) belongings(id job.ID, j *lifecycle.Job) {
	all := new(lifecycle.Belongings)
	j.Belongings.Set(all)
	asked := l.pipe.LRange(l.ctx, l.p.key("asked", string(id)), 0, -1)
	runs := l.pipe.LRange(l.ctx, l.p.key("actions", string(id)), 0, -1)
	l.after(func() error {
		for _, c := range asked.Val() {
			l.checkpoint(job.CheckpointID(c), func(c *lifecycle.Checkpoint) {
				if c != nil {
					all.Checkpoints = append(all.Checkpoints, c)
				}
			})
		}
		for _, run := range runs.Val() {
			all.Runs = append(all.Runs, lifecycle.RunID(run))
		}
		return nil
	})
}

// running counts the workers of the user of the query's job, once, if the query requests it.
func (l *loading) running(user string, j *lifecycle.Job) {
	if l.q.Running && j.ID == l.q.Job && !l.userRead {
		l.userRead = true
		running := l.pipe.SCard(l.ctx, l.p.key("running", user))
		l.after(func() error { j.UserRunning.Set(int(running.Val())); return nil })
	}
}

// pendingEntry queries whether a node, or any node if node is empty, has taken an entry of a queue.
func pendingEntry(p Partition, taken lifecycle.QueueEntry, node string) *redis.XPendingExtArgs {
	return &redis.XPendingExtArgs{
		Stream: p.key("queue", string(taken.Priority)), Group: "workers", Start: taken.Entry, End: taken.Entry, Count: 1,
		Consumer: node,
	}
}

// lineRead is how many of the jobs over a user's limit are read: one that still waits is among them
// unless the store was damaged.
const lineRead = 20

// line reads the jobs over a user's limit, if the query requests them.
func (l *loading) line(user string) {
	all := l.st.Waiting.IfLoaded()
	if !l.q.Waiting || all[user] != nil {
		return
	}
	line := new(lifecycle.Line)
	all[user] = line
	ids := l.pipe.ZRange(l.ctx, l.p.key("waiting", user), 0, lineRead-1)
	l.after(func() error {
		line.IDs = ids.Val()
		for _, id := range line.IDs {
			l.job(job.ID(id), false, func(w *lifecycle.Job) {
				if w != nil {
					line.Jobs = append(line.Jobs, w)
				}
			})
		}
		return nil
	})
}

// pending reads the texts of the messages for a job's next turn, and the answers that the running one
// may not have received.
func (l *loading) pending(j *lifecycle.Job) {
	j.Pending.Set(nil)
	j.Unread.Set(nil)
	for _, r := range j.UnreadReplies {
		l.checkpoint(r.Answered, func(c *lifecycle.Checkpoint) {
			if c != nil {
				j.Unread.Set(append(j.Unread.Get(), c.View()))
			}
		})
	}
	if len(j.PendingMessages) == 0 {
		return
	}
	ids := make([]string, len(j.PendingMessages))
	for i, id := range j.PendingMessages {
		ids[i] = strconv.FormatInt(id, 10)
	}
	texts := l.pipe.HMGet(l.ctx, l.p.key("messages", sessionKey(j.UserID, j.SessionID)), ids...)
	l.after(func() error {
		var all []job.Message
		for i, v := range texts.Val() {
			// It may be gone: a session keeps a limited number of messages.
			if m, ok := decodeMessage(v, j.UserID, j.SessionID, j.PendingMessages[i]); ok {
				all = append(all, m)
			}
		}
		j.Pending.Set(all)
		return nil
	})
}

// view reads a job as people see it, with the record that the same round reads.
func (l *loading) view(id job.ID, j *lifecycle.Job, record *redis.MapStringStringCmd) {
	content := readContent(l.ctx, l.pipe, id)
	l.after(func() error {
		view, err := viewOf(j.Record, record.Val(), hashOf(fieldNames(contentFields), content.Val()))
		j.View.Set(view)
		return err
	})
}

// answers reads the answers to a job.
func (l *loading) answers(id job.ID, j *lifecycle.Job) {
	texts := l.pipe.LRange(l.ctx, l.p.key("answers", string(id)), 0, -1)
	l.after(func() error {
		answers, err := decodeEach[job.Checkpoint](texts.Val(), "an answer")
		j.Answers.Set(answers)
		return err
	})
}

// batches counts the batches of a result and finds the requested one.
func (l *loading) batches(id job.ID, j *lifecycle.Job) {
	all := l.pipe.HGetAll(l.ctx, l.p.key("batches", string(id)))
	l.after(func() error {
		found := lifecycle.Batches{Count: len(all.Val())}
		for index, text := range all.Val() {
			b, err := decodeBatch(text)
			if err != nil {
				return err
			}
			found.Items, found.Bytes = found.Items+b.Count, found.Bytes+len(b.Items)
			if index == strconv.Itoa(l.q.Batch) {
				found.Requested = &b
			}
		}
		j.Batches.Set(found)
		return nil
	})
}

func (l *loading) readRun(id lifecycle.RunID) {
	record := l.pipe.HGetAll(l.ctx, l.p.key("action", string(id)))
	lease := l.pipe.ZScore(l.ctx, l.p.key("acting"), string(id))
	l.st.Run.Set(nil)
	l.after(func() error {
		if len(record.Val()) == 0 {
			return nil
		}
		r := &lifecycle.Run{ID: id}
		if err := decodeValues(r, runFields, record.Val()); err != nil {
			return err
		}
		loaded := *r
		r.Loaded = &loaded
		r.Lease = scoreTime(lease.Val())
		l.st.Run.Set(r)
		return nil
	})
}

func scoreTime(ms float64) time.Time { return time.UnixMilli(int64(ms)).UTC() }
