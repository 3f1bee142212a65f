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

// dialer opens connections as the client does by default, except that a connection is not reused
// after a refused MULTI. The client stops reading there and keeps the connection (v9.23.0,
// txPipelineReadQueued); it would take later replies of the transaction for replies to other
// commands.
func dialer(o *redis.Options) func(context.Context, string, string) (net.Conn, error) {
	dial := redis.NewDialer(o)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		own := &connection{Conn: conn}
		if c, ok := conn.(syscall.Conn); ok {
			if raw, err := c.SyscallConn(); err == nil {
				return checkedConnection{own, raw}, nil
			}
		}
		return own, nil
	}
}

// connection is unusable once Redis has refused a MULTI on it.
type connection struct {
	net.Conn
	// begins is set if a MULTI was sent and its reply is the next to be read; refused is set if
	// that reply was an error.
	begins, refused atomic.Bool
}

// multi is the client's encoding of the command that begins a transaction.
var multi = []byte("*1\r\n$5\r\nmulti\r\n")

// errRefused is returned by a connection after a refused MULTI. The client then uses another
// connection.
var errRefused = errors.New("the connection had a transaction that Redis refused")

func (c *connection) Write(p []byte) (int, error) {
	if c.refused.Load() {
		return 0, errRefused
	}
	if bytes.HasPrefix(p, multi) { // a long transaction is sent in several writes; only the first begins with MULTI
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

// checkedConnection lets the client check whether an idle connection is still alive. All
// connections except those with TLS support this.
type checkedConnection struct {
	*connection
	raw syscall.RawConn
}

// SyscallConn implements syscall.Conn.
func (c checkedConnection) SyscallConn() (syscall.RawConn, error) {
	if c.refused.Load() {
		return nil, errRefused
	}
	return c.raw, nil
}
