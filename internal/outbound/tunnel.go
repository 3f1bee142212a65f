package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Tunnel is an HTTP proxy on loopback for one program that dials for itself. It
// connects (CONNECT) to one host and port, and to public addresses only. So what the
// name resolves to is looked at in the moment of the call, and no redirect leads
// anywhere else.
type Tunnel struct {
	url     string
	target  string
	dialer  net.Dialer
	server  http.Server
	refused atomic.Pointer[error]
	serving sync.WaitGroup
	// end ends what goes through it.
	end context.CancelFunc
}

// maxDial bounds how long a connection may take to be made.
const maxDial = 30 * time.Second

// OpenTunnel opens a tunnel to a host and port, until it is closed or ctx ends.
func OpenTunnel(ctx context.Context, target string) (*Tunnel, error) {
	return openTunnel(ctx, target, Control)
}

func openTunnel(ctx context.Context, target string, control func(context.Context, string, string, syscall.RawConn) error) (*Tunnel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is ended by Close
	if err != nil {
		return nil, err
	}
	t := &Tunnel{url: "http://" + l.Addr().String(), target: target, dialer: net.Dialer{Timeout: maxDial, ControlContext: control}}
	ctx, end := context.WithCancel(ctx)
	t.end = end
	t.server = http.Server{Handler: t, ReadHeaderTimeout: maxDial, BaseContext: func(net.Listener) context.Context { return ctx }}
	t.serving.Go(func() { _ = t.server.Serve(l) })
	return t, nil
}

// URL is the proxy's.
func (t *Tunnel) URL() string { return t.url }

// Refused is why a connection was not made: an ErrForbidden where the address is not
// public; nil where none was refused.
func (t *Tunnel) Refused() error {
	if err := t.refused.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the tunnel and what goes through it.
func (t *Tunnel) Close() {
	_ = t.server.Close()
	t.end()
	t.serving.Wait()
}

// errOther is a call of another host than the tunnel's, as after a redirect.
var errOther = errors.New("another host was called than the repository's")

// ServeHTTP connects. The program sees only that it could not be done, Refused says why.
func (t *Tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || !strings.EqualFold(r.Host, t.target) {
		t.refuse(w, errOther)
		return
	}
	to, err := t.dialer.DialContext(r.Context(), "tcp", t.target)
	if err != nil {
		t.refuse(w, err)
		return
	}
	defer to.Close()
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	defer context.AfterFunc(r.Context(), func() { _, _ = from.Close(), to.Close() })()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(to, buffered)
		endWriting(to)
	})
	_, _ = io.Copy(from, to)
	endWriting(from)
	there.Wait()
}

func (t *Tunnel) refuse(w http.ResponseWriter, err error) {
	t.refused.Store(&err)
	w.WriteHeader(http.StatusForbidden)
}

// endWriting tells the other end that nothing more comes.
func endWriting(c net.Conn) {
	if c, ok := c.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
}
