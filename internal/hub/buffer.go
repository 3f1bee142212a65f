package hub

import (
	"bufio"
	"net"
	"net/http"
	"sync"
)

// writeBuffers lends buffers for the moment of a write, so that an idle
// connection holds none.
var writeBuffers = &sync.Pool{}

// bufferedWriter hands the upgrader a connection that collects frames until
// they are flushed: many events cost one system call.
type bufferedWriter struct {
	http.ResponseWriter
	conn *gatheringConn
}

// Hijack implements http.Hijacker.
func (w *bufferedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.conn = &gatheringConn{Conn: conn}
	return w.conn, rw, nil
}

func (w *bufferedWriter) flush() error { return w.conn.flush() }

// gatheringConn gathers writes until flush, or until there is much to send.
type gatheringConn struct {
	net.Conn
	mu      sync.Mutex
	pending []byte
	started bool // the handshake is sent at once
}

const gatherLimit = 32 << 10

// Write implements net.Conn.
func (c *gatheringConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started {
		c.started = true
		return c.Conn.Write(b)
	}
	c.pending = append(c.pending, b...)
	if len(c.pending) >= gatherLimit {
		return len(b), c.send()
	}
	return len(b), nil
}

func (c *gatheringConn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send()
}

func (c *gatheringConn) send() error {
	if len(c.pending) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.pending)
	c.pending = nil
	return err
}
