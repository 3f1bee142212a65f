package process

import (
	"os"
	"os/exec"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"ringback/internal/limit"
)

// RunBriefly runs a command to its end in a room. It is for many short programs one after
// another: it does without the helper, which costs more than they do, so the command ends
// with this server, and as soon as its context does. Where the sandbox confines nothing,
// there is no room, and there are no limits.
func (s Sandbox) RunBriefly(cmd *exec.Cmd, room Room, l limit.Limits) error {
	if !s.InForce() || cmd.Err != nil {
		return cmd.Run()
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer told.Close()
	wait, goOn, err := os.Pipe()
	if err != nil {
		_ = tell.Close()
		return err
	}
	defer goOn.Close()
	cmd.Args = slices.Concat([]string{s.bwrap, "--info-fd", "3", "--block-fd", "4"}, s.bubblewrap(cmd.Args, cmd.Dir, room, limit.Limits{}))
	cmd.Path, cmd.ExtraFiles, cmd.SysProcAttr = s.bwrap, []*os.File{tell, wait}, endsWithParent()
	runtime.LockOSThread() // what ends with its parent ends with the thread that started it
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	_, _ = tell.Close(), wait.Close()
	if err != nil {
		return err
	}
	// The program begins once it has its limits.
	if first := firstProcess(told); first.pid > 0 {
		err = limitOther(first.pid, l)
	}
	if err != nil {
		_ = cmd.Process.Kill()
	} else {
		_, _ = goOn.Write([]byte{1}) // where bubblewrap has ended, it says why
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	return err
}

// limitOther limits another process, none above what is set for this one.
func limitOther(pid int, l limit.Limits) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_FSIZE: uint64(l.FileSize), unix.RLIMIT_DATA: uint64(l.Memory), unix.RLIMIT_NPROC: uint64(l.Processes)} { //nolint:gosec // none is negative
		var now unix.Rlimit
		if most == 0 {
			continue
		}
		if err := unix.Getrlimit(resource, &now); err != nil {
			return err
		}
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: min(now.Max, most)}, nil); err != nil {
			return err
		}
	}
	return nil
}
