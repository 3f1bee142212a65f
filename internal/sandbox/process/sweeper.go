package process

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sweeper ends processes by their marker, in any process group. A search through all
// processes takes milliseconds, so markers that are added together are searched for
// together.
type Sweeper struct {
	log  *slog.Logger
	mu   sync.Mutex
	todo map[string]bool
	// swept are the markers of the sweep that runs. Whoever holds sweeping makes it.
	swept    map[string]bool
	sweeping sync.Mutex
	wake     chan struct{}
}

// NewSweeper returns a sweeper; Run makes it work.
func NewSweeper(log *slog.Logger) *Sweeper {
	return &Sweeper{log: log, todo: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// Add requests the end of all processes with a marker.
func (s *Sweeper) Add(marker string) {
	s.mu.Lock()
	s.todo[marker] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// gather is the time that a sweep waits for further markers.
const gather = 100 * time.Millisecond

// Run sweeps until ctx ends; Sweep then handles the rest.
func (s *Sweeper) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		s.Sweep()
	}
}

// firstOf returns the processes that one line of the log names.
func firstOf(pids []int) []int { return pids[:min(len(pids), 20)] }

// Clear returns once a process can be started with a marker that was used before: no sweep will end it.
func (s *Sweeper) Clear(marker string) {
	s.mu.Lock()
	isAwaited := s.todo[marker] || s.swept[marker]
	s.mu.Unlock()
	if isAwaited {
		s.Sweep()
	}
}

// Sweep ends the processes that were requested so far.
func (s *Sweeper) Sweep() {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	markers := s.todo
	s.todo, s.swept = map[string]bool{}, markers
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.swept = nil
		s.mu.Unlock()
	}()
	if len(markers) == 0 {
		return
	}
	for range 10 { // a process may fork during the search
		ended := endMarked(func(marker string) bool { return markers[marker] })
		if len(ended) == 0 {
			return
		}
		s.log.Warn("killed leftover processes of a turn", "processes", len(ended), "pids", firstOf(ended))
		time.Sleep(10 * time.Millisecond) // the system needs a moment to reap them
	}
}

// owner begins the marker of a program that belongs to a server: the server's pid, its
// start time, and the scope of the pid.
const owner = "of/"

// OwnMarker returns the marker of a program that is to end with this server.
func OwnMarker(name string) string {
	pid := os.Getpid()
	return owner + strconv.Itoa(pid) + "/" + StartTime(pid) + "/" + pidScope() + "/" + name
}

// EndOrphans ends the programs of dead servers, and returns their number. It leaves
// programs of a server in another container alone, because that server's pid has no
// meaning here.
func EndOrphans() int {
	return len(endMarked(func(marker string) bool {
		here, runs := ServerOf(marker)
		return here && !runs
	}))
}

// ServerOf reports whether a marker is an OwnMarker of a server in this container, since the start of
// the system, and whether that server still runs. Of another one, nothing is known here.
func ServerOf(marker string) (here, runs bool) {
	rest, owned := strings.CutPrefix(marker, owner)
	parts := strings.SplitN(rest, "/", 4)
	if !owned || len(parts) < 4 || parts[2] == "" || parts[2] != pidScope() {
		return false, false
	}
	server, err := strconv.Atoi(parts[0])
	return err == nil, err == nil && StartTime(server) == parts[1]
}
