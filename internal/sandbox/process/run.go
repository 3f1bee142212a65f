package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"ringback/internal/job/limit"
)

// Command is a program that is run to its end.
type Command struct {
	// Args are the program and its arguments.
	Args []string
	Dir  string
	Env  []string
	// Marker is passed on in MarkerVar.
	Marker string
	// Sandbox confines the program to Access.
	Sandbox Sandbox
	Access  Access
	// Limits are its resource limits.
	Limits limit.Limits
	Stdin  []byte
	// OutputLimit limits the bytes that are kept of each stream, half of them from its
	// beginning and half from its end; default 64 KiB.
	OutputLimit int
	// Line, if set, is called with each line of standard output as it arrives.
	Line func(text string)
}

// Ended describes how a program ended.
type Ended struct {
	// Code is its exit code; -1 if a signal ended it.
	Code           int
	Stdout, Stderr string
	// LastLine is the last non-empty line of standard output, in full.
	LastLine string
	// Limit describes the limit that a failed program has reached; "" for none.
	Limit string
	Took  time.Duration
}

// grace is the time that a program has to end after SIGTERM.
const grace = 3 * time.Second

// Run runs a program in its own session, and returns when it has ended. If ctx ends, Run ends the whole
// process group; it also ends children that the program leaves behind. Secrets in the program's environment
// are blanked out of its output. The error describes why the program could not be started, or is the cause of
// ctx.
func Run(ctx context.Context, c Command) (Ended, error) {
	secrets := SecretsOf(c.Env)
	out := &output{limit: c.OutputLimit, line: c.Line, secrets: secrets}
	errs := &output{limit: c.OutputLimit, secrets: secrets}
	cmd := commandOf(c.Args)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, bytes.NewReader(c.Stdin), out, errs
	cmd.Env = append(c.Env, MarkerVar+"="+c.Marker)
	if err := c.Sandbox.confine(ctx, cmd, c.Access, c.Limits, endWithUs); err != nil {
		return Ended{Code: -1}, err
	}
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = grace // children that keep the output open do not block us
	// A program that is to end with us ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	first, listeners, err := c.Sandbox.start(cmd, c.Marker, c.Access)
	if err != nil {
		return Ended{Code: -1}, err
	}
	serve(c.Access.Network.Doors, listeners)
	defer closeAll(listeners)
	group := group{cmd.Process.Pid, first}
	done := make(chan struct{})
	var ending sync.WaitGroup
	ending.Go(func() {
		select {
		case <-done:
		case <-ctx.Done():
			group.end(grace, done)
		}
	})
	err = running.wait(cmd)
	close(done)
	ending.Wait()
	group.kill() // whatever is left
	ended := Ended{
		Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String(), LastLine: out.last(), Took: time.Since(begin),
	}
	if ended.Code != 0 {
		ended.Limit = c.Sandbox.Reached(c.Limits, ended.Code, signalOf(err), ended.Stderr)
	}
	if ctx.Err() != nil {
		return ended, context.Cause(ctx)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return ended, err
}

// commandOf returns a command that no context ends: its whole group is ended instead.
func commandOf(args []string) *exec.Cmd { return exec.Command(args[0], args[1:]...) } //nolint:noctx // see above

// group identifies a program's process group for signals.
type group struct {
	// pid is the process that we started: the program itself, or bubblewrap.
	pid    int
	leader instance
}

func (g group) terminate() {
	pid := g.pid
	if g.leader.PID > 0 { // bubblewrap would end before the program
		if !g.leader.lives() {
			return
		}
		pid = g.leader.PID
	}
	if errors.Is(syscall.Kill(-pid, syscall.SIGTERM), syscall.ESRCH) { // no program has begun, or it has ended
		g.kill()
	}
	_ = syscall.Kill(-pid, syscall.SIGCONT) // a stopped process would not notice
}

// kill ends the program with its group, and with its sandbox if it has one.
func (g group) kill() {
	g.leader.end()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
}

// end ends the group: SIGTERM, and SIGKILL to what is left when the program is done or after grace.
func (g group) end(grace time.Duration, done <-chan struct{}) {
	g.terminate()
	select {
	case <-done:
	case <-time.After(grace):
	}
	g.kill()
}

// output keeps the beginning and the end of the text written to it, without secrets.
type output struct {
	limit   int
	line    func(string)
	secrets Secrets

	mu sync.Mutex
	// tail exceeds the part that is shown by the length of the longest secret: a secret
	// that was cut in two could not be recognized.
	head, tail []byte
	total      int
	partial    []byte
	lastLine   string
}

var _ io.Writer = (*output)(nil)

const (
	defaultLimit = 64 << 10
	// maxLine limits the memory for a line without end.
	maxLine = 1 << 20
)

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	lines := o.add(text)
	o.mu.Unlock()
	if o.line != nil {
		for _, line := range lines {
			o.line(line)
		}
	}
	return len(text), nil
}

// add stores a piece and returns the lines that it completes.
func (o *output) add(text []byte) (lines []string) {
	half := o.half()
	rest := text
	o.total += len(text)
	if room := half - len(o.head); room > 0 {
		n := min(room, len(rest))
		o.head, rest = append(o.head, rest[:n]...), rest[n:]
	}
	o.tail = append(o.tail, rest...)
	if over := len(o.tail) - half - o.secrets.Longest(); over > 0 {
		o.tail = append([]byte(nil), o.tail[over:]...)
	}
	for _, b := range bytes.SplitAfter(text, []byte("\n")) {
		if len(o.partial) < maxLine {
			o.partial = append(o.partial, b...)
		}
		if !bytes.HasSuffix(b, []byte("\n")) {
			continue
		}
		if line := o.hiddenLine(); line != "" {
			o.lastLine, lines = line, append(lines, line)
		}
		o.partial = o.partial[:0]
	}
	return lines
}

func (o *output) half() int {
	if o.limit <= 0 {
		return defaultLimit / 2
	}
	return max(1, o.limit/2)
}

func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if line := o.hiddenLine(); line != "" {
		return line
	}
	return o.lastLine
}

func (o *output) hiddenLine() string { return string(bytes.TrimSpace(o.secrets.Hide(o.partial))) }

// String returns the kept text, with a line in place of the omitted part.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	valid := func(text []byte) string { return string(bytes.ToValidUTF8(text, []byte("\uFFFD"))) }
	if half := o.half(); o.total > 2*half {
		head := o.secrets.Hide(o.head)
		head = head[:len(head)-o.secrets.Open(head)]
		tail := o.secrets.Hide(o.tail)
		tail = tail[len(tail)-half:]
		return valid(head) + "\n… " + strconv.Itoa(o.total-len(head)-len(tail)) + " bytes left out …\n" + valid(tail)
	}
	return valid(o.secrets.Hide(append(bytes.Clone(o.head), o.tail...)))
}
