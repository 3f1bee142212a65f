package store

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Turns decides which waiting job a node takes next. It knows what waits in all partitions: each answer to
// Dequeue lists what waits in one, and each message about a queued job adds to that.
//
// The highest priority goes first, and within it what continues before what is new. API keys then take
// turns; of a key, the user with the first turn is next, in whatever partition. What waits behind is
// not passed over for ever: one of newEvery takes is a new job's, and one of batchEvery is a batch job's.
//
// What this node believes may be outdated, since other nodes take jobs too. Then a partition has no such
// job, and its answer corrects that.
type Turns struct {
	mu sync.Mutex
	// waiting has the lanes with waiting jobs of each partition, and the first turn of each. news are
	// those of them that were queued since the last question to the partition.
	waiting, news [Partitions]map[lane]int64
	// unknown are the partitions that must be asked what waits there.
	unknown [Partitions]bool
	// held is until when a partition is left to other nodes.
	held [Partitions]time.Time
	// takes counts the jobs that were taken, and served has that number for the latest job of each lane.
	takes  int
	served map[lane]int
	passed passed
	wake   chan struct{}
}

// lane is a level and an API key, of which jobs wait.
type lane struct {
	level int // index in levels
	key   string
}

// choice is the lane of a partition that is next, or with noLevel the question what waits there.
type choice struct {
	lane
	in     Partition
	turn   int64
	passed passed
}

const noLevel = -1

// NewTurns returns turns that know of no jobs yet.
func NewTurns() *Turns { return &Turns{served: map[lane]int{}, wake: make(chan struct{}, 1)} }

// Look makes the next call of Dequeue ask what waits in the partitions: messages may have been missed.
func (t *Turns) Look(at ...Partition) {
	t.mu.Lock()
	for _, p := range at {
		t.unknown[p] = true
	}
	t.mu.Unlock()
	t.notify()
}

// LookAll is Look for all partitions.
func (t *Turns) LookAll() { t.Look(allPartitions()...) }

// Hold leaves a partition to other nodes for a moment.
func (t *Turns) Hold(p Partition, d time.Duration) {
	t.mu.Lock()
	t.held[p] = time.Now().Add(d)
	t.mu.Unlock()
	t.WakeIn(d)
}

// leaveOut leaves out a partition that is unavailable, for longer the longer it took to find out: the others get most
// of the node's time, however many are unavailable.
func (t *Turns) leaveOut(p Partition, took time.Duration) {
	t.Look(p)
	t.Hold(p, min(max(time.Second, 2*Partitions*took), 10*time.Second))
}

// Available ends what Hold began, and looks at all partitions: the store is available again.
func (t *Turns) Available() {
	t.mu.Lock()
	t.held = [Partitions]time.Time{}
	t.mu.Unlock()
	t.LookAll()
}

// Queued is a message that a job was queued.
type Queued struct {
	in Partition
	lane
	turn int64
}

// parseQueued parses "<level> <turn> <key>". The previous version sends the priority only.
func parseQueued(in Partition, payload string) Queued {
	words := strings.SplitN(payload, " ", 3)
	q := Queued{in: in, lane: lane{level: slices.Index(levels[:], words[0])}}
	if len(words) == 3 {
		q.turn, q.key = int64(atoi(words[1])), words[2]
	}
	return q
}

// Queued notes that a job was queued.
func (t *Turns) Queued(q Queued) {
	if q.level == noLevel {
		t.Look(q.in)
		return
	}
	t.mu.Lock()
	for _, known := range []*map[lane]int64{&t.waiting[q.in], &t.news[q.in]} {
		addTurn(known, q.lane, q.turn)
	}
	t.mu.Unlock()
	t.notify()
}

func addTurn(known *map[lane]int64, l lane, turn int64) {
	if *known == nil {
		*known = map[lane]int64{}
	}
	if first, ok := (*known)[l]; !ok || turn < first {
		(*known)[l] = turn
	}
}

func (t *Turns) notify() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// WakeIn makes Wake receive a value after some time, unless the timer is stopped.
func (t *Turns) WakeIn(d time.Duration) *time.Timer { return time.AfterFunc(d, t.notify) }

// Wake receives a value when something may have changed.
func (t *Turns) Wake() <-chan struct{} { return t.wake }

// Some reports whether a job may wait.
func (t *Turns) Some() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.waiting {
		if !t.isHeld(Partition(p)) && (t.unknown[p] || len(t.waiting[p]) > 0) {
			return true
		}
	}
	return false
}

func (t *Turns) isHeld(p Partition) bool { return time.Now().Before(t.held[p]) }

// next returns the next lane, or a partition of which it is unknown what waits there.
func (t *Turns) next() (best choice, some bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	firsts := map[lane]choice{}
	var waits [len(levels)]bool
	for p := range Partition(Partitions) {
		switch {
		case t.isHeld(p):
			continue
		case t.unknown[p]:
			t.unknown[p], t.news[p] = false, nil
			return choice{in: p, lane: lane{level: noLevel}, passed: t.passed}, true
		}
		for l, turn := range t.waiting[p] {
			waits[l.level] = true
			if first, ok := firsts[l]; !ok || turn < first.turn {
				firsts[l] = choice{in: p, lane: l, turn: turn}
			}
		}
	}
	passed := t.passed
	level := passed.level(waits)
	for l, c := range firsts {
		if l.level == level && (!some || cmp.Or(cmp.Compare(t.served[l], t.served[best.lane]), cmp.Compare(c.turn, best.turn)) < 0) {
			best, some = c, true
		}
	}
	if some {
		best.passed, t.news[best.in] = passed, nil
	}
	return best, some
}

// answered notes what waits in the partition of a choice, and whether a job was taken. Messages that arrived
// after the question may be newer than the answer.
func (t *Turns) answered(c choice, taken bool, listed []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[c.in] = nil
	for one := range slices.Chunk(listed, 3) {
		addTurn(&t.waiting[c.in], lane{atoi(one[0]) - 1, one[1]}, int64(atoi(one[2])))
	}
	for l, turn := range t.news[c.in] {
		addTurn(&t.waiting[c.in], l, turn)
	}
	if taken {
		t.takes++
		t.served[c.lane], t.passed = t.takes, c.passed
	}
}

// Of two that wait, how often the first is taken until the second is.
const newEvery, batchEvery = 4, 8

// passed counts how often in a row batch jobs, and the new jobs of each priority, were passed over.
type passed struct {
	batch int
	fresh [2]int
}

// level returns the level that is next of those that wait.
func (p *passed) level(waits [len(levels)]bool) int {
	i := 0
	if second(&p.batch, waits[0] || waits[1], waits[2] || waits[3], batchEvery) {
		i = 2
	}
	if second(&p.fresh[i/2], waits[i], waits[i+1], newEvery) {
		i++
	}
	return i
}

// second reports whether the second of two is next: the first does not wait, or the second has been passed
// over too often.
func second(passed *int, firstWaits, secondWaits bool, every int) bool {
	if !firstWaits || !secondWaits {
		return secondWaits
	}
	*passed++
	if *passed < every {
		return false
	}
	*passed = 0
	return true
}
