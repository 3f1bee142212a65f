package runner

import (
	"testing"

	"ringback/internal/store"
	"ringback/test/must"
)

func TestPartitionsAreLookedAtInTurn(t *testing.T) {
	t.Parallel()
	r := newReadiness()
	if p, some := r.poll(); some {
		t.Errorf("nothing was added, and %d may have a job", p)
	}
	r.add(3)
	r.add(1)
	r.add(3)
	for _, want := range []store.Partition{1, 3} {
		if p, some := r.poll(); !some || p != want {
			t.Errorf("next is %d, %v, want %d", p, some, want)
		}
	}
	if p, some := r.poll(); some {
		t.Errorf("%d is still there", p)
	}
	// A partition that always has a job does not block another one.
	r.add(0)
	r.add(2)
	for range 2 {
		p, _ := r.poll()
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
	r.addAll() // the first wake-up is still unread: addAll does not wait for it
	<-r.wake
	seen := map[store.Partition]bool{}
	for {
		p, some := r.poll()
		if !some {
			break
		}
		seen[p] = true
	}
	must.Equal(t, store.Partitions, len(seen), "partitions were looked at")
}

// Users take turns across partitions, too: a user who shares a partition with many others gets as
// many takes as a user alone in another one.
func TestUsersOfACrowdedPartitionGetTheirShare(t *testing.T) {
	t.Parallel()
	users := map[store.Partition]int{2: 12, 3: 1, 7: 3}
	r := newReadiness()
	for p := range users {
		r.add(p)
	}
	const rounds = 50
	taken, waited, longest := map[store.Partition]int{}, map[store.Partition]int{}, 0
	for range rounds * (12 + 1 + 3) {
		p, ok := r.poll()
		if !ok {
			t.Fatal("nothing is ready")
		}
		for other := range users {
			waited[other]++
			longest = max(longest, waited[other])
		}
		waited[p] = 0
		taken[p]++
		r.again(p, users[p])
	}
	for p, n := range users {
		if got := taken[p]; got < (rounds-1)*n || got > (rounds+1)*n {
			t.Errorf("partition %d with %d users had %d takes, want about %d", p, n, got, rounds*n)
		}
	}
	if longest > 16 {
		t.Errorf("a partition waited for %d takes, with 16 users in all", longest)
	}
}

// A partition that runs empty gives up the rest of its takes.
func TestAnEmptyPartitionKeepsNoTakes(t *testing.T) {
	t.Parallel()
	r := newReadiness()
	r.add(4)
	r.add(5)
	if p, _ := r.poll(); p != 4 {
		t.Fatalf("the first is %d", p)
	}
	r.again(4, 100)
	if p, _ := r.poll(); p != 4 {
		t.Fatalf("the second is %d", p)
	} // and finds nothing: it is not added again
	if p, ok := r.poll(); !ok || p != 5 {
		t.Fatalf("the third is %d", p)
	}
	if _, ok := r.poll(); ok {
		t.Error("something is ready")
	}
}
