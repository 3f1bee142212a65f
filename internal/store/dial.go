package store

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// dialer opens connections as the client does by itself, but ones that are not used again
// after a refused MULTI. The client gives up reading there and keeps the connection (v9.23.0,
// txPipelineReadQueued); replies of the transaction that arrive later would be taken for
// those to other commands.
func dialer(o *redis.Options) func(context.Context, string, string) (net.Conn, error) {
	dial := redis.NewDialer(o)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		own := &connection{Conn: conn}
		if _, ok := conn.(syscall.Conn); ok {
			return checkedConnection{own}, nil
		}
		return own, nil
	}
}

// connection is of no use any more once Redis has refused a MULTI on it.
type connection struct {
	net.Conn
	// begins is whether a MULTI was sent whose answer is the next to be read; refused is
	// whether it was an error.
	begins, refused atomic.Bool
}

// multi is how the client begins a transaction.
var multi = []byte("*1\r\n$5\r\nmulti\r\n")

// errRefused is what a connection says of itself after a refused MULTI. The client takes
// another one then.
var errRefused = errors.New("the connection had a transaction that Redis refused")

func (c *connection) Write(p []byte) (int, error) {
	if c.refused.Load() {
		return 0, errRefused
	}
	if bytes.HasPrefix(p, multi) { // a long transaction takes further writes, which begin with none
		c.begins.Store(true)
	}
	return c.Conn.Write(p)
}

func (c *connection) Read(p []byte) (int, error) {
	if c.refused.Load() {
		return 0, errRefused
	}
	n, err := c.Conn.Read(p)
	if n > 0 && c.begins.Swap(false) && p[0] == '-' {
		c.refused.Store(true)
	}
	return n, err
}

// checkedConnection is one of which the client can see whether it is still there, after it
// lay idle: all but those with TLS.
type checkedConnection struct{ *connection }

// SyscallConn implements syscall.Conn.
func (c checkedConnection) SyscallConn() (syscall.RawConn, error) {
	if c.refused.Load() {
		return nil, errRefused
	}
	return c.Conn.(syscall.Conn).SyscallConn()
}
