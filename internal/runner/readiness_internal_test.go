package runner

import (
	"testing"

	"ringback/internal/store"
)

func TestPartitionsAreLookedAtInTurn(t *testing.T) {
	t.Parallel()
	r := newReadiness()
	if p, some := r.take(); some {
		t.Errorf("nothing was added, and %d may have a job", p)
	}
	r.add(3)
	r.add(1)
	r.add(3)
	for _, want := range []store.Partition{1, 3} {
		if p, some := r.take(); !some || p != want {
			t.Errorf("next is %d, %v, want %d", p, some, want)
		}
	}
	if p, some := r.take(); some {
		t.Errorf("%d is still there", p)
	}
	// One that always has a job keeps no other waiting.
	r.add(0)
	r.add(2)
	for range 2 {
		p, _ := r.take()
		if r.add(0); p == 2 {
			return
		}
	}
	t.Error("partition 2 is never looked at")
}

func TestAWorkerThatWaitsIsWoken(t *testing.T) {
	t.Parallel()
	r := newReadiness()
	r.add(1)
	r.addAll() // nobody has taken the first wake-up: it is not waited for
	<-r.wake
	seen := map[store.Partition]bool{}
	for {
		p, some := r.take()
		if !some {
			break
		}
		seen[p] = true
	}
	if len(seen) != store.Partitions {
		t.Errorf("%d partitions were looked at", len(seen))
	}
}
