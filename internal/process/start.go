package process

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"ringback/internal/limit"
)

// Detached is a program that outlives the server that starts it.
type Detached struct {
	// Args are the program and its arguments.
	Args []string
	// Dir is where it works; it is made if it is not there.
	Dir string
	Env []string
	// Marker is passed on in MarkerVar.
	Marker string
	// Sandbox confines the program to Room. The process is then the sandbox's: it ends
	// with the program, and everything in the sandbox ends with it.
	Sandbox Sandbox
	Room    Room
	// Limits are what it may take.
	Limits limit.Limits
	// Stdin may hold secrets: nothing of it stays in the file system.
	Stdin string
	Files Files
}

// Files are where a detached program and a later server meet.
type Files struct {
	// Record says which process it is.
	Record string
	// Stdout and Stderr are what it prints.
	Stdout, Stderr string
}

// Remove removes those that there are.
func (f Files) Remove() {
	for _, name := range []string{f.Record, f.Stdout, f.Stderr} {
		_ = os.Remove(name)
	}
}

// Process is a detached program that was started or adopted.
type Process struct {
	// PID is the id of what was started: the program, or the bubblewrap that waits for it.
	PID int
	// Marker finds it and its children.
	Marker string
	Files  Files
	// Since is when it was started, or adopted.
	Since time.Time

	leader leader
	// listeners are those of the doors of its room.
	listeners []net.Listener
	done      chan struct{}
	exit      Exit
}

// Exit is how a process ended.
type Exit struct {
	// Known is false for an adopted process: the system tells only its parent.
	Known bool
	// Code is its exit code; -1 when a signal ended it.
	Code int
	// Signal is the name of that signal; "" for none.
	Signal string
}

// Start starts a program in a session of its own. Where it runs but its record could
// not be written, it returns both the process and the error: a server that restarts
// will not find it.
func Start(d Detached) (*Process, error) {
	for _, dir := range []string{filepath.Dir(d.Files.Record), d.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(d.Args[0], d.Args[1:]...) //nolint:noctx // it outlives whatever context there is
	cmd.Dir = d.Dir
	if err := d.Sandbox.confine(cmd, d.Room, d.Limits); err != nil {
		return nil, err
	}
	stdin, err := unnamedFile(d.Stdin)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := appendTo(d.Files.Stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := appendTo(d.Files.Stderr)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Env = append(d.Env, MarkerVar+"="+d.Marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p := newProcess(d.Marker, d.Files)
	if p.leader, p.listeners, err = d.Sandbox.start(cmd, d.Marker, d.Room.Network.Doors); err != nil {
		return nil, err
	}
	p.PID = cmd.Process.Pid
	go p.wait(cmd)
	return p, p.record()
}

func newProcess(marker string, f Files) *Process {
	return &Process{Marker: marker, Files: f, Since: time.Now(), done: make(chan struct{})}
}

func appendTo(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

func (p *Process) wait(cmd *exec.Cmd) {
	err := running.wait(cmd)
	p.leader.end() // bubblewrap may have been killed
	closeAll(p.listeners)
	p.exit = Exit{Known: true, Code: cmd.ProcessState.ExitCode(), Signal: signalOf(err)}
	close(p.done)
}

// signalOf is the name of the signal that ended a program; "" for none.
func signalOf(err error) string {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return status.Signal().String()
		}
	}
	return ""
}

// identity is the record of a process.
type identity struct {
	instance
	// Place is where the pid means something: another boot, or another container, counts
	// its own.
	Place  string `json:"place"`
	Marker string `json:"marker"`
	// Leader is the first process of its sandbox, if it has one.
	Leader leader `json:"leader,omitzero"`
}

// record writes down who the process is, for a server that restarts.
func (p *Process) record() error {
	text, err := json.Marshal(identity{instance: instance{p.PID, StartTime(p.PID)}, Place: place(), Marker: p.Marker, Leader: p.leader})
	if err != nil {
		return err
	}
	return os.WriteFile(p.Files.Record, text, 0o600)
}

// Adopt finds the process that an earlier server started with this marker and these
// files. It returns nil when it is gone, or its pid belongs to another by now: one that
// started at another time or place, or does not carry the marker. A job that is not in a
// sandbox can write its own record. doors are opened anew in its sandbox; if that fails, both the
// process and the error are returned.
func Adopt(f Files, marker string, doors ...Door) (*Process, error) {
	text, err := readRecord(f.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var who identity
	// A record cut short by the server's death matches nothing; the process is then
	// ended by its marker.
	_ = json.Unmarshal(text, &who)
	if who.Marker != marker || who.Place != place() {
		return nil, nil
	}
	if who.Leader.lives() && !carries(who.Leader.PID, marker) {
		who.Leader = leader{}
	}
	if !who.lives() || !carries(who.PID, marker) {
		who.Leader.end()
		return nil, nil
	}
	p := newProcess(marker, f)
	p.PID, p.leader = who.PID, who.Leader
	if p.leader.lives() {
		p.listeners, err = openDoors(p.leader.PID, doors)
	}
	go func() {
		AwaitExit(p.PID, who.Started)
		p.leader.end()
		closeAll(p.listeners)
		close(p.done)
	}()
	return p, err
}

// Done is closed when the process is gone; its children may still be there.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit tells how the process ended. It waits until that is so.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// Terminate ends the process with its group: SIGTERM, and after grace SIGKILL. It
// returns when the process is gone.
func (p *Process) Terminate(grace time.Duration) {
	p.group().terminate()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.Kill()
	<-p.done
}

// Kill ends the process and what is left of its group, at once.
func (p *Process) Kill() { p.group().kill() }

func (p *Process) group() group { return group{p.PID, p.leader} }
