package server

import (
	"context"
	"net"
	"strconv"
	"time"

	"ringback/internal/sandbox/process"
)

// notify sends a message to the service manager that has started this server, if there is one, as sd_notify(3) does.
// Errors are ignored, because nothing depends on it.
func (n *node) notify(message string) {
	socket := &net.UnixAddr{Name: process.Value(n.opts.Config.Environ, "NOTIFY_SOCKET"), Net: "unixgram"}
	if socket.Name == "" {
		return
	}
	if conn, err := net.DialUnix(socket.Net, nil, socket); err == nil {
		_, _ = conn.Write([]byte(message))
		_ = conn.Close()
	}
}

// startWatchdog reports that this process is not stuck, three times as often as the service manager asks for. It is
// among the first parts, which stop last: a node that drains for minutes is not stuck.
func (n *node) startWatchdog(context.Context) (stop func(), err error) {
	micros, _ := strconv.Atoi(process.Value(n.opts.Config.Environ, "WATCHDOG_USEC"))
	if micros <= 0 {
		return nil, nil
	}
	return running(func(ctx context.Context) {
		for tick := time.Tick(time.Duration(micros) * time.Microsecond / 3); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				n.notify("WATCHDOG=1")
			}
		}
	}), nil
}
