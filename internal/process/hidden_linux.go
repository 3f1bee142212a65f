package process

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// hidden judges a socket that no program shows. Those of programs in containers beside or
// around ours are not seen, nor those of other users, nor those of a program that forbids
// to be looked into, as sshd does when it forwards a port. But programs of jobs can hide
// one, too: by the same means, on its way to another program, or in a ring of the kernel's.
// So it is nobody's of a job only where all of their programs can be looked into, several
// times, and none hides anything.
func (p *Peer) hidden(s socket) Caller {
	if s.uid != os.Geteuid() {
		return Caller{Origin: OfOthers}
	}
	for clean, n := 0, 0; clean < cleanLooks; n++ {
		before := programsOfJobs()
		if len(before) == 0 {
			break
		}
		for pid := range before {
			if hides(pid, s) || n == mostLooks {
				marker, _ := belongsToJob(pid)
				return Caller{OfUnknown, pid, marker}
			}
		}
		if maps.Equal(before, programsOfJobs()) { // else one may have handed it to another that was not seen
			clean++
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond)) //nolint:gosec // nobody need not guess it
	}
	if now, ok := findSocket(p.remote, p.local); !ok || now != s {
		return Caller{Origin: OfNobody}
	}
	return Caller{Origin: OfOthers}
}

// A socket that is passed from program to program without a pause may be missed once, but
// not often.
const cleanLooks, mostLooks = 8, 40

// programsOfJobs are all programs that belong to jobs: when they started, by pid.
func programsOfJobs() map[int]string {
	found := map[int]string{}
	for _, pid := range pids() {
		if _, ofJob := belongsToJob(pid); ofJob {
			if now, ok := statOf(pid); ok && !now.zombie {
				found[pid] = now.started
			}
		}
	}
	return found
}

// hides reports whether a program has a socket in one of its threads, or something by which
// it may have it unseen.
func hides(pid int, s socket) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, thread := range namesIn(dir) {
		descriptors := dir + thread + "/fd/"
		entries, err := os.ReadDir(descriptors)
		if errors.Is(err, fs.ErrPermission) {
			return true
		}
		for _, e := range entries {
			to, err := os.Readlink(descriptors + e.Name())
			switch {
			case errors.Is(err, fs.ErrPermission), to == s.link(), strings.Contains(to, "io_uring"):
				return true
			case strings.HasPrefix(to, "socket:") && hasInFlight(dir+thread+"/fdinfo/"+e.Name()):
				return true
			}
		}
	}
	return false
}

// hasInFlight reports whether descriptors are on their way over a socket.
func hasInFlight(info string) bool {
	text, err := os.ReadFile(info)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	for line := range bytes.Lines(text) {
		if count, ok := bytes.CutPrefix(line, []byte("scm_fds:")); ok {
			return string(bytes.TrimSpace(count)) != "0"
		}
	}
	return false
}
