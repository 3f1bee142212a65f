//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StartTime returns when a process started, according to ps; "" if there is no such
// process.
func StartTime(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	if err != nil || strings.HasPrefix(text, "Z") {
		return ""
	}
	_, started, _ := strings.Cut(text, " ")
	return strings.TrimSpace(started)
}

// AwaitExit returns when a process that is not our child has ended.
func AwaitExit(pid int, started string) { awaitExitByAsking(pid, started) }

// Marked finds nothing here: only Linux shows another process's environment. Process
// groups still end with their turn.
func Marked(func(string) bool) []int { return nil }

func endMarked(func(string) bool) []int { return nil }

// carries cannot check the marker, so pid and start time must suffice.
func carries(int, string) bool { return true }

func pidScope() string { return "" }

// unnamedFile returns a file with a text that disappears when it is closed.
func unnamedFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ringback-stdin-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return rewound(f, text)
}

// EndStrays does nothing here: only on Linux do processes without a parent become our
// children.
func EndStrays(context.Context, *slog.Logger) {}

func canFetch() bool { return false }

func isFetchable(int) bool { return false }

func storedListeners(int) []net.Listener { return nil }

// EndCommands finds nothing here: only Linux shows the session of a process.
func (p *Process) EndCommands(time.Duration) int { return 0 }

// Protect disables core dumps: only Linux can protect a process from its own user.
func Protect() error {
	if err := lower(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	return nil
}

// attributes start a program in a new session.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endsWithParent starts a program in a new process group.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
