package process

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// keepSandbox is the first argument of a helper that keeps a sandbox.
const keepSandbox = "keep-sandbox"

// RunHelper does what this program was started for by a Sandbox, and does not return
// then. Else it does nothing. Programs that make a Sandbox with themselves as its helper
// call it before anything else.
func RunHelper(args []string) {
	switch {
	case len(args) > 2 && args[1] == keepSandbox:
		os.Exit(keep(args[2], args[3:]))
	case len(args) > 3 && args[1] == runLimited:
		os.Exit(become(args[2], args[3:]))
	}
}

// keep runs bubblewrap and returns its exit code, which is the program's, once nothing is
// left of the sandbox. Bubblewrap ends with its parent, and everything in the sandbox
// with it. What a job runs must outlive the server, and yet be gone when the process is
// killed that we know it by: so that process is this one, between the two.
func keep(bwrap string, args []string) int {
	runtime.LockOSThread() // what ends with its parent ends with the thread that started it
	told, tell, err := os.Pipe()
	if err != nil {
		return complain(err)
	}
	cmd := exec.CommandContext(context.Background(), bwrap, append([]string{"--info-fd", "3"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{tell}
	// Signals to our group are for the program, and would end bubblewrap before it.
	cmd.SysProcAttr = endsWithParent()
	received := make(chan os.Signal, 16)
	signal.Notify(received, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGCONT)
	if err := cmd.Start(); err != nil {
		return complain(err)
	}
	_ = tell.Close()
	first := firstProcess(told)
	exited := make(chan struct{})
	go passOn(received, first, exited)
	err = cmd.Wait()
	close(exited)
	if first.started != "" {
		AwaitExit(first.pid, first.started)
	}
	if cmd.ProcessState == nil {
		return complain(err)
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	return 128 + int(syscall.SIGKILL) // bubblewrap was killed
}

// inSandbox is the first process of a sandbox; its pid is 0 if there never was one.
type inSandbox struct {
	pid     int
	started string
}

// firstProcess reads from bubblewrap which process leads the sandbox: its end ends all
// that is in there, and its process group is the program's.
func firstProcess(told io.Reader) inSandbox {
	var info struct {
		PID int `json:"child-pid"`
	}
	if json.NewDecoder(told).Decode(&info) != nil || info.PID <= 1 {
		return inSandbox{}
	}
	return inSandbox{info.PID, StartTime(info.PID)}
}

// passOn gives the program the signals that we get. The first process of a sandbox does
// not heed them, only what it has started does.
func passOn(received <-chan os.Signal, to inSandbox, exited <-chan struct{}) {
	for {
		select {
		case <-exited:
			return
		case s := <-received:
			if number, ok := s.(syscall.Signal); ok && to.pid > 0 && StartTime(to.pid) == to.started {
				_ = syscall.Kill(-to.pid, number)
			}
		}
	}
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "ringback: the program could not be started:", err)
	return 126
}
