package store

import (
	"encoding/json"
	"strconv"
	"time"

	"ringback/internal/approval"
	"ringback/internal/job"
	"ringback/internal/lifecycle"

	"github.com/redis/go-redis/v9"
)

// underJob reads the further data that a query requests from under its job's ID.
func (l *loading) underJob(id job.ID, j *lifecycle.Job) {
	if l.q.Batches {
		l.batches(id, j)
	}
	if l.q.Steers {
		l.steers(id, j)
	}
	if l.q.Running {
		l.unused(id, j)
	}
	if l.q.ApprovalKey != "" {
		l.approval(id, j, l.q.ApprovalKey)
	}
	if l.q.Run != "" {
		l.readRun(l.q.Run)
	}
	if l.q.Everything {
		asked := l.pipe.LRange(l.ctx, l.p.key("asked", string(id)), 0, -1)
		runs := l.pipe.LRange(l.ctx, l.p.key("actions", string(id)), 0, -1)
		l.after(func() error {
			for _, c := range asked.Val() {
				l.checkpoint(job.CheckpointID(c), func(c *lifecycle.Checkpoint) {
					if c != nil {
						j.Checkpoints = append(j.Checkpoints, c)
					}
				})
			}
			for _, run := range runs.Val() {
				j.Runs = append(j.Runs, lifecycle.RunID(run))
			}
			return nil
		})
	}
}

// ofUser reads what a query requests about the user of its job.
func (l *loading) ofUser(chat chatOf, j *lifecycle.Job) {
	l.userRead = true
	if l.q.Running {
		running := l.pipe.SCard(l.ctx, l.p.key("running", chat.user))
		l.after(func() error { j.UserRunning = int(running.Val()); return nil })
	}
	if l.q.Waiting {
		l.waiting(chat.user)
	}
	if l.q.Entry.Entry != "" {
		held := l.pipe.XPendingExt(l.ctx, pendingEntry(l.p, l.q.Entry, l.q.EntryOwner))
		l.after(func() error { l.st.EntryOwned = len(held.Val()) > 0; return nil })
	}
	if l.q.Pending {
		l.pending(chat, j)
	}
}

// pendingEntry queries whether a node, or any node if node is empty, has taken an entry of a queue.
func pendingEntry(p Partition, taken lifecycle.QueueEntry, node string) *redis.XPendingExtArgs {
	return &redis.XPendingExtArgs{
		Stream: p.key("queue", string(taken.Priority)), Group: "workers", Start: taken.Entry, End: taken.Entry, Count: 1,
		Consumer: node,
	}
}

// maxWaiting is how many of the jobs over a user's limit are read: one that still waits is among them
// unless the store was damaged.
const maxWaiting = 20

func (l *loading) waiting(user string) {
	ids := l.pipe.ZRange(l.ctx, l.p.key("waiting", user), 0, maxWaiting-1)
	l.after(func() error {
		for _, id := range ids.Val() {
			l.job(job.ID(id), false, func(w *lifecycle.Job) {
				if w != nil {
					l.st.Waiting = append(l.st.Waiting, w)
				}
			})
		}
		return nil
	})
}

func (l *loading) pending(chat chatOf, j *lifecycle.Job) {
	ids := l.pipe.LRange(l.ctx, l.p.key("told", string(l.q.Job)), 0, -1)
	l.after(func() error {
		if len(ids.Val()) == 0 {
			return nil
		}
		texts := l.pipe.HMGet(l.ctx, l.p.key("messages", sessionKey(chat.user, chat.session)), ids.Val()...)
		l.after(func() error {
			for _, v := range texts.Val() {
				text, _ := v.(string)
				var m job.Message
				if json.Unmarshal([]byte(text), &m) == nil { // it may be gone: a session keeps a limited number of messages
					j.Pending = append(j.Pending, m)
				}
			}
			return nil
		})
		return nil
	})
}

// batches counts the batches of a result and finds the requested one.
func (l *loading) batches(id job.ID, j *lifecycle.Job) {
	all := l.pipe.HGetAll(l.ctx, l.p.key("batches", string(id)))
	l.after(func() error {
		j.Batches = len(all.Val())
		for index, text := range all.Val() {
			b, err := decodeBatch(text)
			if err != nil {
				return err
			}
			j.BatchItems += b.Count
			if index == strconv.Itoa(l.q.Batch) {
				j.Batch = &b
			}
		}
		return nil
	})
}

func (l *loading) steers(id job.ID, j *lifecycle.Job) {
	texts := l.pipe.LRange(l.ctx, l.p.key("steers", string(id)), 0, -1)
	l.after(func() error {
		queued, err := unmarshalAll[lifecycle.QueuedSteer](texts.Val())
		j.Queued = queued
		return err
	})
}

// unused reads the checkpoints of decisions that are not used yet.
func (l *loading) unused(id job.ID, j *lifecycle.Job) {
	texts := l.pipe.HVals(l.ctx, l.p.key("approvals", string(id)))
	l.after(func() error {
		decisions, err := unmarshalAll[approval.Decision](texts.Val())
		for _, d := range decisions {
			j.Unused = append(j.Unused, d.Checkpoint)
		}
		return err
	})
}

// approval reads the decision on an operation, with its checkpoint, and the operation's run.
func (l *loading) approval(id job.ID, j *lifecycle.Job, key string) {
	decision := l.pipe.HGet(l.ctx, l.p.key("approvals", string(id)), key)
	run := l.pipe.HGet(l.ctx, l.p.key("runs", string(id)), key)
	l.after(func() error {
		j.KnownRun = lifecycle.RunID(run.Val())
		if decision.Val() == "" {
			return nil
		}
		j.Approval = new(approval.Decision)
		if err := json.Unmarshal([]byte(decision.Val()), j.Approval); err != nil {
			return err
		}
		l.checkpoint(j.Approval.Checkpoint, func(c *lifecycle.Checkpoint) { l.st.Earlier = c })
		return nil
	})
}

func (l *loading) readRun(id lifecycle.RunID) {
	record := l.pipe.HGetAll(l.ctx, l.p.key("action", string(id)))
	lease := l.pipe.ZScore(l.ctx, l.p.key("acting"), string(id))
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
		l.st.Run, l.st.RunLease = r, scoreTime(lease.Val())
		return nil
	})
}

func scoreTime(ms float64) time.Time { return time.UnixMilli(int64(ms)).UTC() }
