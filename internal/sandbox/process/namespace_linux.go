//go:build amd64 || arm64

package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errOurs is returned for a process that shares a namespace with us.
var errOurs = errors.New("the sandbox has no network or mounts of its own")

// listenIn listens on ports of 127.0.0.1 in the network namespace of another process.
//
// Only a single-threaded process can enter a user namespace, and only root can enter a
// network namespace without its user namespace. So a separate process does that, which
// lives for about fifty microseconds. It shares our memory and our descriptor table, so the
// sockets that it creates are ours. Nothing runs in the sandbox for it, and another server
// repeats it the same way when it adopts the sandbox.
func listenIn(pid int, ports []uint16) (listeners []net.Listener, err error) {
	steps, leave, err := entering(pid, "net", unix.CLONE_NEWNET)
	if err != nil {
		return nil, err
	}
	defer leave()
	var pinned runtime.Pinner // the steps hold addresses as numbers
	defer pinned.Unpin()
	for _, port := range ports {
		networkOrder := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, port))
		at := &unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 1}, Port: networkOrder}
		pinned.Pin(at)
		steps = append(steps, listening(at)...)
	}
	return listenersOf(steps, do(steps))
}

// makePrivate keeps what is mounted on the machine from now on out of another process's mount
// namespace. bubblewrap makes it a slave of the machine's: a file system that is mounted while a
// program runs would appear in its sandbox, and writable, because bubblewrap makes only the mounts
// of its start read-only.
func makePrivate(pid int) error {
	steps, leave, err := entering(pid, "mnt", unix.CLONE_NEWNS)
	if err != nil {
		return err
	}
	defer leave()
	return do(append(steps, step{trap: unix.SYS_MOUNT, args: [5]uintptr{1: addressOf(&root), 3: unix.MS_REC | unix.MS_PRIVATE}}))
}

// root is the path of the root directory, as the kernel reads it.
var root = [2]byte{'/', 0}

// entering returns the steps that enter a namespace of another process, and a function that closes
// what they need.
func entering(pid int, name string, kind uintptr) (steps []step, leave func(), err error) {
	namespace, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/" + name)
	if err != nil {
		return nil, nil, err
	}
	users, err := unix.IoctlRetInt(int(namespace.Fd()), getUserNamespace)
	if err != nil {
		namespace.Close()
		return nil, nil, fmt.Errorf("asking for the user namespace of the sandbox: %w", err)
	}
	leave = func() {
		namespace.Close()
		unix.Close(users)
	}
	isOurs, err := isOurNamespace(namespace.Fd(), name)
	if err == nil && isOurs {
		err = errOurs
	}
	sameUsers, usersErr := isOurNamespace(uintptr(users), "user")
	if err = errors.Join(err, usersErr); err != nil {
		leave()
		return nil, nil, err
	}
	if !sameUsers {
		steps = append(steps, step{trap: unix.SYS_SETNS, args: [5]uintptr{uintptr(users), unix.CLONE_NEWUSER}})
	}
	return append(steps, step{trap: unix.SYS_SETNS, args: [5]uintptr{namespace.Fd(), kind}}), leave, nil
}

// getUserNamespace is NS_GET_USERNS of the kernel.
const getUserNamespace = 0xb701

// step is a system call that the process of spawn makes. spawn depends on the offsets of its
// fields.
type step struct {
	trap uintptr
	args [5]uintptr
	// result is the result of the call; notMade if it was not made.
	result int
}

// notMade is an error that no system call returns.
const notMade = -4095

// theSocket stands for the most recent socket.
const theSocket = ^uintptr(0)

// spawn starts a process that shares our memory and descriptors, makes these system calls until
// one fails, and ends. It then returns the pid, or a negative error number. The calls run
// without Go: they may neither use the stack nor allocate.
//
//go:noescape
func spawn(steps *step, n int) (pid int)

var yes uint32 = 1

// backlog limits the connections that wait at a door.
const backlog = 128

// addressOf returns an address for the kernel. The value must stay where it is: a variable of the package, or pinned.
func addressOf[T any](value *T) uintptr { return uintptr(unsafe.Pointer(value)) } //nolint:gosec // see above

// listening returns the steps that create a listening socket. Connections of an earlier server may just be closing, and
// the sandbox may not have set up its network yet.
func listening(at *unix.RawSockaddrInet4) []step {
	return []step{
		{trap: unix.SYS_SOCKET, args: [5]uintptr{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}},
		enabling(unix.SOL_SOCKET, unix.SO_REUSEADDR), enabling(unix.SOL_IP, unix.IP_FREEBIND),
		{trap: unix.SYS_BIND, args: [5]uintptr{theSocket, addressOf(at), unix.SizeofSockaddrInet4}},
		{trap: unix.SYS_LISTEN, args: [5]uintptr{theSocket, backlog}},
	}
}

// enabling returns the step that sets an option of the socket.
func enabling(level, option uintptr) step {
	return step{trap: unix.SYS_SETSOCKOPT, args: [5]uintptr{theSocket, level, option, addressOf(&yes), unsafe.Sizeof(yes)}}
}

// do executes the steps, and returns the error of the one that failed.
func do(steps []step) error {
	for i := range steps {
		steps[i].result = notMade
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A signal handler would run in memory that both share.
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return err
	}
	pid := spawn(&steps[0], len(steps))
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		return err
	}
	if pid < 0 {
		return fmt.Errorf("entering a sandbox: %w", syscall.Errno(-pid))
	}
	for {
		if _, err := unix.Wait4(pid, nil, unix.WALL, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	for _, s := range steps {
		if s.result < 0 {
			return fmt.Errorf("entering a sandbox: %s: %w", s.name(), syscall.Errno(-s.result))
		}
	}
	return nil
}

func (s step) name() string {
	names := map[uintptr]string{
		unix.SYS_SETNS: "setns", unix.SYS_SOCKET: "socket", unix.SYS_SETSOCKOPT: "setsockopt", unix.SYS_BIND: "bind",
		unix.SYS_LISTEN: "listen", unix.SYS_MOUNT: "mount",
	}
	return names[s.trap]
}

// listenersOf creates listeners from the sockets. If anything fails, it closes all of them.
func listenersOf(steps []step, err error) ([]net.Listener, error) {
	var all []net.Listener
	for _, s := range steps {
		if s.trap != unix.SYS_SOCKET || s.result < 0 {
			continue
		}
		l, doorErr := listenerOf(s.result)
		if doorErr == nil {
			all = append(all, l)
		}
		err = errors.Join(err, doorErr)
	}
	if err != nil {
		closeAll(all)
		return nil, err
	}
	return all, nil
}

func isOurNamespace(fd uintptr, name string) (bool, error) {
	var theirs, ours unix.Stat_t
	if err := unix.Fstat(int(fd), &theirs); err != nil {
		return false, err
	}
	err := unix.Stat("/proc/self/ns/"+name, &ours)
	return theirs.Ino == ours.Ino && theirs.Dev == ours.Dev, err
}
