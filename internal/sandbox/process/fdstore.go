package process

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// fdStore keeps the listening sockets of a sandbox's doors open while no server runs, like the file
// descriptor store of systemd: connections wait until the next server accepts them. The sockets
// are in a message that nobody reads, in the queue of a socket that only bubblewrap's process
// outside the sandbox has open, as the file for its status. They disappear with that process.
//
// The zero fdStore stores nothing.
type fdStore struct {
	// theirs is the end that bubblewrap keeps open, ours the one that sockets are sent to.
	theirs, ours *os.File
}

// newFDStore returns the store for a sandbox; the zero one if it has no doors, or if a restarted
// server could not fetch them.
func newFDStore(s Sandbox, doors []Door) (fdStore, error) {
	if !s.InForce() || len(doors) == 0 || !canFetch() {
		return fdStore{}, nil
	}
	ends, err := closedPair()
	if err != nil {
		return fdStore{}, err
	}
	return fdStore{os.NewFile(uintptr(ends[0]), "store"), os.NewFile(uintptr(ends[1]), "store")}, nil
}

// options make bubblewrap keep the store.
func (s fdStore) options() []string {
	if s.theirs == nil {
		return nil
	}
	return []string{"--json-status-fd", fdOf(storeFile)}
}

// put stores the sockets of listeners in the store of a bubblewrap process. The listeners are not
// served yet, so nobody closes them meanwhile. If it fails, the next server opens new ones.
func (s fdStore) put(listeners []net.Listener, bwrap int) {
	if s.ours == nil || !isFetchable(bwrap) {
		return
	}
	var sockets []int
	for _, l := range listeners {
		control(l, func(fd int) { sockets = append(sockets, fd) })
	}
	_ = unix.Sendmsg(int(s.ours.Fd()), []byte{'.'}, unix.UnixRights(sockets...), nil, unix.MSG_DONTWAIT)
}

// control calls fn with the socket of a listener, unless the listener is closed.
func control(l net.Listener, fn func(fd int)) {
	if raw, err := l.(*net.TCPListener).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { fn(int(fd)) })
	}
}

// shutDown makes a socket refuse connections, wherever else it is open, and closes the listener.
func shutDown(l net.Listener) {
	control(l, func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RD) })
	_ = l.Close()
}

// close closes our end. A bubblewrap that runs would end when it writes its status; the sockets
// remain until it ends.
func (s fdStore) close() { _ = s.ours.Close() }
