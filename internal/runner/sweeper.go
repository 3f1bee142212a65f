package runner

import (
	"context"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"ringback/internal/process"
)

// sweeper ends processes that outlived their turn in a process group of their
// own. Looking through all processes costs milliseconds, so turns that end
// together are swept together.
type sweeper struct {
	log  *slog.Logger
	mu   sync.Mutex
	todo map[string]bool
	wake chan struct{}
}

func newSweeper(log *slog.Logger) *sweeper {
	return &sweeper{log: log, todo: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// add asks for the end of everything that carries marker.
func (s *sweeper) add(marker string) {
	s.mu.Lock()
	s.todo[marker] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sweeper) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		select { // let more turns end
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		s.finish()
	}
}

// finish sweeps what was asked for until now.
func (s *sweeper) finish() {
	s.mu.Lock()
	markers := s.todo
	s.todo = map[string]bool{}
	s.mu.Unlock()
	if len(markers) == 0 {
		return
	}
	for range 10 { // a process may fork while we look
		pids := process.Marked(func(marker string) bool { return markers[marker] })
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			s.log.Warn("ended a process that outlived its turn", "pid", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond) // the system needs a moment to reap them
	}
}
