package process

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

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
		stored[uint16(l.Addr().(*net.TCPAddr).Port)] = l //nolint:gosec // a port
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

// gate stops the first process of a sandbox until the doors are open. The process reports
// through it that it has started: before that, only root could access its network.
type gate struct{ pipe }

// passGate is the script that the first process runs before it starts the program. It
// exits if the server dies first, because the process is not recorded yet.
var passGate = `printf . >&` + fdOf(gateFile) + `; read -r _ <&` + fdOf(gateFile) + ` || exit 1
exec ` + fdOf(gateFile) + `>&-
`

func newGate() (gate, error) {
	ends, err := closedPair()
	if err != nil {
		return gate{}, err
	}
	err = unix.SetNonblock(ends[0], true) // so that a read can time out
	g := gate{pipe{ours: os.NewFile(uintptr(ends[0]), "gate"), theirs: os.NewFile(uintptr(ends[1]), "gate")}}
	if err != nil {
		g.close()
	}
	return g, err
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

// maxGate limits how long the first process of a sandbox may take to start.
const maxGate = 30 * time.Second

// pass opens the doors of a sandbox and lets its first process continue.
func (g gate) pass(pid int, doors []Door) ([]net.Listener, error) {
	_ = g.theirs.Close()
	if err := g.ours.SetDeadline(time.Now().Add(maxGate)); err != nil {
		return nil, err
	}
	if _, err := g.ours.Read(make([]byte, 1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotThere, err)
	}
	listeners, err := openDoors(pid, doors)
	if err != nil {
		return nil, err
	}
	if _, err := g.ours.WriteString("\n"); err != nil {
		closeAll(listeners)
		return nil, fmt.Errorf("%w: %w", errNotThere, err)
	}
	return listeners, nil
}

// errNotThere is returned if a sandbox ended before its program began; bubblewrap reports why.
var errNotThere = errors.New("the sandbox has ended")
