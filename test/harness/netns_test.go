package harness_test

import (
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// Hosts can reach the test and one another, do not share loopback, and can be disconnected.
func TestHostsShareTheNetworkAlone(t *testing.T) {
	t.Parallel()
	network := harness.NewNetwork(t)
	one, other := network.Host(t), network.Host(t)
	listener := must.Get(net.Listen("tcp", network.Addr+":0"))(t)
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	reaches := func(h *harness.Host, address string) bool {
		cmd := exec.CommandContext(t.Context(), "curl", "-s", "-o", "/dev/null", "-m", "1", "http://"+address)
		h.Run(cmd)
		return cmd.Run() == nil
	}
	if !reaches(one, listener.Addr().String()) || !reaches(other, listener.Addr().String()) {
		t.Error("a host does not reach the test")
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if reaches(one, "127.0.0.1:"+port) {
		t.Error("a host has the test's loopback")
	}
	one.Cut(t)
	if reaches(one, listener.Addr().String()) || !reaches(other, listener.Addr().String()) {
		t.Error("the wrong host was cut off")
	}
	one.Join(t)
	if !reaches(one, listener.Addr().String()) {
		t.Error("a host that was cut off does not come back")
	}
}
