package runner

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
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

// Another start holds the name of a node, on another machine and with a longer NODE_TIMEOUT. Its name is taken only if it
// has ended.
func TestTheNameOfANodeWithALongerTimeout(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"it runs": true, "it has ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := storetest.InProcess(t, store.Options{NodeTimeout: 6 * time.Second})
			must.Get(db.Nodes.Heartbeat(t.Context(), "n", "", "another"))(t)
			if runs {
				beats := time.NewTicker(time.Second)
				t.Cleanup(beats.Stop)
				go func() {
					for range beats.C {
						if _, err := db.Nodes.Heartbeat(t.Context(), "n", "", "another"); err != nil {
							return
						}
					}
				}()
			}
			r := &Runner{store: db, nodeDir: &nodeDir{node: "n"}, self: "self", log: slog.New(slog.DiscardHandler)}
			r.opts.Heartbeat = 10 * time.Millisecond
			if err := r.Hold(t.Context()); errors.Is(err, store.ErrHeld) != runs || !runs && err != nil {
				t.Errorf("it is held: %v", err)
			}
		})
	}
}
