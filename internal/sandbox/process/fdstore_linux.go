package process

import (
	"net"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// isFetchable reports whether the store of a bubblewrap process can be fetched: a security module may
// forbid it. What is stored and cannot be fetched could not be opened again.
func isFetchable(bwrap int) bool {
	socket, err := fetch(bwrap, firstFD+storeFile)
	_ = unix.Close(socket)
	return err == nil
}

// storedListeners returns the listeners in the store of a bubblewrap process; nil if there are none.
func storedListeners(bwrap int) (all []net.Listener) {
	socket, err := fetch(bwrap, firstFD+storeFile)
	if err != nil {
		return nil
	}
	defer unix.Close(socket)
	rights := make([]byte, unix.CmsgSpace(maxDoors*int(unsafe.Sizeof(int32(0)))))
	// The message remains for the server after this one.
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_PEEK|unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil
	}
	for _, m := range messages {
		sockets, _ := unix.ParseUnixRights(&m)
		for _, fd := range sockets {
			if l, err := listenerOf(fd); err == nil {
				all = append(all, l)
			}
		}
	}
	return all
}

func listenerOf(fd int) (net.Listener, error) {
	file := os.NewFile(uintptr(fd), "door")
	defer file.Close()
	return net.FileListener(file)
}

// maxDoors is the most sockets that are stored, the kernel's limit for a message.
const maxDoors = 253

// fetch returns a copy of another process's descriptor.
func fetch(pid, fd int) (int, error) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(process)
	return unix.PidfdGetfd(process, fd, 0)
}

// canFetch reports whether this server could fetch descriptors of a process that an earlier one has
// started: the kernel must be able to (Linux 5.6), a container's filter may forbid it, and Yama may
// restrict it to a process's ancestors.
var canFetch = sync.OnceValue(func() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err == nil && strings.TrimSpace(string(scope)) != "0" && !mayTrace() {
		return false
	}
	fd, err := fetch(os.Getpid(), 0)
	_ = unix.Close(fd)
	return err == nil
})

func mayTrace() bool {
	var sets [2]unix.CapUserData
	if unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0]) != nil {
		return false
	}
	return sets[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0
}
