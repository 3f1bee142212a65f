package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Network is a test's own network, with hosts that share nothing else. The test is on it,
// too, at Addr, so that a Redis or a scripted model can listen there.
type Network struct {
	// Addr is the test's own address on it.
	Addr  string
	id    int
	hosts int
}

// Host is a separate machine on a Network as far as addresses are concerned: a network
// namespace with its own loopback. Its processes and files are this machine's.
type Host struct {
	// Addr is its address on the network.
	Addr      string
	namespace string
	// link is the host's virtual cable, attached to the network at bridge.
	link, bridge string
}

// maxNetworks is the maximum number of networks of tests on one machine at a time.
const maxNetworks = 250

// NewNetwork creates a network, which is removed when the test ends. It requires root and
// the commands ip and nsenter.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	for _, missing := range missingForNetworks() {
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	for id := range maxNetworks {
		n := &Network{id: id, Addr: fmt.Sprintf("10.213.%d.1", id)}
		// The bridge gets its own MAC address. Otherwise it would use one of its hosts'
		// addresses, and another when that host is cut off; the others would send to the
		// old one for a while.
		if err := ip("link", "add", n.bridge(), "address", fmt.Sprintf("02:00:0a:d5:%02x:01", id), "type", "bridge"); err != nil {
			if !strings.Contains(err.Error(), "File exists") {
				t.Fatal(err)
			}
			continue // it is in use by another test
		}
		t.Cleanup(func() { mustIP(t, "link", "del", n.bridge()) })
		mustIP(t, "addr", "add", n.Addr+"/24", "dev", n.bridge())
		mustIP(t, "link", "set", n.bridge(), "up")
		return n
	}
	t.Fatalf("all %d networks of tests are in use: remove those that were left with \"ip link del rbnet<n>\"", maxNetworks)
	return nil
}

func missingForNetworks() (missing []string) {
	if os.Getuid() != 0 {
		missing = append(missing, "networks of tests take root")
	}
	for _, command := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, command+" is not installed: run make deps")
		}
	}
	return missing
}

func (n *Network) bridge() string { return fmt.Sprintf("rbnet%d", n.id) }

// Host adds a host, which is removed when the test ends.
func (n *Network) Host(t testing.TB) *Host {
	t.Helper()
	n.hosts++
	name := fmt.Sprintf("rbnet%d-%d", n.id, n.hosts)
	h := &Host{Addr: fmt.Sprintf("10.213.%d.%d", n.id, n.hosts+1), namespace: name, link: name, bridge: n.bridge()}
	_ = ip("netns", "del", h.namespace) // left by a test that was killed
	mustIP(t, "netns", "add", h.namespace)
	t.Cleanup(func() {
		_ = ip("link", "del", h.link) // a process may keep the namespace, and its end of the link, alive
		mustIP(t, "netns", "del", h.namespace)
	})
	mustIP(t, "link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.namespace)
	mustIP(t, "-n", h.namespace, "link", "set", "lo", "up")
	mustIP(t, "-n", h.namespace, "addr", "add", h.Addr+"/24", "dev", "eth0")
	mustIP(t, "-n", h.namespace, "link", "set", "eth0", "up")
	mustIP(t, "link", "set", h.link, "master", n.bridge(), "up")
	return h
}

// Run makes a command run on the host, in the same process.
func (h *Host) Run(cmd *exec.Cmd) {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		cmd.Err = err
		return
	}
	cmd.Args = append([]string{nsenter, "--net=/run/netns/" + h.namespace, "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = nsenter
}

// Cut disconnects the host: packets to and from it are lost silently.
func (h *Host) Cut(t testing.TB) {
	t.Helper()
	mustIP(t, "link", "set", h.link, "nomaster")
}

// Join reconnects it.
func (h *Host) Join(t testing.TB) {
	t.Helper()
	mustIP(t, "link", "set", h.link, "master", h.bridge)
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func mustIP(t testing.TB, args ...string) {
	t.Helper()
	if err := ip(args...); err != nil {
		t.Error(err)
	}
}
