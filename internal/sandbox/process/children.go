package process

import (
	"maps"
	"os/exec"
	"sync"
)

// running are the programs that this process has started, each in its own session, and
// not yet waited for. The list is global because a process has one set of children:
// code that searches them must know all of ours.
var running = children{markers: map[int]string{}}

type children struct {
	mu sync.Mutex
	// markers are the programs' markers, by pid.
	markers map[int]string
}

// start starts a program; it becomes visible to other callers only once it is on the
// list.
func (c *children) start(cmd *exec.Cmd, marker string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	c.markers[cmd.Process.Pid] = marker
	return nil
}

// wait waits for a program's end.
func (c *children) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	c.mu.Lock()
	delete(c.markers, cmd.Process.Pid)
	c.mu.Unlock()
	return err
}

// snapshot returns the list after calling search, with no program starting in between.
func (c *children) snapshot(search func()) map[int]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	search()
	return maps.Clone(c.markers)
}
