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

// Another start holds the name of a node, on another machine and with a longer NODE_TIMEOUT. Its name is taken only if it
// has ended.
func TestTheNameOfANodeWithALongerTimeout(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"it runs": true, "it has ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := storetest.InProcess(t, store.Options{NodeTimeout: 6 * time.Second})
			must.Get(db.Heartbeat(t.Context(), "n", "", "another"))(t)
			if runs {
				beats := time.NewTicker(time.Second)
				t.Cleanup(beats.Stop)
				go func() {
					for range beats.C {
						if _, err := db.Heartbeat(t.Context(), "n", "", "another"); err != nil {
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
