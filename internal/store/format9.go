package store

import (
	"slices"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// What stores of format 9 have and format 10 has not. This file goes when format 9 is no longer read; the same is
// true of format9.go in internal/rules/lifecycle.

// unusedKeys are the names of keys that no version since has read.
var unusedKeys = []string{"passed", "confirmed", "failing", "lease"}

// The older forms, in words for people.
const (
	formClock     = "clocks that delete something, among the deadlines of jobs"
	formKey       = "keys that are no longer read"
	formField     = "fields that are no longer read"
	formLine      = "waiting jobs of an API key, in the queue of their user"
	formRecord    = "jobs without the questions at which people have allowed what is not over"
	formPublished = "jobs with what they published in words only"
	formRun       = "runs of actions with their own callback clock"
)

// olderForms reports what a page of keys has in a form of format 9, and rewrites it if the inspection mends.
func (i *inspection) olderForms(page []string) {
	var jobs, runs, marked []storedKey
	for _, text := range page {
		k, ok := parseKey(text)
		switch {
		case !ok:
		case slices.Contains(unusedKeys, k.name):
			fix := func(c *commit) { c.do("DEL", k.key()) }
			i.found(inspected{storedKey: k}, job.Finding{Problem: formKey}, fix, []any{"exists", k.key(), "", ""})
		case k.name == "deadlines":
			i.oldClocks(k)
		case k.name == "job":
			jobs, marked = append(jobs, k), append(marked, k)
		case k.name == "checkpoint", k.name == "session":
			marked = append(marked, k)
		case k.name == "action":
			runs = append(runs, k)
		}
	}
	for _, s := range i.subjects(jobs) {
		i.oldJob(s)
	}
	i.oldRuns(runs)
	i.unusedField(marked, "commit")
}

// unusedField removes a field that no version since has read.
func (i *inspection) unusedField(keys []storedKey, name string) {
	values, err := readEach(i.ctx, i.store, keys, func(pipe redis.Pipeliner, k storedKey) *redis.StringCmd {
		return pipe.HGet(i.ctx, k.key(), name)
	})
	i.fail(ignoreNil(err))
	for n, k := range keys {
		if values[n] != "" {
			fix := func(c *commit) { c.do("HDEL", k.key(), name) }
			i.found(inspected{storedKey: k}, job.Finding{Problem: formField}, fix, []any{"is", k.key(), name, values[n]})
		}
	}
}

// oldClocks moves the clocks that delete something to their own set, as due.lua does with those that are due.
func (i *inspection) oldClocks(k storedKey) {
	for _, clock := range []lifecycle.Clock{lifecycle.PurgeClock, lifecycle.ForgetClock} {
		for cursor := uint64(0); ; {
			members, next, err := i.store.rdb.ZScan(i.ctx, k.key(), cursor, clockMember(clock, "*"), inspectPage).Result()
			i.fail(err)
			for m := range slices.Chunk(members, 2) {
				fix := func(c *commit) {
					c.do("ZADD", c.key(clockSet(clock)), m[1], m[0])
					c.do("ZREM", k.key(), m[0])
				}
				i.found(inspected{storedKey: k}, job.Finding{Problem: formClock}, fix, memberGuard("has", k.partition, k.short(), m[0]))
			}
			if cursor = next; cursor == 0 || i.err != nil {
				break
			}
		}
	}
}

// oldJob rewrites a job's record, and moves it to its own line.
func (i *inspection) oldJob(s inspected) {
	if !s.exists {
		return
	}
	if position := s.record.QueuePosition(); s.record.IsQueued() && position.Key != "" {
		old := listing{"line:" + position.UserID, s.rest, ""}
		fix := func(c *commit) {
			c.do("ZREM", c.key(old.list), old.member)
			c.enqueue(position, 0)
		}
		i.found(s, job.Finding{Problem: formLine}, fix, memberGuard("has", s.partition, old.list, old.member))
	}
	if s.record.PublicSoFar != "" {
		i.doubt(job.Finding{Problem: formPublished}, func(rewrite bool) (bool, error) {
			outcomes, err := i.store.Changes.Finalized(i.ctx, s.record.ID)
			if err != nil {
				return false, err
			}
			return i.jobs.Rewrite(i.ctx, s.record.ID, "", job.PublishedIn(outcomes), rewrite)
		})
	}
	if !s.record.State.Terminal() {
		i.doubt(job.Finding{Problem: formRecord}, func(rewrite bool) (bool, error) {
			return i.jobs.Rewrite(i.ctx, s.record.ID, "", nil, rewrite)
		})
	}
}

// oldRuns rewrites runs of actions, and the jobs of those that are running.
func (i *inspection) oldRuns(keys []storedKey) {
	fields, err := readEach(i.ctx, i.store, keys, func(pipe redis.Pipeliner, k storedKey) *redis.SliceCmd {
		return pipe.HMGet(i.ctx, k.key(), "callbackLeft", "state", "job")
	})
	i.fail(err)
	for n, k := range keys {
		left, state, of := texts(fields[n])[0], texts(fields[n])[1], job.ID(texts(fields[n])[2])
		if left != "" {
			fix := func(c *commit) { c.do("HDEL", k.key(), "callbackLeft") }
			i.found(inspected{storedKey: k}, job.Finding{Problem: formRun}, fix, []any{"is", k.key(), "callbackLeft", left})
		}
		if lifecycle.RunState(state) == lifecycle.RunRunning {
			i.doubt(job.Finding{Problem: formRecord}, func(rewrite bool) (bool, error) {
				return i.jobs.Rewrite(i.ctx, of, lifecycle.RunID(k.rest), nil, rewrite)
			})
		}
	}
}

// linesOf returns the names of the lines that may have a job: its own, and the one into which a server that knows no
// lines of keys has put it.
func linesOf(p lifecycle.QueuePosition) []string {
	if p.Key == "" {
		return []string{p.UserID}
	}
	return []string{lineOf(p), p.UserID}
}

// mostAsked is the number of a job's latest checkpoints among which that of something under way is looked for.
const mostAsked = 20

// allowedEarlier looks for the checkpoint at which what is under way was allowed, if the record lacks it.
func (l *loading) allowedEarlier(j *lifecycle.Job) {
	if !l.st.LacksAllowed() {
		return
	}
	asked := l.pipe.LRange(l.ctx, l.p.key("asked", string(j.ID)), -mostAsked, -1)
	l.after(func() error {
		for _, id := range slices.Backward(asked.Val()) {
			l.checkpoint(job.CheckpointID(id), l.st.AddEarlierAllowed)
		}
		return nil
	})
}

// asWritten returns a run as it is stored. Servers that know only format 9 read CallbackLeft.
func (c *commit) asWritten(r lifecycle.Run) lifecycle.Run {
	if c.format > 9 {
		r.CallbackLeft = 0
	}
	return r
}
