package server

import (
	"context"
	"net"
	"strconv"
	"time"

	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
)

// supervisor is the service manager that has started this server, such as systemd with Type=notify. The zero
// supervisor is none.
type supervisor struct {
	// socket is where it reads messages.
	socket string
	// patience is the time without a message after which it ends this server; 0 for never.
	patience time.Duration
}

func supervisorOf(c config.Config) supervisor {
	s := supervisor{socket: process.Value(c.Environ, "NOTIFY_SOCKET")}
	if micros, err := strconv.Atoi(process.Value(c.Environ, "WATCHDOG_USEC")); err == nil {
		s.patience = time.Duration(micros) * time.Microsecond
	}
	return s
}

// notify sends a message as sd_notify(3) does. Errors are ignored, because nothing depends on it.
func (s supervisor) notify(message string) {
	if s.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(message))
}

// watchdog reports that this process is not stuck, three times as often as the supervisor asks for.
func (s supervisor) watchdog(ctx context.Context) {
	if s.patience <= 0 {
		return
	}
	for tick := time.Tick(s.patience / 3); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.notify("WATCHDOG=1")
		}
	}
}
