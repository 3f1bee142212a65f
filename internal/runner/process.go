package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"ringback/internal/job"
	"ringback/internal/process"
)

// command is what to run for a turn.
type command struct {
	id     job.ID
	turn   int
	bin    string
	args   []string
	env    []string
	prompt string
	dir    string // the job's directory
	work   string // where it works; empty: a directory in dir
}

// child is a running CLI. It survives the server.
type child struct {
	pid     int
	marker  string
	files   files
	done    chan struct{} // closed when the process is gone
	exit    exit          // valid once done is closed
	started time.Time
}

// exit is how a process ended. An adopted process's code is not known.
type exit struct {
	known  bool
	code   int
	signal string
}

// files are where a turn's process and a later server meet.
type files struct{ record, stdout, stderr string }

func filesOf(dir string, turn int) files {
	name := func(suffix string) string { return filepath.Join(dir, fmt.Sprintf("turn-%d.%s", turn, suffix)) }
	return files{record: name("json"), stdout: name("stdout"), stderr: name("stderr")}
}

// identity is what a restarted server knows of a process it may adopt.
type identity struct {
	PID int `json:"pid"`
	// Started is the start time as the system counts it; a reused pid has another.
	Started string `json:"started"`
	Marker  string `json:"marker"`
}

func marker(id job.ID, turn int) string { return string(id) + "/" + strconv.Itoa(turn) }

// spawn starts a process in a session of its own, with files as its only ties.
func spawn(c command) (*child, error) {
	work := c.work
	if work == "" {
		work = filepath.Join(c.dir, workName)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, err
	}
	f := filesOf(c.dir, c.turn)
	stdin, err := promptFile(c.prompt)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := os.OpenFile(f.stdout, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.OpenFile(f.stderr, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()

	p := &child{marker: marker(c.id, c.turn), files: f, done: make(chan struct{}), started: time.Now()}
	cmd := exec.Command(c.bin, c.args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = work, stdin, stdout, stderr
	cmd.Env = append(c.env, process.MarkerVar+"="+p.marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	go p.wait(cmd)
	return p, p.remember()
}

// promptFile is the prompt as standard input. It holds the signature, so
// nothing of it stays in the file system.
func promptFile(prompt string) (*os.File, error) {
	f, err := os.CreateTemp("", "ringback-prompt-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteString(prompt); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_, err = f.Seek(0, 0)
	return f, err
}

func (p *child) wait(cmd *exec.Cmd) {
	err := cmd.Wait()
	p.exit = exit{known: true, code: cmd.ProcessState.ExitCode()}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			p.exit.signal = status.Signal().String()
		}
	}
	close(p.done)
}

// remember writes down who the process is, for a server that restarts.
func (p *child) remember() error {
	text, err := json.Marshal(identity{PID: p.pid, Started: process.StartTime(p.pid), Marker: p.marker})
	if err != nil {
		return err
	}
	return os.WriteFile(p.files.record, text, 0o600)
}

// adopt finds the process of a turn that an earlier server left. It returns nil
// when that process is gone, or its pid belongs to another by now.
func adopt(dir string, id job.ID, turn int) (*child, error) {
	f := filesOf(dir, turn)
	text, err := os.ReadFile(f.record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var who identity
	// A record cut short by the server's death matches nothing; the sweeper then
	// ends the process.
	_ = json.Unmarshal(text, &who)
	if who.Marker != marker(id, turn) || who.Started == "" || process.StartTime(who.PID) != who.Started {
		return nil, nil
	}
	p := &child{pid: who.PID, marker: who.Marker, files: f, done: make(chan struct{}), started: time.Now()}
	go func() {
		process.AwaitExit(p.pid, who.Started)
		close(p.done)
	}()
	return p, nil
}

// signal sends a signal to the whole group of the process.
func (p *child) signal(s syscall.Signal) { _ = syscall.Kill(-p.pid, s) }

// terminate ends the group: SIGTERM, and after grace SIGKILL.
func (p *child) terminate(grace time.Duration) {
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT) // a stopped process would not notice
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}
