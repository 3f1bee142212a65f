package harness

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/must"
)

// Proxy forwards TCP connections to one of several targets, and can cut and delay them.
type Proxy struct {
	// Addr is its listen address: host:port.
	Addr    string
	targets []string
	delay   atomic.Int64 // ns before each chunk is forwarded
	taken   atomic.Int32
	mu      sync.Mutex
	conns   map[net.Conn]bool
	// closed is set during a partition, and closed at its end.
	closed chan struct{}
}

// StartProxy forwards each connection to one of the targets (host:port) that accepts it,
// until the test ends.
func StartProxy(t testing.TB, targets ...string) *Proxy {
	t.Helper()
	return StartProxyAt(t, "127.0.0.1:0", targets...)
}

// StartProxyAt is StartProxy with a listen address: host:port, port 0 for any.
func StartProxyAt(t testing.TB, address string, targets ...string) *Proxy {
	t.Helper()
	l := must.Get(net.Listen("tcp", address))(t)
	p := &Proxy{Addr: l.Addr().String(), targets: targets, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		p.Heal()
		p.Cut()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.taken.Add(1)
			go p.serve(conn)
		}
	}()
	return p
}

func (p *Proxy) serve(from net.Conn) {
	defer from.Close()
	p.awaitOpen()
	to := p.dial()
	if to == nil {
		return
	}
	defer to.Close()
	p.mu.Lock()
	p.conns[from], p.conns[to] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(from, to) })
	both.Go(func() { p.pass(to, from) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
}

// dial tries the targets in random order.
func (p *Proxy) dial() net.Conn {
	for _, i := range rand.Perm(len(p.targets)) {
		if conn, err := net.DialTimeout("tcp", p.targets[i], time.Second); err == nil {
			return conn
		}
	}
	return nil
}

func (p *Proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			time.Sleep(time.Duration(p.delay.Load()))
			p.awaitOpen()
			if _, writeErr := to.Write(buffer[:n]); writeErr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Accepted returns the number of connections accepted so far.
func (p *Proxy) Accepted() int { return int(p.taken.Load()) }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
}

// Delay delays each chunk from now on; 0 for no delay.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Partition stops forwarding, like an interrupted network: connections stay open, without
// an error. Data sent in the meantime arrives after Heal.
func (p *Proxy) Partition() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed == nil {
		p.closed = make(chan struct{})
	}
}

// Heal ends a Partition.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		close(p.closed)
		p.closed = nil
	}
}

// awaitOpen waits for the end of a Partition.
func (p *Proxy) awaitOpen() {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed != nil {
		<-closed
	}
}
