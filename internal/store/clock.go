package store

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// clock tracks the store's time, which decides what is due. It is Redis' own clock plus a
// correction. Redis' clock may jump: someone sets it, or a failover moves it to another host. A
// node notices because its own uptime does not jump, and corrects the store's time for all nodes,
// so that nothing is due too early or too late. The first node that notices decides; the others
// follow. The correction shrinks over time (clock.lua).
//
// A Cluster has a clock for each partition; otherwise there is one.
type clock struct {
	mu       sync.Mutex
	readings [Partitions]reading
	last     reading
}

// reading is the store's time as a node read it, between two points of the node's uptime.
type reading struct {
	time           time.Time
	sent, answered time.Duration
	// corrections is the number of corrections to the store's time so far.
	corrections int64
}

// trip returns the uncertainty of the reading.
func (r reading) trip() time.Duration { return r.answered - r.sent }

const (
	// readingLasts limits the time for which a reading is used to predict the time: as long as a
	// store may be unavailable.
	readingLasts = 24 * time.Hour
	// sharpReadingLasts is the time within which a less precise reading does not replace a reading.
	sharpReadingLasts = 30 * time.Second
)

// tolerance returns the deviation that is no jump: no two clocks run at the same speed, and corrections shrink.
func tolerance(passed time.Duration) time.Duration { return 500*time.Millisecond + passed/500 }

// see records a reading. It returns by how much the store's time has jumped since an earlier
// reading, 0 if it has not. After a jump it keeps the earlier reading until the jump is corrected.
func (c *clock) see(p Partition, r reading) (jump time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.readings[p]
	passed, least, most := r.time.Sub(before.time), r.sent-before.answered, r.answered-before.sent
	isRecent := before.answered > 0 && most < readingLasts
	if isRecent && r.corrections <= before.corrections && (passed < least-tolerance(most) || passed > most+tolerance(most)) {
		return passed - (least+most)/2
	}
	if !isRecent || r.corrections != before.corrections || r.trip() <= before.trip() || most > sharpReadingLasts {
		c.readings[p] = r
	}
	c.last = r
	return 0
}

// now returns the store's time as this node knows it, for times that are only displayed.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.answered == 0 {
		return time.Now().UTC()
	}
	return c.last.time.Add(Uptime() - c.last.answered).UTC()
}

// clockOf returns the partition that stores the clock of a partition.
func (s *Store) clockOf(p Partition) Partition {
	if _, cluster := s.rdb.(*redis.ClusterClient); cluster {
		return p
	}
	return 0
}

// keysOf returns the keys for a script on a partition; callers must not modify them.
func (s *Store) keysOf(p Partition) []string { return s.scriptKeys[p] }

// runTimed runs a script that uses the store's time. jumped is true if that was wrong; it is then corrected.
func (s *Store) runTimed(
	ctx context.Context, script *redis.Script, p Partition, args ...any,
) (answer any, jumped bool, err error) {
	sent := Uptime()
	timed, err := s.run(ctx, script, p, args...)
	if err != nil {
		return nil, false, err
	}
	parts := timed.([]any)
	jumped, err = s.seeClock(ctx, p, reading{
		time: millisTime(parts[0].(int64)), sent: sent, answered: Uptime(), corrections: parts[1].(int64),
	})
	return parts[2], jumped, err
}

// runOnTime is runTimed with the right time: if it was wrong, the script runs again.
func (s *Store) runOnTime(ctx context.Context, script *redis.Script, p Partition, args ...any) (answer any, err error) {
	for jumped := true; jumped && err == nil; {
		answer, jumped, err = s.runTimed(ctx, script, p, args...)
	}
	return answer, err
}

// storeTime is the time of Redis' clock, the store's, and for how long nothing lapses.
type storeTime struct {
	redis, now time.Time
	grace      time.Duration
}

// readTime reads the time in a transaction: once that has run, the returned function returns it; errTorn if it was wrong.
// It is read by a script, because the command TIME would go to any server of a Cluster.
func (s *Store) readTime(ctx context.Context, pipe redis.Pipeliner, p Partition) func() (storeTime, error) {
	sent := Uptime()
	read := pipe.Eval(ctx, s.scripts.now, s.keysOf(p))
	return func() (storeTime, error) {
		parts := texts(read.Val())
		t := storeTime{redis: time.Unix(int64(atoi(parts[0])), int64(atoi(parts[1]))*1000)}
		t.now = t.redis.Truncate(time.Millisecond).Add(time.Duration(atoi(parts[2])) * time.Millisecond).UTC()
		t.grace = time.Duration(atoi(parts[4])) * time.Millisecond
		jumped, err := s.seeClock(ctx, p, reading{
			time: t.now, sent: sent, answered: Uptime(), corrections: int64(atoi(parts[3])),
		})
		if jumped && err == nil {
			err = errTorn
		}
		return t, err
	}
}

// seeClock records a reading and, if the store's time has jumped, corrects it.
func (s *Store) seeClock(ctx context.Context, p Partition, r reading) (jumped bool, err error) {
	jump := s.clock.see(s.clockOf(p), r)
	if jump == 0 {
		return false, nil
	}
	corrected, err := s.run(ctx, s.scripts.correct, p, r.corrections, toMillis(-jump))
	if err == nil && corrected.(int64) == 1 {
		s.log.Warn("Redis clock jumped: due times follow the previous clock", "by", jump.Round(time.Millisecond).String())
	}
	return true, err
}

// checkClocksEvery is the interval of watchClocks. grace.lua relies on it.
const checkClocksEvery = 2 * time.Second

// watchClocks checks whether any clock has jumped, until ctx ends. It also lets each part of the store know that it is
// available: see grace.lua.
func (s *Store) watchClocks(ctx context.Context) {
	_ = eachPartition(func(p Partition) error {
		if p != s.clockOf(p) {
			return nil
		}
		ticker := time.NewTicker(checkClocksEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				_, _, _ = s.runTimed(ctx, s.scripts.clock, p) // unavailability of the store is noticed elsewhere
			}
		}
	})
}

func millisTime(n int64) time.Time { return time.UnixMilli(n).UTC() }
