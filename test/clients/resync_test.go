package clients

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// rewind resets the store to its state before lost, as a failover to a lagging replica
// does.
func (w *world) rewind(lost func()) {
	w.t.Helper()
	files, kept := filepath.Join(w.redis.Dir, "appendonlydir"), filepath.Join(w.t.TempDir(), "kept")
	must.OK(w.t, os.CopyFS(kept, os.DirFS(files)))
	lost()
	w.redis.Kill()
	must.OK(w.t, os.RemoveAll(files))
	must.OK(w.t, os.CopyFS(files, os.DirFS(kept)))
	w.redis.Start(w.t)
}

const resynced = "resync running" // as testdata/follow.ts reports it

// A client that was sent events that the store then lost gets a resync with the current
// record, and continues with what happens afterwards.
func TestAStoreThatWentBackIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 600)
	ids, _, followers := w.begin()
	w.rewind(func() {
		w.progress(ids, 2)
		w.awaitAll(followers, ids)
	})
	for name, f := range followers {
		harness.Eventually(t, name+" to be told of each job that something is missing", func() bool {
			told := f.told()
			return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(told[id], resynced) })
		})
	}
	w.progress(ids, 3)
	w.finish(ids)
	for name, f := range followers {
		harness.Eventually(t, name+" to be done", func() bool { return f.outcome() != "" })
		if end := f.outcome(); end != "ended" {
			t.Fatalf("%s has failed: %s", name, end)
		}
		for _, id := range ids {
			told, kept := f.told()[id], w.history(id)
			at := slices.Index(told, resynced)
			lost := slices.DeleteFunc(slices.Clone(told[:at]), func(event string) bool { return slices.Contains(kept, event) })
			if len(lost) == 0 {
				t.Errorf("%s was told of %q before %s, and the store has lost none of them", name, told[:at], resynced)
			}
			counted := slices.DeleteFunc(slices.Clone(told), func(event string) bool { return event == resynced || slices.Contains(lost, event) })
			must.Equal(t, kept, counted, name, "has told other events than are kept")
		}
	}
}
