package outbound

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/must"
)

// through returns an HTTP client that uses a proxy.
func through(t *testing.T, p *Proxy, server *httptest.Server) (c *http.Client, address string) {
	t.Helper()
	l := must.Get(p.Listen(t.Context()))(t)
	t.Cleanup(func() { l.Close() })
	address = "http://" + l.Addr().String()
	proxy := must.Get(url.Parse(address))(t)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(proxy)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, address
}

// trusting returns a proxy to a server on loopback, which only the configuration may allow.
func trusting(t *testing.T, server *httptest.Server) *Proxy {
	t.Helper()
	hosts := must.Get(Trusted([]string{server.Listener.Addr().String()}))(t)
	return &Proxy{Hosts: hosts, Hint: "Ask."}
}

func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestAProxyLeadsToItsHostsOnly(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	}))
	defer server.Close()
	tunnel := trusting(t, server)
	c, _ := through(t, tunnel, server)
	if text, err := get(t, c, server.URL); len(text) != 1<<20 || err != nil || tunnel.Refused() != nil {
		t.Errorf("got %d bytes, %v, %v", len(text), err, tunnel.Refused())
	}
	if _, err := get(t, c, server.URL+"/away"); err == nil || reached.Load() != 0 || !errors.Is(tunnel.Refused(), ErrNotListed) {
		t.Errorf("a redirect was followed: %v, %v", err, tunnel.Refused())
	}
	if text, err := get(t, c, strings.Replace(other.URL, "https", "http", 1)); err != nil || !strings.HasSuffix(text, " cannot be reached from here. Ask.\n") {
		t.Errorf("a host that is not listed: %q, %v", text, err)
	}
}

func TestAProxyLeadsToPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "[::7f00:1]", "localhost.", "127.0.0.1.",
		"10.0.0.1", "169.254.169.254", "192.168.0.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "255.255.255.255", "224.0.0.1",
	} {
		target := host + ":" + port
		for name, hosts := range map[string]Hosts{"it": Only(target), "all": Public()} {
			p := &Proxy{Hosts: hosts}
			c, _ := through(t, p, server)
			for _, scheme := range []string{"https", "http"} {
				if _, err := get(t, c, scheme+"://"+target); scheme == "https" && err == nil || p.Refused() == nil {
					t.Errorf("%s://%s where %s may be called: %v, %v", scheme, host, name, err, p.Refused())
				}
			}
		}
	}
	must.Equal(t, 0, reached.Load(), "it was reached … times")
}

// git works through the proxy.
func TestGitGoesThroughAProxy(t *testing.T) {
	t.Parallel()
	const refs = "9daeafb9864cf43055ae93beb0afd6c7d144bfa4\trefs/heads/main\n"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, refs) }))
	defer server.Close()
	_, address := through(t, trusting(t, server), server)
	cmd := exec.CommandContext(t.Context(), "git", "-c", "http.sslVerify=false", "-c", "http.proxy="+address, "ls-remote", server.URL+"/x")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != refs {
		t.Errorf("git says %s %v", out, err)
	}
}

// A list allows only the hosts that it names.
func TestHostsOfAList(t *testing.T) {
	t.Parallel()
	hosts := must.Get(Named([]string{"Registry.npmjs.org", "*.example.com", "api.*.amazonaws.com", "example.org:8443", "10.1.2.3", "[fd00::1]:80"}))(t)
	for address, want := range map[string]bool{
		"registry.npmjs.org:443": true, "REGISTRY.npmjs.org.:80": true, "registry.npmjs.org:22": false, "npmjs.org:443": false, "xregistry.npmjs.org:443": false,
		"a.example.com:443": true, "a.b.example.com:443": true, "example.com:443": false, ".example.com:443": false, "aexample.com:443": false, "a.example.com.evil.test:443": false,
		"api.eu.amazonaws.com:443": true, "api.eu.s3.amazonaws.com:443": false, "example.org:8443": true, "example.org:443": false,
		"10.1.2.3:443": true, "[::ffff:10.1.2.3]:443": true, "10.1.2.4:443": false, "[fd00::1]:80": true, "[fd00::1]:443": false, "167838211:443": false,
	} {
		host, port, err := net.SplitHostPort(address)
		must.OK(t, err)
		n := must.Get(net.LookupPort("tcp", port))(t)
		if _, found := hosts.find(host, uint16(n)); found != want {
			t.Errorf("%s is in the list: %t", address, found)
		}
	}
	for _, wrong := range []string{"", "*", "https://example.com", "example.com/x", "*.com.*", "2130706433", "127.1", "0x7f000001", "example.com:0", "example.com:x", "a b", "fe80::1%eth0", "example..com"} {
		if _, err := Named([]string{wrong}); err == nil {
			t.Errorf("%q was taken for a host", wrong)
		}
	}
}

// A listed name allows only public addresses, but a listed address is allowed even if it is
// not public.
func TestWhatAListLeadsTo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for entry, want := range map[string]bool{"127.0.0.1": true, "localhost": false} {
		hosts := must.Get(Named([]string{entry + ":" + port}))(t)
		p := &Proxy{Hosts: hosts}
		c, _ := through(t, p, server)
		text, err := get(t, c, "http://"+entry+":"+port)
		if reached := text == "reached"; err != nil || reached != want || errors.Is(p.Refused(), ErrForbidden) == want {
			t.Errorf("%s was reached: %t, %v, %v", entry, reached, err, p.Refused())
		}
	}
}

