package store

import (
	"context"
	"sync"
	"time"
)

// Schedule says when to look at which partition: when something there is due, or somebody
// has told of something new. So a node asks for nothing while nothing happens.
type Schedule struct {
	mu   sync.Mutex
	at   [Partitions]time.Time
	wake chan struct{}
}

// lookAnyway is how often a partition is looked at of which nothing is heard: in case that
// a store was exchanged under its clients, say.
const lookAnyway = time.Minute

// NewSchedule returns one by which every partition is looked at first.
func NewSchedule() *Schedule { return &Schedule{wake: make(chan struct{}, 1)} }

// Now has a partition looked at now.
func (s *Schedule) Now(p Partition) { s.set(p, time.Time{}) }

// All has every partition looked at now: anything may have been missed.
func (s *Schedule) All() {
	for p := range Partition(Partitions) {
		s.Now(p)
	}
}

// In has a partition looked at after a while, unless it is to be looked at before.
// Negative: nothing is known to be due.
func (s *Schedule) In(p Partition, after time.Duration) {
	if after < 0 || after > lookAnyway {
		after = lookAnyway
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

// Run looks where something is due, until ctx ends. look returns how long until more is due
// there, negative where nothing is known to be; where it fails, it is called again a
// second later: the store is away, and what is due keeps in it.
func (s *Schedule) Run(ctx context.Context, look func(context.Context, Partition) (time.Duration, error)) {
	for {
		p, ok := s.Next(ctx)
		if !ok {
			return
		}
		next, err := look(ctx, p)
		switch {
		case err != nil:
			next = time.Second
		case next >= 0:
			next += time.Millisecond // what is due then is due in Redis, too
		}
		s.In(p, next)
	}
}

// Next waits for the next partition to look at; false when ctx has ended. Whoever has
// looked says when to look again, by In.
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

// first returns the partition that is first to be looked at, and in how long. When that
// is now, it counts as looked at.
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
		s.at[next] = time.Now().Add(lookAnyway)
	}
	return next, wait
}
