package process

import (
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// filter is the filter of system calls, made once.
var filter = sync.OnceValue(func() string { return string(systemCallFilter()) })

// Places of a command's extra files.
const (
	// infoPlace is where bubblewrap writes who the leader of the sandbox is.
	infoPlace = iota
	// gatePlace is the gate of a room with doors.
	gatePlace
	// usersPlace is where bubblewrap waits for the users of the sandbox.
	usersPlace
	// filterPlace is where it reads the filter of system calls.
	filterPlace
	// passwdPlace and groupPlace are where it reads the accounts of the sandbox.
	passwdPlace
	groupPlace
)

// fdOf is the descriptor of an extra file.
func fdOf(place int) string { return strconv.Itoa(3 + place) }

// filterOption makes bubblewrap read the filter.
func filterOption() []string {
	if filter() == "" {
		return nil
	}
	return []string{"--seccomp", fdOf(filterPlace)}
}

// withFiles opens what bubblewrap reads for a command that confine has prepared and that has
// its other extra files. Whoever starts it closes the files.
func (s Sandbox) withFiles(cmd *exec.Cmd) (opened []*os.File, err error) {
	texts := map[int]string{filterPlace: filter()}
	if s.user != 0 {
		texts[passwdPlace] = withAccount("/etc/passwd", s.user, strconv.Itoa(s.user)+"::"+cmp.Or(s.opts.Home, "/nonexistent")+":"+shell)
		texts[groupPlace] = withAccount("/etc/group", s.user, "")
	}
	files := make([]*os.File, groupPlace+1) // some of them are none
	copy(files, cmd.ExtraFiles)
	for place, text := range texts {
		f, err := unnamedFile(text) // of its own: bubblewrap reads it from where it stands
		if err != nil {
			return opened, err
		}
		files[place], opened = f, append(opened, f)
	}
	cmd.ExtraFiles = files
	return opened, nil
}

// accounts shows the machine's accounts with that of the user of the jobs, whom programs look
// up there.
func (m mounts) accounts() {
	for file, place := range map[string]int{"/etc/passwd": passwdPlace, "/etc/group": groupPlace} {
		if _, err := os.Stat(file); err == nil {
			m[resolved(file)] = []string{"--perms", "0444", "--ro-bind-data", fdOf(place), resolved(file)}
		}
	}
}

// withAccount is the machine's list of users or groups, with that of the jobs; rest is what
// stands in its line behind the number.
func withAccount(file string, id int, rest string) string {
	text, _ := os.ReadFile(file) // there may be none
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return string(text) + "ringback:x:" + strconv.Itoa(id) + ":" + rest + "\n"
}
