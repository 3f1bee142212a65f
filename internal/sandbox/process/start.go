package process

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"ringback/internal/job/limit"
	"ringback/internal/sandbox/untrusted"
)

// Detached is a program that outlives the server that starts it.
type Detached struct {
	// Args are the program and its arguments.
	Args []string
	// Dir is its working directory; it is created if it does not exist.
	Dir string
	Env []string
	// Marker is passed on in MarkerVar.
	Marker string
	// Sandbox confines the program to Access. The process is then that of the sandbox: it
	// ends with the program, and everything in the sandbox ends with it.
	Sandbox Sandbox
	Access  Access
	// Limits are its resource limits.
	Limits limit.Limits
	// Stdin may contain secrets: nothing of it remains in the file system.
	Stdin string
	Files Files
}

// Files are the files through which a later server finds a detached program.
type Files struct {
	// Record identifies the process.
	Record string
	// Stdout and Stderr are its output.
	Stdout, Stderr string
}

// Remove removes the files that exist.
func (f Files) Remove() {
	for _, name := range []string{f.Record, f.Stdout, f.Stderr} {
		_ = os.Remove(name)
	}
}

// CutOutput frees what each output has beyond its first bytes.
func (f Files) CutOutput(most int64) error {
	return errors.Join(untrusted.Cut(f.Stdout, most), untrusted.Cut(f.Stderr, most))
}

// Process is a detached program that was started or adopted.
type Process struct {
	// PID is the process that was started: the program, or the bubblewrap that waits for it.
	PID int
	// Marker identifies it and its children.
	Marker string
	Files  Files
	// Since is the time at which it was started or adopted.
	Since time.Time

	leader instance
	// listeners are those of the doors of its sandbox.
	listeners []net.Listener
	store     fdStore
	done      chan struct{}
	exit      Exit
}

// Exit describes how a process ended.
type Exit struct {
	// Known is false for an adopted process: the system reports the exit status only to its parent.
	Known bool
	// Code is its exit code; -1 if a signal ended it.
	Code int
	// Signal is the name of that signal; "" for none.
	Signal string
}

// WasKilled reports whether SIGKILL ended the process. If the server did not send it, the system did: for example, because it
// has no memory left.
func (e Exit) WasKilled() bool { return e.Signal == syscall.SIGKILL.String() || e.Code == killed }

// killed is the exit code with which shells, and a sandbox, report SIGKILL.
const killed = 128 + int(syscall.SIGKILL)

