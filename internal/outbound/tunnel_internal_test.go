package outbound

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// through is an HTTP client that goes through a tunnel.
func through(t *testing.T, tunnel *Tunnel, server *httptest.Server) *http.Client {
	t.Helper()
	proxy, err := url.Parse(tunnel.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(proxy)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestTunnelLeadsToItsHostOnly(t *testing.T) {
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
	tunnel, err := openTunnel(t.Context(), server.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	c := through(t, tunnel, server)
	if text, err := get(t, c, server.URL); len(text) != 1<<20 || err != nil || tunnel.Refused() != nil {
		t.Errorf("got %d bytes, %v, %v", len(text), err, tunnel.Refused())
	}
	if _, err := get(t, c, server.URL+"/away"); err == nil || reached.Load() != 0 || !errors.Is(tunnel.Refused(), errOther) {
		t.Errorf("a redirect was followed: %v, %v", err, tunnel.Refused())
	}
	if _, err := get(t, c, strings.Replace(server.URL, "https", "http", 1)); err != nil {
		t.Log(err) // it is answered by the proxy
	}
}

func TestTunnelLeadsToPublicAddressesOnly(t *testing.T) {
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
		tunnel, err := OpenTunnel(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, through(t, tunnel, server), "https://"+target); err == nil || tunnel.Refused() == nil {
			t.Errorf("%s: %v, %v", host, err, tunnel.Refused())
		}
		tunnel.Close()
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("it was reached %d times", n)
	}
}

// git itself goes through it.
func TestGitGoesThroughATunnel(t *testing.T) {
	t.Parallel()
	const refs = "9daeafb9864cf43055ae93beb0afd6c7d144bfa4\trefs/heads/main\n"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, refs) }))
	defer server.Close()
	tunnel, err := openTunnel(t.Context(), server.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	cmd := exec.CommandContext(t.Context(), "git", "-c", "http.sslVerify=false", "-c", "http.proxy="+tunnel.URL(), "ls-remote", server.URL+"/x")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != refs {
		t.Errorf("git says %s %v", out, err)
	}
}
