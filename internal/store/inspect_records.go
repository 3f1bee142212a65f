package store

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// records checks whether jobs and checkpoints have everything that their records imply.
func (i *inspection) records(keys []storedKey) {
	pipe := i.store.rdb.Pipeline()
	var checks []func() // they evaluate what the pipeline has read
	for _, s := range i.subjects(keys) {
		for _, at := range s.listings {
			problem := "a list misses it"
			if at.list == "running:"+s.record.UserID {
				problem = "a job holds a worker and is not counted"
			}
			checks = append(checks, i.implied(pipe, s, problem, at))
		}
		if s.name == "job" && s.exists {
			checks = append(checks, i.ofJob(pipe, s)...)
		}
	}
	_, err := pipe.Exec(i.ctx)
	i.fail(ignoreNil(err))
	for _, check := range checks {
		check()
	}
}

// isPresent returns a function that reports, once the pipeline has run, whether a listing exists. A
// score that is empty is not compared.
func (at listing) isPresent(ctx context.Context, pipe redis.Pipeliner, p Partition) func() bool {
	if at.isSet() {
		return pipe.SIsMember(ctx, p.key(at.list), at.member).Val
	}
	read := pipe.ZScore(ctx, p.key(at.list), at.member)
	return func() bool { return read.Err() == nil && (at.score == "" || at.score == score(scoreTime(read.Val()))) }
}

// implied checks that a record is in one of the places. If not, it is added to the first.
func (i *inspection) implied(pipe redis.Pipeliner, s inspected, problem string, places ...listing) func() {
	present := make([]func() bool, len(places))
	for n, at := range places {
		present[n] = at.isPresent(i.ctx, pipe, s.partition)
	}
	return func() {
		if !slices.ContainsFunc(present, func(is func() bool) bool { return is() }) {
			f := job.Finding{Problem: problem, Key: places[0].list, Member: places[0].member}
			i.found(s, f, func(c *commit) { c.add(places[0]) })
		}
	}
}

// ofJob returns the checks of a job other than for its listings.
func (i *inspection) ofJob(pipe redis.Pipeliner, s inspected) []func() {
	r := s.record
	var checks []func()
	if r.State.Terminal() || r.Owner == "" { // else the end of the process advances the job
		checks = append(checks, i.implied(pipe, s, "no clock runs for a job that is "+string(r.State), i.clocks(r)...))
	}
	if r.IsQueued() {
		checks = append(checks, i.queued(pipe, s))
	}
	if r.Owner != "" && r.Entry != "" {
		entry := lifecycle.QueueEntry{JobID: r.ID, Priority: r.Priority, Entry: r.Entry}
		i.doubt(job.Finding{
			Problem: "a turn is running that its node no longer holds", Key: "queue:" + string(r.Priority), Member: r.Entry,
			RequestID: r.ID,
		}, func(mend bool) (bool, error) { return i.jobs.LoseUnowned(i.ctx, entry, mend) })
	}
	if r.IsOverLimit() && !i.waitingUsers[r.UserID] { // once for each user
		i.waitingUsers[r.UserID] = true
		i.doubt(job.Finding{Problem: "a job waits for a place, and one is free", Key: "waiting", RequestID: r.ID},
			func(mend bool) (bool, error) { return i.jobs.StartWaiting(i.ctx, r.ID, mend) })
	}
	if r.State.Terminal() && r.Owner == "" {
		calls := pipe.HVals(i.ctx, s.partition.key("calls", s.rest))
		checks = append(checks, func() {
			if slices.ContainsFunc(calls.Val(), func(text string) bool { return decodeCall(text).EndsWithJob() }) {
				i.doubt(job.Finding{Problem: "a tool call of a job that has ended is open", Key: "calls", RequestID: r.ID},
					func(mend bool) (bool, error) { return i.jobs.EndCalls(i.ctx, r.ID, mend) })
			}
		})
	}
	return checks
}

// clocks returns the clocks of which one must run, so that something advances the job or deletes it:
// the one of its state, with the time that a fix sets, and then all.
func (i *inspection) clocks(r lifecycle.Record) []listing {
	due, now, all := r.Deadline, i.store.clock.now(), lifecycle.JobClocks // the deadline is what people see
	switch {
	case r.State.Terminal():
		due, all = r.FinishedAt.Add(r.Retention), []lifecycle.Clock{lifecycle.PurgeClock}
	case due.IsZero() && r.State == job.Pending:
		due = now.Add(r.QueueTimeout)
	case due.IsZero():
		due = now.Add(r.CallbackTimeout)
	}
	of := lifecycle.ClockOf(r.State)
	clocks := []listing{{clockSet(of), clockMember(of, string(r.ID)), score(due)}}
	for _, clock := range all {
		clocks = append(clocks, listing{"deadlines", clockMember(clock, string(r.ID)), ""}) // also of an earlier version
	}
	return clocks
}

// queued checks that a worker will find a job that waits for one: it is at its position in a line, and its own
// line has a turn; or a node owns it.
func (i *inspection) queued(pipe redis.Pipeliner, s inspected) func() {
	position := s.record.QueuePosition()
	level, lines := levelOf(position), linesOf(position)
	line := listing{"line:" + lines[0], s.rest, positionScore(position)}
	inLine, inOther := line.isPresent(i.ctx, pipe, s.partition), func() bool { return false }
	if len(lines) > 1 {
		inOther = listing{"line:" + lines[1], s.rest, line.score}.isPresent(i.ctx, pipe, s.partition)
	}
	var lacking []func() // they report what the line's turn lacks
	for _, at := range turnsOf(level, position) {
		has := at.isPresent(i.ctx, pipe, s.partition)
		lacking = append(lacking, func() {
			if !has() {
				f := job.Finding{Problem: "a user with waiting jobs is not in line", Key: at.list, Member: at.member}
				i.found(s, f, func(c *commit) { c.join(level, lines[0], 0) },
					memberGuard("has", s.partition, line.list, line.member), memberGuard("lacks", s.partition, at.list, at.member))
			}
		})
	}
	return func() {
		switch {
		case inLine():
			for _, report := range lacking {
				report()
			}
		case !inOther() && !i.isOwned(s.partition.key("queue", string(position.Priority)), position.JobID):
			f := job.Finding{Problem: "a job waits for a worker and is not in the queue", Key: line.list, Member: line.member}
			i.found(s, f, func(c *commit) { c.enqueue(position, 0) })
		}
	}
}

// maxOwned exceeds the number of jobs of a partition that nodes own at once.
const maxOwned = 100000

// isOwned reports whether a node owns a job's queue entry. A stream entry that no node owns does not count.
func (i *inspection) isOwned(queue string, id job.ID) bool {
	pipe := i.store.rdb.TxPipeline()
	held := pipe.XPendingExt(i.ctx, &redis.XPendingExtArgs{Stream: queue, Group: "workers", Start: "-", End: "+", Count: maxOwned})
	entries := pipe.XRange(i.ctx, queue, "-", "+")
	_, err := pipe.Exec(i.ctx)
	i.fail(err)
	return slices.ContainsFunc(entries.Val(), func(entry redis.XMessage) bool {
		return entry.Values["id"] == string(id) &&
			slices.ContainsFunc(held.Val(), func(h redis.XPendingExt) bool { return h.ID == entry.ID })
	})
}