// If the operator has a proxy, allowed calls go through it.
func TestAProxyBehindAProxy(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }))
	defer server.Close()
	asked := make(chan string, 9)
	operators := trusting(t, server)
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Header.Get("Proxy-Authorization")
		operators.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	}))
	defer outer.Close()
	p := trusting(t, server)
	p.Via = func(*url.URL) (*url.URL, error) {
		return url.Parse(strings.Replace(outer.URL, "http://", "http://me:secret@", 1))
	}
	c, _ := through(t, p, server)
	if text, err := get(t, c, server.URL); text != "reached" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	must.Equal(t, "CONNECT Basic bWU6c2VjcmV0", <-asked, "the operator's proxy was asked")
	if _, err := get(t, c, "https://example.com/"); err == nil || len(asked) > 0 {
		t.Errorf("what is not listed was asked for: %v", err)
	}
}

// The operator's proxy is asked only for hosts in the one spelling that this server has judged.
func TestWhatTheOperatorsProxyIsAskedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Host)
		if r.Method != http.MethodConnect {
			asked.Store(r.URL.Host)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer outer.Close()
	p := &Proxy{Hosts: Public(), Via: func(*url.URL) (*url.URL, error) { return url.Parse(outer.URL) }}
	l := must.Get(p.Listen(t.Context()))(t)
	defer l.Close()
	for host, want := range map[string]string{
		"8.8.8.8": "8.8.8.8", "[2001:4860:4860:0::8888]": "[2001:4860:4860::8888]", "[::ffff:8.8.8.8]": "8.8.8.8",
		"Only-There.Example.COM.": "only-there.example.com",
		"127.1":                   "", "2130706433": "", "0x7f.1": "", "0x7f000001": "", "0177.0.0.1": "", "017700000001": "", "127.0.0.1.": "", "127.0.0.1": "",
		"127.0.0.01": "", "1.0x7f": "", "localhost": "", "LocalHost.": "", "localhost..": "", "a.localhost": "", "[::1]": "", "[::ffff:7f00:1]": "",
		"[::ffff:0:127.0.0.1]": "", "[fe80::1%25lo]": "", "0": "", "169.254.169.254": "", "2852039166": "", "[::ffff:a9fe:a9fe]": "", "[fd00:ec2::254]": "",
		"metadata.google.internal": "", "metadata": "", "printer.local": "", "a..example.com": "", "a_b.example.com:": "", "%31%32%37.1": "", "１２７.1": "", "*": "",
		"100.100.100.200": "", "a.example.com\\.x": "", "user@8.8.8.8": "8.8.8.8",
	} {
		for _, c := range []struct{ request, port string }{{"CONNECT %s:443 HTTP/1.1\r\nHost: x\r\n\r\n", ":443"}, {"GET http://%s:80/ HTTP/1.1\r\nHost: x\r\n\r\n", ""}} {
			asked.Store("")
			conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
			fmt.Fprintf(conn, c.request, host)
			_, _ = http.ReadResponse(bufio.NewReader(conn), nil)
			conn.Close()
			wanted := want
			if want != "" {
				wanted += c.port
			}
			must.Equal[any](t, wanted, asked.Load(), fmt.Sprintf(c.request, host))
		}
	}
}

// A host behind the operator's proxy may speak first, and end first: each byte arrives, however the
// proxy's response and the host's first bytes are cut.
func TestAHostBehindAProxyMaySpeakFirst(t *testing.T) {
	t.Parallel()
	const greeting = "SSH-2.0-host speaks first\r\n"
	for name, parts := range map[string][]string{
		"at once":                  {"HTTP/1.1 200 Connection established\r\n\r\n" + greeting},
		"later":                    {"HTTP/1.1 200 Connection established\r\n\r\n", greeting},
		"within the response":      {"HTTP/1.0 200 OK\r\nVia: a", " proxy\r\n\r", "\nSSH-2.0-host ", "speaks first\r\n"},
		"behind a length":          {"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" + greeting},
		"behind a transfer coding": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + greeting},
		"with bare ends of lines":  {"HTTP/1.1 200 OK\nVia: x\n\n" + greeting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer outer.Close()
			go func() {
				conn, err := outer.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				for _, part := range parts {
					_, _ = io.WriteString(conn, part)
				}
			}()
			hosts := must.Get(Trusted([]string{"127.0.0.1:22"}))(t)
			p := &Proxy{Hosts: hosts, Via: func(*url.URL) (*url.URL, error) { return url.Parse("http://" + outer.Addr().String()) }}
			l := must.Get(p.Listen(t.Context()))(t)
			defer l.Close()
			conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			must.Get(io.WriteString(conn, "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"))(t)
			got := string(must.Get(io.ReadAll(conn))(t))
			must.Equal(t, "HTTP/1.1 200 Connection established\r\n\r\n"+greeting, got)
		})
	}
}
