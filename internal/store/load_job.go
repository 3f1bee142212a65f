package store

import (
	"encoding/json"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// underJob reads what a query asks for beside a job.
func (l *loading) underJob(j *lifecycle.Job) {
	id := string(j.ID)
	if l.q.Running {
		running := l.pipe.SCard(l.ctx, l.p.key("running", j.UserID))
		l.after(func() error { j.UserRunning = int(running.Val()); return nil })
	}
	if l.q.Waiting {
		l.waiting(j)
	}
	if l.q.Pending && j.PendingMessages > 0 {
		l.pending(j)
	}
	if l.q.Batches {
		l.batches(j)
	}
	if l.q.Steers {
		l.steers(j)
	}
	if l.q.ApprovalKey != "" {
		l.approval(j, l.q.ApprovalKey)
	}
	if l.q.Run != "" {
		l.readRun(l.q.Run)
	}
	if l.q.Everything {
		asked, runs := l.pipe.LRange(l.ctx, l.p.key("asked", id), 0, -1), l.pipe.LRange(l.ctx, l.p.key("actions", id), 0, -1)
		l.after(func() error {
			j.Checkpoints = checkpointIDs(asked.Val())
			for _, run := range runs.Val() {
				j.Runs = append(j.Runs, lifecycle.RunID(run))
			}
			return nil
		})
	}
}

// maxWaiting is how many of the jobs over a user's limit are looked at: of those that
// wait no more, mostly none is left there.
const maxWaiting = 20

func (l *loading) waiting(j *lifecycle.Job) {
	ids := l.pipe.ZRange(l.ctx, l.p.key("waiting", j.UserID), 0, maxWaiting-1)
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

func (l *loading) pending(j *lifecycle.Job) {
	ids := l.pipe.LRange(l.ctx, l.p.key("told", string(j.ID)), 0, -1)
	l.after(func() error {
		if len(ids.Val()) == 0 {
			return nil
		}
		texts := l.pipe.HMGet(l.ctx, l.p.key("messages", sessionKey(j.UserID, j.SessionID)), ids.Val()...)
		l.after(func() error {
			for _, v := range texts.Val() {
				text, _ := v.(string)
				var m job.Message
				if json.Unmarshal([]byte(text), &m) == nil { // it may be gone: a session keeps only so many
					j.Pending = append(j.Pending, m)
				}
			}
			return nil
		})
		return nil
	})
}

// batches counts the batches of a result, and finds the one that is asked for.
func (l *loading) batches(j *lifecycle.Job) {
	all := l.pipe.HGetAll(l.ctx, l.p.key("batches", string(j.ID)))
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

func (l *loading) steers(j *lifecycle.Job) {
	texts := l.pipe.LRange(l.ctx, l.p.key("steers", string(j.ID)), 0, -1)
	l.after(func() error {
		for _, text := range texts.Val() {
			steer, err := decodeSteer(text)
			if err != nil {
				return err
			}
			j.Queued = append(j.Queued, steer)
		}
		return nil
	})
}

// approval reads the decision on an operation, with its checkpoint, and the run of it.
func (l *loading) approval(j *lifecycle.Job, key string) {
	id := string(j.ID)
	decision := l.pipe.HGet(l.ctx, l.p.key("approvals", id), key)
	run := l.pipe.HGet(l.ctx, l.p.key("runs", id), key)
	earlier := l.pipe.HGet(l.ctx, l.p.key("job", id), "run:"+key) // where earlier versions kept it
	l.after(func() (err error) {
		j.KnownRun = lifecycle.RunID(run.Val() + earlier.Val())
		if decision.Val() == "" {
			return nil
		}
		if j.Approval, err = decodeApproval(decision.Val()); err == nil {
			l.checkpoint(j.Approval.Checkpoint, func(c *lifecycle.Checkpoint) { l.st.Earlier = c })
		}
		return err
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

// clocksOf reads the scores of clocks, in their order; 0 is one that does not run.
func clocksOf(scores []float64, clocks ...lifecycle.Clock) map[lifecycle.Clock]time.Time {
	running := make(map[lifecycle.Clock]time.Time, len(clocks))
	for i, score := range scores {
		if score > 0 {
			running[clocks[i]] = scoreTime(score)
		}
	}
	return running
}

func scoreTime(ms float64) time.Time { return time.UnixMilli(int64(ms)).UTC() }
