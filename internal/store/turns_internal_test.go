package store

import (
	"testing"
	"time"

	"ringback/test/must"
)

// told answers what next asks, and returns the partition.
func told(t *testing.T, turns *Turns, taken bool, listed ...string) Partition {
	t.Helper()
	c, some := turns.next()
	if !some {
		t.Fatal("nothing is asked")
	}
	turns.answered(c, taken, listed)
	return c.in
}

func TestANodeKnowsWhatWaits(t *testing.T) {
	t.Parallel()
	const none = Partition(-1)
	next := func(turns *Turns) Partition {
		may := turns.Some()
		c, some := turns.next()
		must.Equal(t, some, may, "something may wait")
		if !some {
			return none
		}
		return c.in
	}
	for name, c := range map[string]struct {
		happens func(*Turns)
		next    Partition
	}{
		"nothing":                              {func(*Turns) {}, none},
		"a message of this version":            {func(n *Turns) { n.Queued(parseQueued(4, "batch:new 17 shop")) }, 4},
		"a message of the previous version":    {func(n *Turns) { n.Queued(parseQueued(5, "interactive")) }, 5},
		"a message that nobody knows":          {func(n *Turns) { n.Queued(parseQueued(6, "")) }, 6},
		"a message that was perhaps missed":    {func(n *Turns) { n.LookAll() }, 0},
		"two, of which one has the first turn": {func(n *Turns) { n.Queued(parseQueued(4, "batch:new 17 ")); n.Queued(parseQueued(7, "batch:new 16 ")) }, 7},
		"a job that another node has taken": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			told(t, n, false)
		}, none},
		"a take that left another job": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			told(t, n, true, "4", "shop", "18")
		}, 4},
		"a job queued while the partition answered": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			c, _ := n.next()
			n.Queued(parseQueued(4, "batch:new 18 shop"))
			n.answered(c, true, nil)
		}, 4},
		"a message missed while the partition answered": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			c, _ := n.next()
			n.Look(4)
			n.answered(c, true, nil)
		}, 4},
		"the only partition is held": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			n.Hold(4, time.Hour)
		}, none},
		"an unknown partition is held": {func(n *Turns) {
			n.Look(4)
			n.Hold(4, time.Hour)
		}, none},
		"it is held no more": {func(n *Turns) {
			n.Queued(parseQueued(4, "batch:new 17 shop"))
			n.Hold(4, time.Hour)
			n.Hold(4, 0)
		}, 4},
	} {
		turns := NewTurns()
		c.happens(turns)
		must.Equal(t, c.next, next(turns), name)
	}
}

// A worker that waits is woken by all that may bring a job.
func TestAWorkerThatWaitsIsWoken(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*Turns){
		"a message":          func(n *Turns) { n.Queued(parseQueued(4, "batch:new 17 shop")) },
		"an unknown message": func(n *Turns) { n.Queued(parseQueued(4, "batch")) },
		"two at once":        func(n *Turns) { n.LookAll(); n.LookAll() },
		"the end of a hold":  func(n *Turns) { n.Hold(4, time.Millisecond) },
	} {
		turns := NewTurns()
		happens(turns)
		select {
		case <-turns.Wake():
		case <-time.After(time.Minute):
			t.Errorf("%s wakes nobody", name)
		}
	}
}
