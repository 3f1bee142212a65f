package store

import (
	"context"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// dueLease is how long who leased a deadline has for firing it.
const dueLease = 5 * time.Second

// LostRun is a run of an action whose server gives no sign of life.
type LostRun struct {
	Run lifecycle.RunID
	Of  job.ID
}

// Due leases the deadlines of a partition that have passed, and the runs of actions that
// give no sign of life. next is how long until the next deadline passes; negative when
// none is set. What is not fired within the lease is due again.
func (s *Store) Due(ctx context.Context, p Partition) (due []lifecycle.Due, lost []LostRun, next time.Duration, err error) {
	answer, jumped, err := s.runTimed(ctx, s.scripts.due, p, toMillis(dueLease), 100)
	if err != nil || jumped { // then it is asked again at once
		return nil, nil, 0, err
	}
	parts := answer.([]any)
	texts := stringsOf(parts[1:])
	for i := 0; i+2 < len(texts); i += 3 {
		if texts[i] == "acting" {
			lost = append(lost, LostRun{lifecycle.RunID(texts[i+1]), job.ID(texts[i+2])})
			continue
		}
		clock, ref, _ := strings.Cut(texts[i+1], "|")
		due = append(due, lifecycle.Due{Clock: lifecycle.Clock(clock), Ref: ref})
	}
	return due, lost, time.Duration(parts[0].(int64)) * time.Millisecond, nil
}
