package process

import (
	"encoding/json"
	"errors"
	"io/fs"
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
	// Limits are what it may take, if Sandbox has a helper.
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
	// PID is its id, and that of its process group.
	PID int
	// Marker finds it and its children.
	Marker string
	Files  Files
	// Since is when it was started, or adopted.
	Since time.Time

	done chan struct{}
	exit Exit
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
	args, err := d.Sandbox.wrap(d.Args, d.Dir, d.Room, d.Limits)
	if err != nil {
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

	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it outlives whatever context there is
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = d.Dir, stdin, stdout, stderr
	cmd.Env = append(d.Env, MarkerVar+"="+d.Marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p := newProcess(d.Marker, d.Files)
	if err := running.start(cmd, d.Marker); err != nil {
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

// unnamedFile holds a text, and goes when it is closed.
func unnamedFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ringback-stdin-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteString(text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (p *Process) wait(cmd *exec.Cmd) {
	err := running.wait(cmd)
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
	PID int `json:"pid"`
	// Started is its StartTime; a later process with its pid has another.
	Started string `json:"started"`
	// Place is where the pid means something: another boot, or another container, counts
	// its own.
	Place  string `json:"place"`
	Marker string `json:"marker"`
}

// record writes down who the process is, for a server that restarts.
func (p *Process) record() error {
	text, err := json.Marshal(identity{PID: p.PID, Started: StartTime(p.PID), Place: place(), Marker: p.Marker})
	if err != nil {
		return err
	}
	return os.WriteFile(p.Files.Record, text, 0o600)
}

// Adopt finds the process that an earlier server started with this marker and these
// files. It returns nil when it is gone, or its pid belongs to another by now: one that
// started at another time or place, or does not carry the marker.
func Adopt(f Files, marker string) (*Process, error) {
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
	if !who.lives() || who.Marker != marker || !carries(who.PID, marker) {
		return nil, nil
	}
	p := newProcess(marker, f)
	p.PID = who.PID
	go func() {
		AwaitExit(p.PID, who.Started)
		close(p.done)
	}()
	return p, nil
}

// lives reports whether the process is there that was recorded. Records of earlier
// servers have no place.
func (who identity) lives() bool {
	return who.PID > 1 && who.Started != "" && (who.Place == "" || who.Place == place()) && StartTime(who.PID) == who.Started
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
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT) // a stopped process would not notice
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
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

func (p *Process) signal(s syscall.Signal) { _ = syscall.Kill(-p.PID, s) }
