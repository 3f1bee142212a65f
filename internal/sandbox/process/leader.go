package process

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// instance distinguishes a process from a later one with the same pid.
type instance struct {
	PID int `json:"pid"`
	// Started is its StartTime.
	Started string `json:"started"`
}

func (i instance) lives() bool { return i.PID > 1 && i.Started != "" && StartTime(i.PID) == i.Started }

// The leader is the first process of a sandbox: its end ends everything in the sandbox, and it
// leads the program's process group. We start bubblewrap, which only waits for the leader.
// The zero instance is the leader of a program outside a sandbox.

// start starts a command in a sandbox. It returns the leader of its sandbox, if it has one,
// and its doors. The caller waits for the command with running.wait.
func (s Sandbox) start(cmd *exec.Cmd, marker string, access Access) (l instance, listeners []net.Listener, err error) {
	if !s.InForce() {
		return instance{}, nil, running.start(cmd, marker)
	}
	info, write, err := os.Pipe()
	if err != nil {
		return instance{}, nil, err
	}
	defer info.Close()
	defer write.Close()
	extra := make([]*os.File, textFile+len(access.Texts)) // some of them remain nil
	copy(extra, cmd.ExtraFiles)
	extra[infoFile], cmd.ExtraFiles = write, extra
	stops, err := s.stops(cmd)
	defer stops.close()
	if err != nil {
		return instance{}, nil, err
	}
	files, err := s.withFiles(cmd, access)
	defer closeAll(files)
	if err != nil {
		return instance{}, nil, err
	}
	if err := running.start(cmd, marker); err != nil {
		return instance{}, nil, err
	}
	_ = write.Close()
	s.handOverStreams(cmd.Process.Pid)
	l = readLeader(info)
	if l.PID == 0 {
		return l, nil, nil
	}
	listeners, err = s.admit(l.PID, stops, access.Network.Doors)
	switch {
	case err != nil && !l.lives():
		return l, nil, nil // the caller that waits for it learns why
	case err != nil:
		group{cmd.Process.Pid, l}.kill()
		_ = running.wait(cmd)
		return instance{}, nil, err
	}
	return l, listeners, nil
}

// stops are where the first process of a sandbox waits for us on its way to its program: for its users, and before
// its first mount.
type stops struct{ users, entrance pipe }

// pipe has one end that is for the sandbox.
type pipe struct{ ours, theirs *os.File }

func newPipe() (p pipe, err error) {
	p.theirs, p.ours, err = os.Pipe()
	return p, err
}

func (s stops) close() {
	for _, p := range []pipe{s.users, s.entrance} {
		_ = p.ours.Close()
		_ = p.theirs.Close()
	}
}

// stops gives a command the stops that its sandbox needs.
func (s Sandbox) stops(cmd *exec.Cmd) (at stops, err error) {
	if at.entrance, err = newPipe(); err == nil && s.user != 0 {
		at.users, err = newPipe()
	}
	cmd.ExtraFiles[entranceFile], cmd.ExtraFiles[usersFile] = at.entrance.theirs, at.users.theirs
	return at, err
}

// admit prepares a sandbox at each stop of its first process. It returns the doors, which are open before any program
// begins.
func (s Sandbox) admit(first int, at stops, doors []Door) ([]net.Listener, error) {
	err := makePrivate(first)
	if err == nil && s.user != 0 {
		err = s.fillUsers(first, at.users.ours)
	}
	if err != nil {
		return nil, err
	}
	listeners, err := openDoors(first, doors)
	if err != nil {
		return nil, err
	}
	return listeners, at.entrance.ours.Close()
}

// readLeader reads bubblewrap's report about the leader. It returns the zero instance if
// either has ended already.
func readLeader(info io.Reader) instance {
	var said struct {
		PID int `json:"child-pid"`
	}
	if json.NewDecoder(info).Decode(&said) != nil || said.PID <= 1 {
		return instance{}
	}
	if started := StartTime(said.PID); started != "" {
		return instance{said.PID, started}
	}
	return instance{}
}

// end ends the process, and with a leader its sandbox. It returns when all of it has ended.
func (i instance) end() {
	if i.lives() {
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
		AwaitExit(i.PID, i.Started)
	}
}

// awaitExitByAsking polls, for systems that cannot wait for another process's child.
func awaitExitByAsking(pid int, started string) {
	for StartTime(pid) == started {
		time.Sleep(200 * time.Millisecond)
	}
}

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
