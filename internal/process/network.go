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

// Network is a room's way out. A room has a network of its own, in which nothing is but
// these doors.
type Network struct {
	Doors []Door
	// Env tells programs where the doors are; it replaces what they would have.
	Env []string
}

// Door is a port of 127.0.0.1 in a room's own network. Who calls there is known by the
// door: nobody outside of the room can. A port below 1024 cannot be taken by what runs in
// the room while no server listens.
type Door struct {
	Port uint16
	// Serve takes the connections until the listener is closed, in a goroutine of its own.
	Serve func(net.Listener)
}

// openDoors opens the doors of the room that a process is in.
func openDoors(pid int, doors []Door) ([]net.Listener, error) {
	if len(doors) == 0 {
		return nil, nil
	}
	ports := make([]uint16, len(doors))
	for i, d := range doors {
		ports[i] = d.Port
	}
	listeners, err := listenIn(pid, ports)
	if err != nil {
		return nil, err
	}
	for i, d := range doors {
		go d.Serve(listeners[i])
	}
	return listeners, nil
}

func closeAll[C io.Closer](all []C) {
	for _, one := range all {
		_ = one.Close()
	}
}

// gate holds the first process of a room up until the doors are open. The process says by
// it that it is there: before, nobody but root could look at its network.
type gate struct{ ours, theirs *os.File }

// passGate is what the first process does before it starts the program. It ends where the
// server dies meanwhile, which has not noted it yet.
var passGate = `printf . >&` + fdOf(gatePlace) + `; read -r _ <&` + fdOf(gatePlace) + ` || exit 1
exec ` + fdOf(gatePlace) + `>&-
`

func newGate() (gate, error) {
	ends, err := closedPair()
	if err != nil {
		return gate{}, err
	}
	err = unix.SetNonblock(ends[0], true) // so that waiting for it can have an end
	g := gate{ours: os.NewFile(uintptr(ends[0]), "gate"), theirs: os.NewFile(uintptr(ends[1]), "gate")}
	if err != nil {
		g.close()
	}
	return g, err
}

// closedPair is a pair of sockets that no other child inherits.
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

func (g gate) close() {
	_ = g.ours.Close()
	_ = g.theirs.Close()
}

// maxGate bounds how long the first process of a room may take to be there.
const maxGate = 30 * time.Second

// pass opens the doors of a room and lets its first process go on.
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

// errNotThere is returned where a room ended before its program began: bubblewrap says why.
var errNotThere = errors.New("the sandbox has ended")
