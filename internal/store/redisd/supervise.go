package redisd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// maxDeaths within deathsWithin are too many for a restart to help.
	maxDeaths    = 5
	deathsWithin = time.Minute
)

// supervisor keeps the embedded Redis running: if it ends, it is restarted with the same socket and
// the same append-only file.
type supervisor struct {
	Embedding
	bin, dir string
	// config is the configuration on Redis' standard input. It contains the password.
	config string
	// failed receives, once, the reason if Redis cannot be kept running.
	failed chan error
	// stopping is closed to stop the supervisor; the supervisor closes ended.
	stopping, ended chan struct{}
}

// spare is an empty file: on a disk that can hold no more files, Redis needs its place to start.
func (s *supervisor) spare() string { return filepath.Join(s.dir, "spare") }

// redisProcess is one process of the embedded Redis.
type redisProcess struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func (s *supervisor) start() (*redisProcess, error) {
	_ = os.Remove(s.spare())        // it may be the only place for the socket
	cmd := exec.Command(s.bin, "-") // others can read a command line, or a file
	cmd.Stdin = strings.NewReader(s.config)
	cmd.Env = []string{"LC_ALL=C"} // none of our environment
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.bin, err)
	}
	p := &redisProcess{cmd, make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // Redis' log contains the reason
	}()
	return p, nil
}

// stop ends the process: it writes its data and exits.
func (p *redisProcess) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// why returns the reason for the end of the process. A killed process has not logged any.
func (p *redisProcess) why(dir string) string {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return fmt.Sprintf("%v (see %s)", p.cmd.ProcessState, filepath.Join(dir, "redis.log"))
	}
	return lastWords(dir)
}

// run supervises a process and its replacements until stop is called or it fails.
func (s *supervisor) run(p *redisProcess) {
	defer close(s.ended)
	var deaths []time.Time
	for wasFull := false; ; {
		select {
		case <-s.stopping:
			p.stop()
			return
		case <-p.exited:
		}
		deaths = append(deaths, time.Now())
		why, full := p.why(s.dir), s.WritableFunc()
		if full != nil { // it explains them
			deaths, why = nil, full.Error()
		}
		deaths = deaths[max(0, len(deaths)-maxDeaths):]
		if len(deaths) == maxDeaths && time.Since(deaths[0]) < deathsWithin {
			s.fail(fmt.Errorf("the embedded Redis has ended: %d times within %s, at last: %s", maxDeaths, deathsWithin, why))
			return
		}
		if !wasFull {
			s.Log.Error("the embedded Redis has ended: it is started again", "why", why)
		}
		wasFull = full != nil
		if !s.awaitRoom() {
			return
		}
		var err error
		if p, err = s.start(); err != nil {
			s.fail(err)
			return
		}
	}
}

// fail reports why Redis could not be kept running. An unwritable disk takes precedence: it
// explains all other errors.
func (s *supervisor) fail(err error) {
	if full := s.WritableFunc(); full != nil {
		err = full
	}
	s.failed <- err
}

// awaitRoom waits until files can be written again, but not for long: the reserve may suffice for Redis. It returns
// false if the store is closed before.
func (s *supervisor) awaitRoom() bool {
	patience := time.After(time.Second)
	for s.WritableFunc() != nil {
		select {
		case <-s.stopping:
			return false
		case <-patience:
			return true
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}

// stop stops Redis and waits until it has ended.
func (s *supervisor) stop() {
	close(s.stopping)
	<-s.ended
}
