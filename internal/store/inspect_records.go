package store

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// check evaluates what the pipeline has read; it returns nil if nothing is wrong.
type check func() *finding

// records checks whether jobs and checkpoints have everything that their records imply.
func (i *inspection) records(keys []storedKey) {
	subjects := i.subjects(keys)
	pipe := i.store.rdb.Pipeline()
	checks := map[storedKey][]check{}
	for k, s := range subjects {
		for _, p := range s.listings {
			checks[k] = append(checks[k], i.listed(pipe, k.partition, p))
		}
		if k.name == "job" && s.exists {
			checks[k] = append(checks[k], i.ofJob(pipe, k.partition, &s.record)...)
		}
	}
	_, err := pipe.Exec(i.ctx)
	i.fail(ignoreNil(err))
	for k, s := range subjects {
		for _, c := range checks[k] {
			if f := c(); f != nil {
				f.partition, f.RequestID, f.guards = k.partition, s.record.ID, s.guards
				i.found(*f)
			}
		}
	}
}

// listed checks that a record is listed.
func (i *inspection) listed(pipe redis.Pipeliner, p Partition, at listing) check {
	key, problem := p.key(at.list), "a list misses it"
	if strings.HasPrefix(at.list, "running:") {
		problem = "a job holds a worker and is not counted"
	}
	missing := &finding{
		Finding: job.Finding{Problem: problem, Key: at.list, Member: at.member},
		fix:     func(c *commit) { c.add(at) },
	}
	if at.score == "" {
		read := pipe.SIsMember(i.ctx, key, at.member)
		return func() *finding { return unless(read.Val(), missing) }
	}
	read := pipe.ZScore(i.ctx, key, at.member)
	return func() *finding { return unless(read.Err() == nil, missing) }
}

func unless(fine bool, f *finding) *finding {
	if fine {
		return nil
	}
	return f
}

// ofJob returns the checks of a job other than for its listings.
func (i *inspection) ofJob(pipe redis.Pipeliner, p Partition, r *lifecycle.Record) []check {
	checks := []check{i.clocks(pipe, p, r)}
	if r.IsQueued() {
		checks = append(checks, i.queued(pipe, p, r))
	}
	if r.Owner != "" && r.Entry != "" {
		checks = append(checks, i.owned(pipe, p, lifecycle.QueueEntry{JobID: r.ID, Priority: r.Priority, Entry: r.Entry}))
	}
	if r.State.Terminal() && r.Owner == "" {
		checks = append(checks, i.calls(pipe, p, r.ID))
	}
	return checks
}

// clocks checks that something will advance a job or delete it: a clock, or the end of its process.
// If nothing will, the fix sets the clock of its state.
func (i *inspection) clocks(pipe redis.Pipeliner, p Partition, r *lifecycle.Record) check {
	clock, of := lifecycle.ClockOf(r.State), lifecycle.JobClocks
	due := i.store.clock.now().Add(r.CallbackTimeout)
	switch {
	case r.State.Terminal():
		of, due = []lifecycle.Clock{lifecycle.PurgeClock}, r.FinishedAt.Add(r.Retention)
	case !r.Deadline.IsZero():
		due = r.Deadline // this is the deadline that people see
	case r.State == job.Pending:
		due = i.store.clock.now().Add(r.QueueTimeout)
	}
	reads := make([]*redis.FloatCmd, len(of))
	for n, c := range of {
		reads[n] = pipe.ZScore(i.ctx, p.key("deadlines"), clockMember(c, string(r.ID)))
	}
	return func() *finding {
		runs := slices.ContainsFunc(reads, func(read *redis.FloatCmd) bool { return read.Err() == nil })
		member := clockMember(clock, string(r.ID))
		return unless(runs || !r.State.Terminal() && r.Owner != "", &finding{
			Finding: job.Finding{Problem: "no clock runs for a job that is " + string(r.State), Key: "deadlines", Member: member},
			fix:     func(c *commit) { c.do("ZADD", c.key("deadlines"), score(due), member) },
		})
	}
}

// queued checks that a worker will find a job that waits for one: it is at its position in its user's
// line, or a node has taken it.
func (i *inspection) queued(pipe redis.Pipeliner, p Partition, r *lifecycle.Record) check {
	position := r.QueuePosition()
	read := pipe.ZScore(i.ctx, p.key("line", r.UserID), string(r.ID))
	return func() *finding {
		isInLine := read.Err() == nil && strconv.FormatInt(int64(read.Val()), 10) == positionScore(position)
		return unless(isInLine || i.isTaken(p.key("queue", string(r.Priority)), r.ID), &finding{
			Finding: job.Finding{
				Problem: "a job waits for a worker and is not in the queue", Key: "line:" + r.UserID, Member: string(r.ID),
			},
			fix: func(c *commit) { c.enqueue(position) },
		})
	}
}

