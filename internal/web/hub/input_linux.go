package hub

import (
	"errors"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// inputs holds the idle clients of all hubs: those from which nothing has arrived that is not
// handled yet. A goroutine that waits for each of them would take twice the memory of the
// connection itself.
type inputs struct {
	epoll int

	mu   sync.Mutex
	last int32
	// idle are the clients by their number. Whoever takes a client out is the one that reads
	// from it.
	idle map[int32]*client
}

var (
	shared   *inputs
	creation sync.Once
)

// theInputs returns the inputs, or nil if the system has no descriptor left for them: each client
// then has a goroutine.
func theInputs() *inputs {
	creation.Do(func() {
		if epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
			shared = &inputs{epoll: epoll, idle: map[int32]*client{}}
			go shared.run()
		}
	})
	return shared
}

// await makes a client idle: c.read is called when something arrives. It returns false if the caller
// must wait itself.
func (c *client) await() bool {
	in := theInputs()
	conn, ok := c.net.(syscall.Conn) // false for TLS, which has a buffer of its own
	if in == nil || !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	id, operation := c.input, unix.EPOLL_CTL_MOD
	in.mu.Lock()
	if id == 0 {
		in.last++
		id, operation = in.last, unix.EPOLL_CTL_ADD
		c.input = id
	}
	in.idle[id] = c
	in.mu.Unlock()
	// From here on, c may belong to another goroutine.
	var failed error
	err = raw.Control(func(fd uintptr) {
		once := &unix.EpollEvent{
			Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: id,
		}
		failed = unix.EpollCtl(in.epoll, operation, int(fd), once)
	})
	if err == nil && failed == nil {
		return true
	}
	return in.remove(id) == nil // another goroutine reads the error
}

// remove returns a client that is idle, which it then is no longer, or nil.
func (in *inputs) remove(id int32) *client {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.idle[id]
	delete(in.idle, id)
	return c
}

func (in *inputs) run() {
	events := make([]unix.EpollEvent, 128)
	for {
		n, err := unix.EpollWait(in.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			panic("hub: waiting for input: " + err.Error())
		}
		for _, e := range events[:max(n, 0)] {
			if c := in.remove(e.Fd); c != nil { // the number, as the descriptor may belong to a later client by now
				go c.read()
			}
		}
	}
}

// wake makes an idle client read, because its connection was closed.
func (c *client) wake() {
	in := theInputs()
	if in == nil {
		return
	}
	in.mu.Lock()
	id := c.input
	in.mu.Unlock()
	if in.remove(id) != nil {
		go c.read()
	}
}
