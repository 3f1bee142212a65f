package server

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/store/redisd"
)

// Nobody waits for a disk that hangs, and no more reads of it pile up.
func TestADiskThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		var reads atomic.Int32
		answers := make(chan struct{})
		read := func() (int, error) {
			reads.Add(1)
			<-answers
			return 7, nil
		}
		for range 5 {
			began := time.Now()
			if _, err := readDisk(&d, "a", read); !errors.Is(err, errDiskHangs) || time.Since(began) != diskPatience {
				t.Fatalf("after %s: %v", time.Since(began), err)
			}
		}
		if got, err := readDisk(&d, "b", func() (int, error) { return 8, nil }); got != 8 || err != nil {
			t.Errorf("another one: %d, %v", got, err)
		}
		if reads.Load() != 1 {
			t.Errorf("%d reads wait", reads.Load())
		}
		close(answers)
		synctest.Wait()
		if got, err := readDisk(&d, "a", read); got != 7 || err != nil {
			t.Errorf("when it answers again: %d, %v", got, err)
		}
	})
}

// A disk that does not answer is not taken for a full one: new jobs are not told to wait for space, and no transcript
// leaves anything out.
func TestADiskThatHangsIsNotFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &node{db: &database{embedded: &redisd.Embedded{}}}
		answers := make(chan struct{})
		n.disk.reads.DoChan("room", func() (any, error) {
			<-answers
			return nil, nil
		})
		if err := n.checkStoreRoom(); err != nil {
			t.Errorf("it counts as full: %v", err)
		}
		close(answers)
	})
}
