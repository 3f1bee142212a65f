package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// past tracks the events of each partition that this node has received. A store may go back to an
// earlier state: a lagging replica becomes the primary, an older file is restored, everything is
// deleted. Then the events that a node has received are not the store's, and the node notices.
type past struct {
	mu         sync.Mutex
	partitions [Partitions]received
}

// received tracks the events of one partition.
type received struct {
	// last is the ID of the latest event received. If known is false, it must be read first.
	last  job.Seq
	known bool
	// floor is the highest ID, or time of Redis' clock, ever seen. New IDs exceed it, even if the
	// clock of another Redis is behind.
	floor job.Seq
}

// forget records that messages may have been missed.
func (t *past) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.partitions {
		t.partitions[p].known = false
	}
}

// begin sets the latest events, which were read without having been received. It reports whether any of them is news.
func (t *past) begin(latest map[Partition]job.Seq) (isNews bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, last := range latest {
		h := &t.partitions[p]
		isNews = isNews || !h.known || h.last != last
		h.last, h.known = last, true
		h.see(last)
	}
	return isNews
}

// isUnknown reports whether the latest event of any partition is unknown.
func (t *past) isUnknown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.partitions[:], func(h received) bool { return !h.known })
}

func (h *received) see(n job.Seq) { h.floor = max(h.floor, n) }

// receive records an event and reports whether it directly follows the previous one received.
func (t *past) receive(p Partition, e published) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := &t.partitions[p]
	h.see(e.Seq)
	if h.known && e.Seq <= h.last {
		return true // it was read before it was received
	}
	follows := !h.known || e.follows == h.last
	h.last, h.known = e.Seq, h.known && follows
	return follows
}

// sawTime records the time of Redis' clock.
func (t *past) sawTime(p Partition, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partitions[p].see(job.Seq(max(0, now.UnixMicro())))
}

// floor returns an ID that the IDs of new events must exceed.
func (t *past) floor(p Partition) job.Seq {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.partitions[p].floor
}

// differs returns, for each partition, the last event received if it is not the store's latest
// event.
func (t *past) differs(latest map[Partition]job.Seq) map[Partition]job.Seq {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[Partition]job.Seq{}
	for p, last := range latest {
		if h := t.partitions[p]; h.known && h.last != last {
			found[p] = h.last
		}
	}
	return found
}

// latest reads the ID of each partition's latest event; 0 if there is none. If there is an error, the partitions that
// are available are listed.
func (s *Store) latest(ctx context.Context) (map[Partition]job.Seq, error) {
	reads := map[Partition]*redis.StringCmd{}
	_, err := readEach(ctx, s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.StringCmd {
		reads[p] = pipe.Get(ctx, p.key("latest"))
		return reads[p]
	})
	ids := map[Partition]job.Seq{}
	for p, read := range reads {
		if ignoreNil(read.Err()) == nil {
			ids[p] = seqOf(read.Val())
		}
	}
	return ids, err
}

const (
	// compareEvery is the interval for comparing the events that a node received with the store's.
	// This detects a store that went back and publishes nothing new.
	compareEvery = 5 * time.Second
	// onItsWay is the longest time that an event may take from the store to a node.
	onItsWay = time.Second
)

// watchPast notifies the subscribers when messages may have been missed: at once if missed signals
// it, or when the events received differ from the store's.
func (s *Store) watchPast(ctx context.Context, to subscribers, missed <-chan struct{}) {
	ticker := time.NewTicker(compareEvery)
	defer ticker.Stop()
	for {
		doubtful := false
		select {
		case <-ctx.Done():
			return
		case <-missed:
			doubtful = true
		case <-ticker.C:
			doubtful = s.isOther(ctx) || s.past.isUnknown()
		}
		if doubtful && s.reinitialize(ctx) {
			to.reset()
		}
	}
}

// isOther reports whether the store's latest events differ from those received, although none is on
// its way.
func (s *Store) isOther(ctx context.Context) bool {
	latest, _ := s.latest(ctx) // what is unavailable is compared later
	before := s.past.differs(latest)
	if len(before) == 0 {
		return false
	}
	if lifecycle.Wait(ctx, onItsWay) != nil {
		return false
	}
	latest, _ = s.latest(ctx)
	for p, last := range s.past.differs(latest) {
		if known, ok := before[p]; ok && known == last { // no event was received in between
			s.log.Warn(
				"the store's events are not those that this node has received: it may have gone back to an earlier state",
				"partition", int(p),
			)
			return true
		}
	}
	return false
}

// reinitialize prepares the store, which may have been replaced, and takes the events of the partitions that are
// available as the past. It returns false if there is no news, or if ctx has ended.
func (s *Store) reinitialize(ctx context.Context) bool {
	for {
		err := s.Prepare(ctx)
		if err == nil || job.HasKind(err, job.Unavailable) {
			if latest, err := s.latest(ctx); err == nil || len(latest) > 0 {
				return s.past.begin(latest)
			}
		}
		if lifecycle.Wait(ctx, reconnectInterval) != nil {
			return false
		}
	}
}
