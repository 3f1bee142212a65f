package store

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// past is what this node knows of the events of each partition. A store may go back to an
// earlier state: a replica that lags becomes the primary, an older file is put back, all is
// deleted. Then what a node has heard is not the store's past, and the node notices.
type past struct {
	mu         sync.Mutex
	partitions [Partitions]heard
}

// heard is what a node knows of the events of one partition.
type heard struct {
	// last is the id of the latest event that was heard, where known: else it is to be
	// read first.
	last  job.Seq
	known bool
	// floor is the highest id, or time of Redis' clock, that was ever seen: new ids exceed
	// it, whatever the clock of another Redis says.
	floor job.Seq
}

// forget says that messages may have been missed.
func (t *past) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.partitions {
		t.partitions[p].known = false
	}
}

// begin notes up to where events are known of without having been heard.
func (t *past) begin(latest [Partitions]job.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, last := range latest {
		t.partitions[p].last, t.partitions[p].known = last, true
		t.partitions[p].see(last)
	}
}

func (h *heard) see(n job.Seq) { h.floor = max(h.floor, n) }

// hear notes an event, and reports whether it follows what was heard before it.
func (t *past) hear(p Partition, e published) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := &t.partitions[p]
	h.see(e.Seq)
	if h.known && e.Seq <= h.last {
		return true // it was read before it was heard
	}
	follows := !h.known || e.follows == h.last
	h.last = e.Seq
	return follows
}

// saw notes what Redis' clock said.
func (t *past) saw(p Partition, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partitions[p].see(job.Seq(max(0, now.UnixMicro())))
}

// floor is an id that those of new events exceed.
func (t *past) floor(p Partition) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.partitions[p].floor.String()
}

// differs returns what was heard where that is not the latest event there is.
func (t *past) differs(latest [Partitions]job.Seq) map[Partition]job.Seq {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[Partition]job.Seq{}
	for p, last := range latest {
		if h := t.partitions[p]; h.known && h.last != last {
			found[Partition(p)] = h.last
		}
	}
	return found
}

// latest reads the id of each partition's latest event; 0 for none.
func (s *Store) latest(ctx context.Context) (ids [Partitions]job.Seq, err error) {
	var keys []string
	for p := range Partition(Partitions) {
		keys = append(keys, p.key("latest"))
	}
	var values []any
	if _, cluster := s.rdb.(*redis.ClusterClient); !cluster {
		values, err = s.rdb.MGet(ctx, keys...).Result()
	} else { // they lie in different slots
		values, err = s.getAll(ctx, keys)
	}
	for p, value := range values {
		ids[p] = seqOf(value)
	}
	return ids, storeError(err)
}

func (s *Store) getAll(ctx context.Context, keys []string) ([]any, error) {
	pipe := s.rdb.Pipeline()
	for _, key := range keys {
		pipe.MGet(ctx, key)
	}
	answers, err := pipe.Exec(ctx)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(answers))
	for i, answer := range answers {
		values[i] = answer.(*redis.SliceCmd).Val()[0]
	}
	return values, nil
}

const (
	// compareEvery is how often a node compares what it has heard with what there is: a
	// store that went back and has nothing new to tell is found so.
	compareEvery = 5 * time.Second
	// onItsWay is how long an event may take from the store to a node.
	onItsWay = time.Second
)

// watchPast tells the subscribers when anything may have been missed: at once where missed
// says so, else when what was heard is not what the store has.
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
			_ = s.checkClocks(ctx) // a store that is away is noticed elsewhere
			doubtful = s.isOther(ctx)
		}
		if doubtful && s.beginAnew(ctx) {
			to.reset()
		}
	}
}

// isOther reports whether the store's latest events are not those that were heard, and
// none is on its way.
func (s *Store) isOther(ctx context.Context) bool {
	latest, err := s.latest(ctx)
	if err != nil {
		return false // its connection for events will be made again
	}
	before := s.past.differs(latest)
	if len(before) == 0 {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(onItsWay):
	}
	if latest, err = s.latest(ctx); err != nil {
		return false
	}
	for p, last := range s.past.differs(latest) {
		if known, ok := before[p]; ok && known == last { // nothing was heard meanwhile
			s.log.Warn("the store's events are not those that this node has heard: it may have gone back to an earlier state", "partition", int(p))
			return true
		}
	}
	return false
}

// beginAnew prepares the store, which may be another one than it was, and takes what it
// has as the past; false when ctx has ended.
func (s *Store) beginAnew(ctx context.Context) bool {
	for {
		err := s.Prepare(ctx)
		if err == nil {
			var latest [Partitions]job.Seq
			if latest, err = s.latest(ctx); err == nil {
				s.past.begin(latest)
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(200 * time.Millisecond):
		}
	}
}
