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
	test := listener.Addr().String()
	awaitReach := func(h *harness.Host, what string) { // a busy machine answers late
		t.Helper()
		must.Eventually(t, what, func() bool { return reaches(h, test) })
	}
	awaitReach(one, "a host to reach the test")
	awaitReach(other, "the other host to reach the test")
	_, port, _ := net.SplitHostPort(test)
	if reaches(one, "127.0.0.1:"+port) {
		t.Error("a host has the test's loopback")
	}
	one.Cut(t)
	if reaches(one, test) {
		t.Error("a host that was cut off reaches the test")
	}
	awaitReach(other, "the host that was not cut off to reach the test")
	one.Join(t)
	awaitReach(one, "a host that was cut off to come back")
}
