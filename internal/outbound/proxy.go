package outbound

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/netutil"
)

// Proxy is an HTTP proxy for programs that make their own connections. It allows only some
// hosts. The address that a name resolves to is checked at the moment of the call, and so
// are the targets of redirects.
type Proxy struct {
	Hosts Hosts
	// Via returns the operator's own proxy for a URL; it may be nil or return nil.
	Via func(*url.URL) (*url.URL, error)
	// Hint is shown to a caller of a host that is not listed.
	Hint string
	// RefusedFunc is called when a host is refused for the first time; may be nil.
	RefusedFunc func(host string, err error)

	mu      sync.Mutex
	refused error
	hosts   []string
}

const maxDial = 30 * time.Second

// maxConnections limits the concurrent connections of one proxy: each uses two of the
// server's descriptors.
const maxConnections = 64

// ErrNotListed is returned for a host that is not among the hosts of a proxy.
var ErrNotListed = errors.New("this host is not in the list")

// Serve serves the proxy until the listener is closed, which also ends its connections.
func (p *Proxy) Serve(l net.Listener) { Serve(l, p) }

// Serve serves a handler to a sandbox until the listener is closed, which also ends open
// requests.
func Serve(l net.Listener, handler http.Handler) { serve(context.Background(), l, handler) }

func serve(ctx context.Context, l net.Listener, handler http.Handler) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	server := http.Server{
		Handler: handler, ReadHeaderTimeout: maxDial, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer func() { _ = server.Close() }()
	_ = server.Serve(netutil.LimitListener(l, maxConnections))
}

// Listen serves the proxy on loopback, for a program outside any sandbox. Closing the
// listener stops the proxy.
func (p *Proxy) Listen(ctx context.Context) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err == nil {
		go serve(context.WithoutCancel(ctx), l, p) // it ends with its listener
	}
	return l, err
}

// Refused returns why the last failed connection was not made; nil if all were made.
func (p *Proxy) Refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// RefusedHosts returns the hosts that were called but are not listed, or must not be
// called.
func (p *Proxy) RefusedHosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.hosts)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward(w, r)
	default:
		http.Error(w, "This is a proxy: it takes CONNECT, and http addresses.", http.StatusBadRequest)
	}
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	to, err := p.dial(r.Context(), "https", r.Host)
	if err != nil {
		p.refuse(w, r.Host, err)
		return
	}
	defer to.Close()
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(r.Context(), from, buffered, to)
}

// join copies data in both directions until both connections have ended, or ctx has.
func join(ctx context.Context, from net.Conn, sent io.Reader, to net.Conn) {
	defer context.AfterFunc(ctx, func() { _, _ = from.Close(), to.Close() })()
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(to, sent)
		endWriting(to)
	})
	_, _ = io.Copy(from, to)
	endWriting(from)
	there.Wait()
}

func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	address := r.URL.Host
	if r.URL.Port() == "" {
		address = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	address, rule, via, err := p.way(r.Context(), "http", address)
	if err != nil {
		p.refuse(w, address, err)
		return
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(via)}
	if via == nil {
		transport.DialContext = rule.dialer().DialContext
	}
	(&httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Host, r.Out.Host = strings.TrimSuffix(address, ":80"), "" // in the URL and the Host header
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.refuse(w, address, err) },
	}).ServeHTTP(w, r)
}

// way returns the canonical form of an address, the rule that allows it, and the operator's proxy for it.
// Whoever is given the address, be it a proxy, reads the same host in it.
func (p *Proxy) way(ctx context.Context, scheme, named string) (address string, rule hostRule, via *url.URL, err error) {
	host, port, err := net.SplitHostPort(named)
	if err != nil {
		return named, rule, nil, ErrNotListed
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return named, rule, nil, ErrNotListed
	}
	rule, listed := p.Hosts.find(host, uint16(n))
	if !listed {
		return named, rule, nil, ErrNotListed
	}
	host, _ = canonical(host)
	address = net.JoinHostPort(host, strconv.FormatUint(n, 10))
	if p.Via != nil {
		via, err = p.Via(&url.URL{Scheme: scheme, Host: address})
	}
	if via != nil {
		err = rule.judge(ctx, host)
	}
	return address, rule, via, err
}

// judge checks what a name resolves to here if another proxy is to call it. Names that only
// that proxy can resolve are allowed, if they are listed or may be public.
func (r hostRule) judge(ctx context.Context, host string) error {
	all, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if len(all) == 0 && r == (hostRule{}) && isPrivateName(host) {
		return ErrForbidden
	}
	for _, ip := range all {
		if !r.admits(ip) {
			return ErrForbidden
		}
	}
	return nil
}

// dialer returns a dialer that connects only to addresses that the rule admits.
func (r hostRule) dialer() *net.Dialer {
	return &net.Dialer{Timeout: maxDial, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !r.admits(at.Addr()) {
			return ErrForbidden
		}
		return nil
	}}
}

