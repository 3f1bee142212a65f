package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

const (
	// mostDue is the number of members of each set that are listed at once.
	mostDue = 100
	// firedAtOnce is the number of them that a node fires before it lists again: other nodes fire too, and
	// other partitions wait.
	firedAtOnce = 16
	// refireAfter is the delay after which what could not be fired is tried again.
	refireAfter = 5 * time.Second
)

// Due is an expired clock, or a run of an action with an expired lease.
type Due struct {
	set, member string
	// job is the job of a run.
	job job.ID
}

// withGrace returns the arguments of due.lua that name what the grace period applies to: leases, and the clocks
// that run while Claude, a worker or a person has to do something.
func withGrace() []any {
	args := []any{"acting"}
	for _, clock := range lifecycle.WaitingClocks {
		args = append(args, string(clock))
	}
	return args
}

// Due lists what is due in a partition. What deletes something is listed only if nothing else is due. next is
// the time until more is due; negative if nothing is set.
func (ds Deadlines) Due(ctx context.Context, p Partition) (due []Due, next time.Duration, err error) {
	answer, jumped, err := ds.s.runTimed(ctx, ds.s.scripts.due, p, append([]any{mostDue}, withGrace()...)...)
	if err != nil || jumped { // after a jump, the caller asks again at once
		return nil, 0, err
	}
	parts := answer.([]any)
	for found := range slices.Chunk(texts(parts[1:]), 3) {
		due = append(due, Due{found[0], found[1], job.ID(found[2])})
	}
	return due, time.Duration(parts[0].(int64)) * time.Millisecond, nil
}

func (d Due) fire(ctx context.Context, jobs *lifecycle.Service) error {
	if d.set == "acting" {
		return jobs.LoseAction(ctx, lifecycle.RunID(d.member), d.job)
	}
	clock, ref, _ := strings.Cut(d.member, "|")
	return jobs.Fire(ctx, lifecycle.ExpiredClock{Clock: lifecycle.Clock(clock), Ref: ref})
}

// FireDue fires some of what is due in a partition, in random order, so that nodes do not fire the same. It
// returns the time until more is due; negative if nothing is set. What cannot be fired is postponed, so that
// the rest does not wait for it.
func (ds Deadlines) FireDue(ctx context.Context, p Partition, jobs *lifecycle.Service) (next time.Duration, err error) {
	all, next, err := ds.Due(ctx, p)
	if err != nil {
		return 0, err
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // no one gains by guessing it
	if len(all) > firedAtOnce {
		all, next = all[:firedAtOnce], 0
	}
	for _, d := range all {
		err := d.fire(ctx, jobs)
		if job.HasKind(err, job.Unavailable) || ctx.Err() != nil {
			return 0, err
		}
		if err != nil {
			ds.s.log.Error("could not fire a deadline, retrying later", "clock", d.member, "error", err)
			err = ds.s.renew(ctx, p, d.set, d.member, refireAfter)
		}
		if err != nil {
			return 0, err
		}
	}
	return next, nil
}

// clockSet returns the set that contains clocks. Those that delete something have their own: they come last.
func clockSet(clocks ...lifecycle.Clock) string {
	if slices.Contains(clocks, lifecycle.PurgeClock) || slices.Contains(clocks, lifecycle.ForgetClock) {
		return "housekeeping"
	}
	return "deadlines"
}
