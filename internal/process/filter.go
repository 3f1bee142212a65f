package process

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// filter is the filter of system calls, made once.
var filter = sync.OnceValue(func() string { return string(systemCallFilter()) })

// filterPlace is which of a command's extra files the filter is: behind all others that there
// may be. filterOption makes bubblewrap read it there.
const filterPlace = 6

func filterOption() []string {
	if filter() == "" {
		return nil
	}
	return []string{"--seccomp", strconv.Itoa(3 + filterPlace)}
}

// withFilter opens the filter for a command that confine has prepared and that has its other
// extra files. Whoever starts it closes the file.
func withFilter(cmd *exec.Cmd) (*os.File, error) {
	f, err := unnamedFile(filter()) // of its own: bubblewrap reads it from where it stands
	if err == nil {
		files := make([]*os.File, filterPlace+1) // those in between are none
		copy(files, cmd.ExtraFiles)
		files[filterPlace] = f
		cmd.ExtraFiles = files
	}
	return f, err
}