func (p *Proxy) dial(ctx context.Context, scheme, address string) (net.Conn, error) {
	address, rule, via, err := p.way(ctx, scheme, address)
	switch {
	case err != nil:
		return nil, err
	case via != nil:
		return dialVia(ctx, via, address)
	}
	return rule.dialer().DialContext(ctx, "tcp", address)
}

func dialVia(ctx context.Context, via *url.URL, address string) (net.Conn, error) {
	port := cmp.Or(via.Port(), map[string]string{"http": "80", "https": "443"}[via.Scheme])
	at, d := net.JoinHostPort(via.Hostname(), port), net.Dialer{Timeout: maxDial}
	var conn net.Conn
	var err error
	switch via.Scheme {
	case "http":
		conn, err = d.DialContext(ctx, "tcp", at)
	case "https":
		conn, err = (&tls.Dialer{NetDialer: &d}).DialContext(ctx, "tcp", at)
	default:
		err = fmt.Errorf("the server's own proxy is one of %s, which is not supported: expected http or https", via.Scheme)
	}
	if err != nil {
		return nil, err
	}
	if err := askVia(conn, via.User, address); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func askVia(conn net.Conn, user *url.Userinfo, address string) error {
	if err := conn.SetDeadline(time.Now().Add(maxDial)); err != nil {
		return err
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user != nil {
		password, _ := user.Password()
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := ask.Write(conn); err != nil {
		return err
	}
	// What follows the response is the host's, which may speak first, whatever length the response has.
	answer, err := http.ReadResponse(bufio.NewReader(byteReader{conn}), ask) //nolint:bodyclose // there is none
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server's own proxy answered %s", answer.Status)
	}
	return conn.SetDeadline(time.Time{})
}

// byteReader reads one byte at a time, so that a buffered reader takes none that its caller has not
// asked for.
type byteReader struct{ io.Reader }

// Read implements io.Reader.
func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

// ViaOf returns the operator's own proxies, from an environment.
func ViaOf(environ []string) func(*url.URL) (*url.URL, error) {
	config := httpproxy.Config{
		HTTPProxy: variable(environ, "HTTP_PROXY", "http_proxy"), HTTPSProxy: variable(environ, "HTTPS_PROXY", "https_proxy"),
		NoProxy: variable(environ, "NO_PROXY", "no_proxy"),
	}
	return config.ProxyFunc()
}

// ProxyEnv returns the variables that make programs use the proxy at host and port, except
// for this machine. Node.js and Java need their own.
func ProxyEnv(host, port string) []string {
	const direct = "localhost,127.0.0.1,::1"
	proxy := "http://" + net.JoinHostPort(host, port)
	return []string{
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy, "HTTPS_PROXY=" + proxy, "https_proxy=" + proxy, "ALL_PROXY=" + proxy,
		"all_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct, "NODE_USE_ENV_PROXY=1",
		"JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=" + host + " -Dhttp.proxyPort=" + port + " -Dhttps.proxyHost=" + host +
			" -Dhttps.proxyPort=" + port,
	}
}

func (p *Proxy) refuse(w http.ResponseWriter, host string, err error) {
	listed := !errors.Is(err, ErrNotListed)
	p.mu.Lock()
	p.refused = err
	isNew := (!listed || errors.Is(err, ErrForbidden)) && !slices.Contains(p.hosts, host) && len(p.hosts) < 20
	if isNew {
		p.hosts = append(p.hosts, host)
	}
	p.mu.Unlock()
	if isNew && p.RefusedFunc != nil {
		p.RefusedFunc(host, err)
	}
	switch {
	case !listed:
		http.Error(w, host+" cannot be reached from here. "+p.Hint, http.StatusForbidden)
	case errors.Is(err, ErrForbidden):
		http.Error(
			w,
			host+" resolves to an address that is not public, or to this machine: that requires a list that names the address itself.",
			http.StatusForbidden,
		)
	default:
		http.Error(w, host+" did not answer.", http.StatusBadGateway)
	}
}

// Forward returns a function that forwards connections to one address of the operator's,
// until the listener is closed.
func Forward(address string) func(net.Listener) {
	return func(l net.Listener) {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		l = netutil.LimitListener(l, maxConnections)
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				to, err := (&net.Dialer{Timeout: maxDial}).DialContext(ctx, "tcp", address)
				if err != nil {
					return
				}
				defer to.Close()
				join(ctx, from, from, to)
			}()
		}
	}
}

// endWriting closes the connection for writing, or altogether if it cannot be half closed.
func endWriting(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// ListedIn returns the hosts of the URLs in a variable, such as GOPROXY, separated by
// commas or bars.
func ListedIn(environ []string, name string) (hosts []string) {
	for _, text := range strings.FieldsFunc(variable(environ, name), func(r rune) bool { return r == ',' || r == '|' }) {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
}

// variable returns the value of the first of the variables that is set and not empty.
func variable(environ []string, names ...string) string {
	for _, name := range names {
		for _, entry := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
				return value
			}
		}
	}
	return ""
}
