package main

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/process"
)

// terminal identifies the session that the command was started from; each terminal window
// has its own. Process ids are reused, so the start time of the session's leader is
// included.
func terminal() string {
	leader, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	return strconv.Itoa(leader) + " " + process.StartTime(leader)
}

// reloads returns a value for each SIGHUP that asks for a reload of the kinds. A SIGHUP that comes
// because the terminal is gone, in which the server was started, calls stop instead.
func reloads(ctx context.Context, stop context.CancelFunc) <-chan os.Signal {
	received, asked := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	started := hasTerminal()
	go func() {
		defer signal.Stop(received)
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-received:
				if started && !hasTerminal() {
					stop()
					return
				}
				select {
				case asked <- s:
				default: // it asks for a reload already
				}
			}
		}
	}()
	return asked
}

// hasTerminal reports whether the process has a terminal that can end it.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}