// mostTaken exceeds the number of jobs of a partition that nodes have taken at once.
const mostTaken = 100000

// isTaken reports whether a node has taken a job. A stream entry that no node owns does not count.
func (i *inspection) isTaken(queue string, id job.ID) bool {
	pipe := i.store.rdb.TxPipeline()
	held := pipe.XPendingExt(i.ctx, &redis.XPendingExtArgs{Stream: queue, Group: "workers", Start: "-", End: "+", Count: mostTaken})
	entries := pipe.XRange(i.ctx, queue, "-", "+")
	_, err := pipe.Exec(i.ctx)
	i.fail(err)
	return slices.ContainsFunc(entries.Val(), func(entry redis.XMessage) bool {
		return entry.Values["id"] == string(id) &&
			slices.ContainsFunc(held.Val(), func(h redis.XPendingExt) bool { return h.ID == entry.ID })
	})
}

// owned leaves it to the rules of jobs to lose a turn whose queue entry no node owns.
func (i *inspection) owned(pipe redis.Pipeliner, p Partition, taken lifecycle.QueueEntry) check {
	held := pipe.XPendingExt(i.ctx, pendingEntry(p, taken, ""))
	return func() *finding {
		if held.Err() == nil && len(held.Val()) == 0 {
			i.doubt(job.Finding{
				Problem: "a turn runs whose node holds it no more", Key: "queue:" + string(taken.Priority), Member: taken.Entry,
				RequestID: taken.JobID,
			}, func(mend bool) (bool, error) { return i.jobs.LoseUnowned(i.ctx, taken, mend) })
		}
		return nil
	}
}

// calls leaves a tool call that nothing will end to the rules of jobs: its job has ended.
func (i *inspection) calls(pipe redis.Pipeliner, p Partition, id job.ID) check {
	read := pipe.HVals(i.ctx, p.key("calls", string(id)))
	return func() *finding {
		if slices.ContainsFunc(read.Val(), func(text string) bool { return decodeCall(text).EndsWithJob() }) {
			i.doubt(job.Finding{
				Problem: "a tool call of a job that has ended is open", Key: "calls", RequestID: id,
			}, func(mend bool) (bool, error) {
				return i.jobs.EndCalls(i.ctx, id, mend)
			})
		}
		return nil
	}
}

// orphans finds data kept for jobs that are gone.
func (i *inspection) orphans(keys []storedKey) {
	records := make([]storedKey, len(keys))
	for n, k := range keys {
		id, _, _ := strings.Cut(k.rest, ":")
		records[n] = storedKey{k.partition, "job", id}
	}
	subjects := i.subjects(records)
	for n, k := range keys {
		s := subjects[records[n]]
		if s.exists {
			continue
		}
		i.found(finding{
			Finding:   job.Finding{Problem: "it is kept for a job that is gone", Key: k.short(), RequestID: job.ID(records[n].rest)},
			partition: k.partition, guards: s.guards, fix: func(c *commit) { c.do("DEL", k.key()) },
			still: func() (bool, error) { n, err := i.store.rdb.Exists(i.ctx, k.key()).Result(); return n > 0, err },
		})
	}
}

// rounds checks whether a user with a line takes part in the rounds of its levels.
func (i *inspection) rounds(k storedKey) {
	for n, l := range levels {
		misses := func() (bool, error) {
			pipe := i.store.rdb.TxPipeline() // atomic: a take moves the user in between
			jobs := pipe.ZRangeByScore(i.ctx, k.key(), levelRange(n))
			turn := pipe.ZScore(i.ctx, k.partition.key("round", l.round()), k.rest)
			_, err := pipe.Exec(i.ctx)
			return len(jobs.Val()) > 0 && isNil(turn.Err()), ignoreNil(err)
		}
		i.found(finding{
			Finding:   job.Finding{Problem: "a user whose jobs wait has no turn", Key: "round:" + l.round(), Member: k.rest},
			partition: k.partition, still: misses,
			fix: func(c *commit) {
				c.join(l, k.rest)
				c.do("PUBLISH", c.key("wake"), l.priority)
			},
		})
	}
}
