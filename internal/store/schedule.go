package store

import (
	"context"
	"sync"
	"time"
)

// Schedule decides when to poll which partition: when something there is due, or when new work was
// announced. So an idle node sends no requests.
type Schedule struct {
	mu   sync.Mutex
	at   [Partitions]time.Time
	wake chan struct{}
}

// idlePollInterval is the interval for polling a partition without any news of it, in case a store was
// replaced under its clients, for example.
const idlePollInterval = time.Minute

// NewSchedule returns a schedule in which every partition is due at once.
func NewSchedule() *Schedule { return &Schedule{wake: make(chan struct{}, 1)} }

// Now schedules a partition to be polled now, after those that have been due for longer.
func (s *Schedule) Now(p Partition) { s.In(p, 0) }

// All schedules every partition to be polled now, because messages may have been missed.
func (s *Schedule) All() {
	for p := range Partition(Partitions) {
		s.Now(p)
	}
}

// In schedules a partition to be polled after a while, unless an earlier time is set. A negative
// duration means that nothing is known to be due.
func (s *Schedule) In(p Partition, after time.Duration) {
	if after < 0 || after > idlePollInterval {
		after = idlePollInterval
	}
	s.set(p, time.Now().Add(after))
}

func (s *Schedule) set(p Partition, at time.Time) {
	s.mu.Lock()
	sooner := at.Before(s.at[p])
	if sooner {
		s.at[p] = at
	}
	s.mu.Unlock()
	if !sooner {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run polls partitions when something is due, until ctx ends. pollFunc returns how long until more is
// due there, negative if nothing is known to be due. If it fails, it is called again a second
// later: the store is unavailable, and due work stays in it.
func (s *Schedule) Run(ctx context.Context, pollFunc func(context.Context, Partition) (time.Duration, error)) {
	for {
		p, ok := s.Next(ctx)
		if !ok {
			return
		}
		next, err := pollFunc(ctx, p)
		switch {
		case err != nil:
			next = time.Second
		case next >= 0:
			next += time.Millisecond // so that it is due in Redis, too
		}
		s.In(p, next)
	}
}

// Next waits for the next partition to poll; false if ctx has ended. The caller must then schedule
// the partition's next poll with In.
func (s *Schedule) Next(ctx context.Context) (Partition, bool) {
	for {
		p, wait := s.first()
		if wait <= 0 {
			return p, ctx.Err() == nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, false
		case <-s.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// first returns the partition to poll first, and in how long. If that is now, it is marked as
// polled.
func (s *Schedule) first() (Partition, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := Partition(0)
	for p, at := range s.at {
		if at.Before(s.at[next]) {
			next = Partition(p)
		}
	}
	wait := time.Until(s.at[next])
	if wait <= 0 {
		s.at[next] = time.Now().Add(idlePollInterval)
	}
	return next, wait
}
