package store

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// clock is what this node knows of the store's time, with which all that is due is compared. It is
// Redis' own clock and a correction. Redis' clock may jump: it is set, or after a failover it is
// another host's. A node notices because its own uptime does not jump, and corrects the store's
// time for all nodes, so that nothing is due too early or too late. The first node that notices
// decides, the others go by it. The correction shrinks over time (clock.lua).
//
// A Cluster has a clock for each partition, else there is one.
type clock struct {
	mu       sync.Mutex
	readings [Partitions]reading
	last     reading
}

// reading is the store's time when a node read it: at some moment between two of its uptime.
type reading struct {
	time           time.Time
	sent, answered time.Duration
	// corrections counts how often the store's time had been corrected.
	corrections int64
}

// trip is how uncertain the reading is.
func (r reading) trip() time.Duration { return r.answered - r.sent }

const (
	// readingHolds is for how long a reading tells what time it should be: for as long as a store
	// may be away.
	readingHolds = 24 * time.Hour
	// sharpReadingHolds is for how long a reading is not replaced by a less certain one.
	sharpReadingHolds = 30 * time.Second
)

// tolerance is what does not count as a jump, some time after a reading: no two clocks go at quite
// the same pace, and corrections shrink.
func tolerance(passed time.Duration) time.Duration { return 500*time.Millisecond + passed/500 }

// see notes a reading and returns by how much the store's time has jumped since an earlier one; 0
// if it has not. The earlier one is kept then, until the jump is corrected.
func (c *clock) see(p Partition, r reading) (jump time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.readings[p]
	passed, least, most := r.time.Sub(before.time), r.sent-before.answered, r.answered-before.sent
	isRecent := before.answered > 0 && most < readingHolds
	if isRecent && r.corrections <= before.corrections && (passed < least-tolerance(most) || passed > most+tolerance(most)) {
		return passed - (least+most)/2
	}
	if !isRecent || r.corrections != before.corrections || r.trip() <= before.trip() || most > sharpReadingHolds {
		c.readings[p] = r
	}
	c.last = r
	return 0
}

// now is the store's time as this node knows it, for what is only shown.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.answered == 0 {
		return time.Now().UTC()
	}
	return c.last.time.Add(Uptime() - c.last.answered).UTC()
}

// clockOf is the partition that has the clock of another.
func (s *Store) clockOf(p Partition) Partition {
	if _, cluster := s.rdb.(*redis.ClusterClient); cluster {
		return p
	}
	return 0
}

// keysOf are the keys of a script on a partition; they are not to be changed.
func (s *Store) keysOf(p Partition) []string { return s.scriptKeys[p] }

func (s *Store) makeScriptKeys() {
	for p := range Partition(Partitions) {
		s.scriptKeys[p] = []string{p.prefix(), s.clockOf(p).key("clock")}
	}
}

// runTimed runs a script that goes by the store's time. jumped reports whether that was wrong; it
// is corrected then.
func (s *Store) runTimed(ctx context.Context, script *redis.Script, p Partition, args ...any) (answer any, jumped bool, err error) {
	sent := Uptime()
	timed, err := s.run(ctx, script, p, args...)
	if err != nil {
		return nil, false, err
	}
	parts := timed.([]any)
	jumped, err = s.seeClock(ctx, p, reading{millisTime(parts[0].(int64)), sent, Uptime(), parts[1].(int64)})
	return parts[2], jumped, err
}

// seeClock notes a reading. If the store's time has jumped, it is corrected.
func (s *Store) seeClock(ctx context.Context, p Partition, r reading) (jumped bool, err error) {
	jump := s.clock.see(s.clockOf(p), r)
	if jump == 0 {
		return false, nil
	}
	corrected, err := s.run(ctx, s.scripts.correct, p, r.corrections, toMillis(-jump))
	if err == nil && corrected.(int64) == 1 {
		s.log.Warn("Redis' clock has jumped: what is due goes by the time before", "by", jump.Round(time.Millisecond).String())
	}
	return true, err
}

// checkClocks looks whether any clock has jumped.
func (s *Store) checkClocks(ctx context.Context) error {
	for p := Partition(0); p < Partitions && p == s.clockOf(p); p++ {
		if _, _, err := s.runTimed(ctx, s.scripts.clock, p); err != nil {
			return err
		}
	}
	return nil
}

func millisTime(n int64) time.Time { return time.UnixMilli(n).UTC() }
