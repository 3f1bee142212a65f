package process

import (
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// filter returns the system call filter, which is built once.
var filter = sync.OnceValue(func() string { return string(systemCallFilter()) })

// Indexes of a command's extra files.
const (
	// infoFile is the file to which bubblewrap writes the leader of the sandbox.
	infoFile = iota
	_        // storeFile stays where a server of another version looks for it
	// entranceFile is the file on which bubblewrap waits before its first mount.
	entranceFile
	// usersFile is the file on which bubblewrap waits for the users of the sandbox.
	usersFile
	// storeFile is the file in which bubblewrap keeps the fdStore.
	storeFile
	// filterFile is the file from which it reads the system call filter.
	filterFile
	// passwdFile and groupFile are the files from which it reads the accounts of the sandbox.
	passwdFile
	groupFile
	// textFile is the file from which it reads the first of Access.Texts; the others follow.
	textFile
)

func fdOf(index int) string { return strconv.Itoa(firstFD + index) }

// firstFD is the descriptor of the first extra file.
const firstFD = 3

func filterOption() []string {
	if filter() == "" {
		return nil
	}
	return []string{"--seccomp", fdOf(filterFile)}
}

// withFiles opens the files that bubblewrap reads, for a command that confine has prepared
// and that has its other extra files. The caller closes them.
func (s Sandbox) withFiles(cmd *exec.Cmd, access Access) (opened []*os.File, err error) {
	texts := map[int]string{filterFile: filter()}
	for i, t := range access.Texts {
		texts[textFile+i] = t.Content
	}
	if s.user != 0 {
		texts[passwdFile] = withAccount("/etc/passwd", s.user, strconv.Itoa(s.user)+"::"+cmp.Or(s.opts.Home, "/nonexistent")+":"+shell)
		texts[groupFile] = withAccount("/etc/group", s.user, "")
	}
	for index, text := range texts {
		f, err := unnamedFile(text) // one for each command, because bubblewrap reads from the current offset
		if err != nil {
			return opened, err
		}
		cmd.ExtraFiles[index], opened = f, append(opened, f)
	}
	return opened, nil
}

// accounts shows the machine's accounts together with the user of the jobs, so that programs
// can look that user up.
func (m mounts) accounts() {
	for file, index := range map[string]int{"/etc/passwd": passwdFile, "/etc/group": groupFile} {
		if _, err := os.Stat(file); err == nil {
			m[resolved(file)] = []string{"--perms", "0444", "--ro-bind-data", fdOf(index), resolved(file)}
		}
	}
}

func (m mounts) texts(texts []Text) {
	for i, t := range texts {
		mode, option := "0444", "--ro-bind-data" // a mount, which cannot be moved or removed
		if t.Writable {
			mode, option = "0666", "--file"
		}
		m[t.Path] = []string{"--perms", mode, option, fdOf(textFile + i), t.Path}
	}
}

// withAccount returns the machine's list of users or groups, with the jobs' own appended; rest is the
// part of its line after the number. setpriv looks the number up as a name, too: without a line for
// it, it would load all modules of nsswitch.conf, which is a quarter of its time.
func withAccount(file string, id int, rest string) string {
	text, _ := os.ReadFile(file) // the file may not exist
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	number := strconv.Itoa(id)
	line := ":x:" + number + ":" + rest + "\n"
	return string(text) + "ringback" + line + number + line
}
