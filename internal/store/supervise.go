package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// maxDeaths within deathsWithin are too many for starting it again to help.
	maxDeaths    = 5
	deathsWithin = time.Minute
	// roomPatience is how long a Redis that ended is kept waiting for a disk that can be
	// written to.
	roomPatience = 15 * time.Second
)

// supervisor keeps the embedded Redis running: one that ends is started again, at the
// same socket and on the same append-only file.
type supervisor struct {
	bin, dir string
	// config is what Redis reads from its standard input: it has the password.
	config       string
	writableFunc func() error
	log          *slog.Logger
	// failed is told once why it cannot be kept running.
	failed chan error
	// stopping is closed to end it, ended when it has.
	stopping, ended chan struct{}
}

func newSupervisor(bin, dir, config string, e Embedding) *supervisor {
	return &supervisor{
		bin: bin, dir: dir, config: config, writableFunc: e.WritableFunc, log: e.Log,
		failed: make(chan error, 1), stopping: make(chan struct{}), ended: make(chan struct{}),
	}
}

// redisProcess is the embedded Redis from a start to its end.
type redisProcess struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func (s *supervisor) start() (*redisProcess, error) {
	cmd := exec.Command(s.bin, "-") // what stands on a command line, or in a file, others read
	cmd.Stdin = strings.NewReader(s.config)
	cmd.Env = []string{"LC_ALL=C"} // nothing of ours
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.bin, err)
	}
	p := &redisProcess{cmd, make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // its log says why it ended
	}()
	return p, nil
}

// stop ends it: it writes what it has.
func (p *redisProcess) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// why says why it has ended: one that was killed has left no word of it.
func (p *redisProcess) why(dir string) string {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return fmt.Sprintf("%v (see %s)", p.cmd.ProcessState, filepath.Join(dir, "redis.log"))
	}
	return lastWords(dir)
}

// run looks after a process, and those that take its place, until stop or failed.
func (s *supervisor) run(p *redisProcess) {
	defer close(s.ended)
	var deaths []time.Time
	for {
		select {
		case <-s.stopping:
			p.stop()
			return
		case <-p.exited:
		}
		why := p.why(s.dir)
		deaths = append(deaths, time.Now())
		deaths = deaths[max(0, len(deaths)-maxDeaths):]
		if len(deaths) == maxDeaths && time.Since(deaths[0]) < deathsWithin {
			s.fail(fmt.Errorf("the embedded Redis has ended: %d times within %s, at last: %s", maxDeaths, deathsWithin, why))
			return
		}
		s.log.Error("the embedded Redis has ended: it is started again", "why", why)
		err := s.awaitRoom()
		if err == nil {
			p, err = s.start()
		}
		if err != nil {
			s.fail(err)
			return
		}
	}
}

// fail reports what Redis could not be kept running for. A disk that cannot be written to
// explains all else.
func (s *supervisor) fail(err error) {
	if full := s.writableFunc(); full != nil {
		err = full
	}
	s.failed <- err
}

// errStopping ends a wait when the store is closed.
var errStopping = errors.New("the store is closed")

// awaitRoom waits until Redis can write again: a full disk is what it ends at first.
func (s *supervisor) awaitRoom() error {
	deadline := time.After(roomPatience)
	for said := false; ; said = true {
		full := s.writableFunc()
		if full == nil {
			return nil
		}
		if !said {
			s.log.Error("the embedded Redis is not started again before it can write", "error", full, "atMost", roomPatience)
		}
		select {
		case <-s.stopping:
			return errStopping
		case <-deadline:
			return full
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop ends Redis and waits until it has ended.
func (s *supervisor) stop() {
	close(s.stopping)
	<-s.ended
}
