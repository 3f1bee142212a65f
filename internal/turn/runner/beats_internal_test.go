package runner

import (
	"testing"
	"time"
)

// A node considers others silent only after its own heartbeats have reached the store for as long:
// while the store was unavailable, theirs did not reach it either.
func TestNobodyIsSilentWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	b := beats{nodeTimeout: 6 * time.Second}
	beat := func(from, to int) (judges bool) {
		for s := from; s <= to; s++ {
			judges = b.note(time.Duration(s)*time.Second, time.Duration(s)*time.Second+time.Millisecond)
		}
		return judges
	}
	if beat(1, 6) {
		t.Error("a node judges others before they have had time to be heard")
	}
	if !beat(7, 8) {
		t.Error("a node that has been there for long does not judge others")
	}
	if b.note(9*time.Second, 20*time.Second) { // the store hung
		t.Error("a node judges others by a heartbeat that took as long as all of theirs")
	}
	if beat(20, 25) {
		t.Error("others had no time to be heard after the store was away")
	}
	if !beat(26, 27) {
		t.Error("after the store was away, nobody is ever silent")
	}
}
