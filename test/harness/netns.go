package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Network is a network of a test's own: hosts that share nothing but it. The test is on
// it, too, at Addr, so that a Redis or a scripted model can listen there.
type Network struct {
	// Addr is the test's own address on it.
	Addr  string
	id    int
	hosts int
}

// Host is a machine on a Network, as far as addresses go: a network namespace with a
// loopback of its own. Its processes and files are this machine's.
type Host struct {
	// Addr is its address on the network.
	Addr      string
	namespace string
	// link is the end of its cable that is plugged into the network, at bridge.
	link, bridge string
}

// maxNetworks is how many networks tests may have at a time, on one machine.
const maxNetworks = 250

// NewNetwork makes a network, which goes with the test. It takes root and the commands
// ip and nsenter.
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
		// With an address of its own. Else a bridge takes one of its hosts' addresses, and another
		// when that host is cut off: the others would send to the old one for a while.
		if err := ip("link", "add", n.bridge(), "address", fmt.Sprintf("02:00:0a:d5:%02x:01", id), "type", "bridge"); err != nil {
			if !strings.Contains(err.Error(), "File exists") {
				t.Fatal(err)
			}
			continue // somebody else has it
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

// Host adds a host, which goes with the test.
func (n *Network) Host(t testing.TB) *Host {
	t.Helper()
	n.hosts++
	name := fmt.Sprintf("rbnet%d-%d", n.id, n.hosts)
	h := &Host{Addr: fmt.Sprintf("10.213.%d.%d", n.id, n.hosts+1), namespace: name, link: name, bridge: n.bridge()}
	_ = ip("netns", "del", h.namespace) // of a test that was killed
	mustIP(t, "netns", "add", h.namespace)
	t.Cleanup(func() {
		_ = ip("link", "del", h.link) // the namespace, and its end with it, may live on with a process
		mustIP(t, "netns", "del", h.namespace)
	})
	mustIP(t, "link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.namespace)
	mustIP(t, "-n", h.namespace, "link", "set", "lo", "up")
	mustIP(t, "-n", h.namespace, "addr", "add", h.Addr+"/24", "dev", "eth0")
	mustIP(t, "-n", h.namespace, "link", "set", "eth0", "up")
	mustIP(t, "link", "set", h.link, "master", n.bridge(), "up")
	return h
}

// Run has a command run on the host; its process is still the command's own.
func (h *Host) Run(cmd *exec.Cmd) {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		cmd.Err = err
		return
	}
	cmd.Args = append([]string{nsenter, "--net=/run/netns/" + h.namespace, "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = nsenter
}

// Cut pulls the host's plug: whatever is sent to it or by it is lost, and nobody is told.
func (h *Host) Cut(t testing.TB) {
	t.Helper()
	mustIP(t, "link", "set", h.link, "nomaster")
}

// Join plugs it in again.
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