// Start starts a program in its own session, unless ctx ends before it has begun. If it runs but
// its record could not be written, Start returns both the process and the error: a restarted server
// will not find it.
func Start(ctx context.Context, d Detached) (*Process, error) {
	for _, dir := range []string{filepath.Dir(d.Files.Record), d.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	cmd := commandOf(d.Args)
	cmd.Dir = d.Dir
	store, err := newFDStore(d.Sandbox, d.Access.Network.Doors)
	if err != nil {
		return nil, err
	}
	p := newProcess(d.Marker, d.Files)
	p.store = store
	err = p.start(ctx, cmd, d)
	_ = store.theirs.Close()
	if err != nil {
		store.close()
		return nil, err
	}
	go p.wait(cmd)
	return p, p.record()
}

// start starts the program.
func (p *Process) start(ctx context.Context, cmd *exec.Cmd, d Detached) error {
	if err := d.Sandbox.confine(ctx, cmd, d.Access, d.Limits, p.store.options()...); err != nil {
		return err
	}
	stdin, err := unnamedFile(d.Stdin)
	if err != nil {
		return err
	}
	defer stdin.Close()
	stdout, err := untrusted.AppendTo(d.Files.Stdout)
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr, err := untrusted.AppendTo(d.Files.Stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.ExtraFiles = []*os.File{storeFile: p.store.theirs}
	cmd.Env = append(d.Env, MarkerVar+"="+d.Marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if ctx.Err() != nil { // the disk may have hung until now
		return context.Cause(ctx)
	}
	if p.leader, p.listeners, err = d.Sandbox.start(cmd, d.Marker, d.Access); err != nil {
		return err
	}
	p.PID = cmd.Process.Pid
	p.store.put(p.listeners, p.PID)
	serve(d.Access.Network.Doors, p.listeners)
	return nil
}

func rewound(f *os.File, text string) (*os.File, error) {
	_, err := f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func newProcess(marker string, f Files) *Process {
	return &Process{Marker: marker, Files: f, Since: time.Now(), done: make(chan struct{})}
}

func (p *Process) wait(cmd *exec.Cmd) {
	err := running.wait(cmd)
	p.leader.end() // bubblewrap may have been killed
	closeAll(p.listeners)
	p.store.close()
	p.exit = Exit{Known: true, Code: cmd.ProcessState.ExitCode(), Signal: signalOf(err)}
	close(p.done)
}

// signalOf returns the name of the signal that ended a program; "" for none.
func signalOf(err error) string {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return status.Signal().String()
		}
	}
	return ""
}

// maxRecord limits the record of a process, in bytes.
const maxRecord = 64 << 10

// identity is the record of a process.
type identity struct {
	instance
	// Place is the scope of the pid: another boot, or another container, counts its own.
	Place  string `json:"place"`
	Marker string `json:"marker"`
	// Leader is the first process of its sandbox, if it has one.
	Leader instance `json:"leader,omitzero"`
}

// record writes the identity of the process, for a restarted server.
func (p *Process) record() error {
	text, err := json.Marshal(identity{
		instance: instance{p.PID, StartTime(p.PID)}, Place: pidScope(), Marker: p.Marker, Leader: p.leader,
	})
	if err != nil {
		return err
	}
	return untrusted.WriteFile(p.Files.Record, text)
}

// Adopt finds the process that an earlier server started with this marker and these files. It
// returns nil if the process has ended, or if its pid belongs to another process by now: one with
// another start time, place or marker. A job outside a sandbox can write its own record. Adopt
// reopens the doors in the process's sandbox; if that fails, it returns both the process and the
// error.
func Adopt(f Files, marker string, doors ...Door) (*Process, error) {
	text, err := untrusted.ReadFile(f.Record, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var who identity
	// A record cut short by the server's death matches nothing; the process is then ended
	// by its marker.
	_ = json.Unmarshal(text, &who)
	if who.Marker != marker || who.Place != pidScope() {
		return nil, nil
	}
	if who.Leader.lives() && !carries(who.Leader.PID, marker) {
		who.Leader = instance{}
	}
	if !who.lives() || !carries(who.PID, marker) {
		who.Leader.end()
		return nil, nil
	}
	p := newProcess(marker, f)
	p.PID, p.leader = who.PID, who.Leader
	if p.leader.lives() {
		p.listeners, err = reopenDoors(p, doors)
	}
	go func() {
		AwaitExit(p.PID, who.Started)
		p.leader.end()
		closeAll(p.listeners)
		close(p.done)
	}()
	return p, err
}

// Done is closed when the process has ended; its children may still run.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit waits for the process to end and returns how it ended.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// EndedWhole waits for the process to end, and reports whether nothing can be left of it: it ran in a
// sandbox, whose end ends everything in it. It is false for an adopted process, whose record may not be
// true.
func (p *Process) EndedWhole() bool { return p.Exit().Known && p.leader.PID != 0 }

// Terminate ends the process with its group: SIGTERM, and SIGKILL after grace. It
// returns when the process has ended.
func (p *Process) Terminate(grace time.Duration) {
	p.group().end(grace, p.done)
	<-p.done
}

// Kill immediately ends the process and what is left of its group.
func (p *Process) Kill() { p.group().kill() }

func (p *Process) group() group { return group{p.PID, p.leader} }
