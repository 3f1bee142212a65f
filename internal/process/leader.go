package process

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// instance distinguishes a process from a later one with the same pid.
type instance struct {
	PID int `json:"pid"`
	// Started is its StartTime.
	Started string `json:"started"`
}

// lives reports whether the process still exists.
func (i instance) lives() bool { return i.PID > 1 && i.Started != "" && StartTime(i.PID) == i.Started }

// leader is the first process of a sandbox: its end ends everything in the sandbox, and it
// leads the program's process group. We start bubblewrap, which only waits for the leader.
// The zero leader is that of a program outside a sandbox.
type leader struct{ instance }

// start starts a command in a sandbox. It returns the leader of its sandbox, if it has one,
// and its doors.
func (s Sandbox) start(cmd *exec.Cmd, marker string, doors []Door) (leader, []net.Listener, error) {
	return s.launch(cmd, doors, func() error { return running.start(cmd, marker) }, func() { _ = running.wait(cmd) })
}

// launch starts a command with begin, and waits for it with wait if it cannot continue.
func (s Sandbox) launch(
	cmd *exec.Cmd, doors []Door, begin func() error, wait func(),
) (l leader, listeners []net.Listener, err error) {
	if !s.InForce() {
		return leader{}, nil, begin()
	}
	info, write, err := os.Pipe()
	if err != nil {
		return leader{}, nil, err
	}
	defer info.Close()
	defer write.Close()
	extra := make([]*os.File, groupPlace+1) // some of them remain nil
	copy(extra, cmd.ExtraFiles)
	extra[infoPlace], cmd.ExtraFiles = write, extra
	var g gate
	if len(doors) > 0 {
		if g, err = newGate(); err != nil {
			return leader{}, nil, err
		}
		defer g.close()
		cmd.ExtraFiles[gatePlace] = g.theirs
	}
	var users *os.File
	if s.user != 0 {
		if cmd.ExtraFiles[usersPlace], users, err = os.Pipe(); err != nil {
			return leader{}, nil, err
		}
		defer cmd.ExtraFiles[usersPlace].Close()
		defer users.Close()
	}
	files, err := s.withFiles(cmd)
	defer closeAll(files)
	if err != nil {
		return leader{}, nil, err
	}
	if err := begin(); err != nil {
		return leader{}, nil, err
	}
	_ = write.Close()
	s.handOverStreams(cmd.Process.Pid)
	l = readLeader(info)
	if l.PID == 0 {
		return l, nil, nil
	}
	if s.user != 0 {
		err = s.fillUsers(l.PID, users)
	}
	if err == nil && len(doors) > 0 {
		listeners, err = g.pass(l.PID, doors)
	}
	switch {
	case errors.Is(err, errNotThere), err != nil && !l.lives():
		return l, nil, nil // the caller that waits for it learns why
	case err != nil:
		group{cmd.Process.Pid, l}.kill()
		wait()
		return leader{}, nil, err
	}
	return l, listeners, nil
}

// readLeader reads bubblewrap's report about the leader. It returns the zero leader if
// either has ended already.
func readLeader(info io.Reader) leader {
	var said struct {
		PID int `json:"child-pid"`
	}
	if json.NewDecoder(info).Decode(&said) != nil || said.PID <= 1 {
		return leader{}
	}
	l := leader{instance{said.PID, StartTime(said.PID)}}
	if l.Started == "" {
		return leader{}
	}
	return l
}

// end ends everything in the sandbox, and returns when all of it has ended.
func (l leader) end() {
	if l.lives() {
		_ = syscall.Kill(l.PID, syscall.SIGKILL)
		AwaitExit(l.PID, l.Started)
	}
}
