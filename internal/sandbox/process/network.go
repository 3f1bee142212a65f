package process

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Network is a program's network access. A sandbox has its own network, which contains
// nothing but these doors.
type Network struct {
	Doors []Door
	// Env points programs to the doors; it overrides their own variables.
	Env []string
}

// Door is a port of 127.0.0.1 in a sandbox's own network. The door identifies its callers,
// because no process outside the sandbox can reach it. Programs in it cannot take a
// port below 1024 while no server listens.
type Door struct {
	Port uint16
	// Serve accepts connections until the listener is closed. It runs in its own goroutine.
	Serve func(net.Listener)
}

// openDoors opens the doors of the sandbox that a process is in. Connections wait until serve.
func openDoors(pid int, doors []Door) ([]net.Listener, error) {
	if len(doors) == 0 {
		return nil, nil
	}
	ports := make([]uint16, len(doors))
	for i, d := range doors {
		ports[i] = d.Port
	}
	return listenIn(pid, ports)
}

// serve serves doors that openDoors has opened; there are no listeners if their sandbox has ended.
func serve(doors []Door, listeners []net.Listener) {
	for i, l := range listeners {
		go doors[i].Serve(l)
	}
}

// reopenDoors opens the doors of a sandbox for another server than the one that started its process:
// the stored listeners, and new ones for doors that are not stored.
func reopenDoors(p *Process, doors []Door) ([]net.Listener, error) {
	stored := map[uint16]net.Listener{}
	for _, l := range storedListeners(p.PID) {
		stored[l.Addr().(*net.TCPAddr).AddrPort().Port()] = l
	}
	var listeners []net.Listener
	var missing []Door
	for _, d := range doors {
		l, ok := stored[d.Port]
		if !ok {
			missing = append(missing, d)
			continue
		}
		delete(stored, d.Port)
		listeners = append(listeners, l)
		go d.Serve(l)
	}
	for _, l := range stored {
		shutDown(l)
	}
	opened, err := openDoors(p.leader.PID, missing)
	serve(missing, opened)
	return append(listeners, opened...), err
}

func closeAll[C io.Closer](all []C) {
	for _, one := range all {
		_ = one.Close()
	}
}

// closedPair returns a pair of sockets that no other child inherits.
func closedPair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	return ends, err
}
