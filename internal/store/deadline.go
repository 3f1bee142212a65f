package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// dueLease is the time within which a node must fire a deadline that it leased.
const dueLease = 5 * time.Second

// LostRun is a run of an action with an expired lease.
type LostRun struct {
	Run lifecycle.RunID
	Of  job.ID
}

// Due leases the deadlines of a partition that have passed, and the runs of actions whose lease has
// expired. next is the time until the next deadline; negative if none is set. A deadline that is
// not fired within the lease is due again.
func (s *Store) Due(
	ctx context.Context, p Partition,
) (due []lifecycle.ExpiredClock, lost []LostRun, next time.Duration, err error) {
	answer, jumped, err := s.runTimed(ctx, s.scripts.due, p, toMillis(dueLease), 100)
	if err != nil || jumped { // after a jump, the caller asks again at once
		return nil, nil, 0, err
	}
	parts := answer.([]any)
	for found := range slices.Chunk(texts(parts[1:]), 3) {
		if found[0] == "acting" {
			lost = append(lost, LostRun{lifecycle.RunID(found[1]), job.ID(found[2])})
			continue
		}
		clock, ref, _ := strings.Cut(found[1], "|")
		due = append(due, lifecycle.ExpiredClock{Clock: lifecycle.Clock(clock), Ref: ref})
	}
	return due, lost, time.Duration(parts[0].(int64)) * time.Millisecond, nil
}
