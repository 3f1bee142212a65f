package attack

import (
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"ringback/test/harness"
)

// listeners are what a program may call on this machine, and count who does.
type listeners struct {
	calls atomic.Int64
	// fill puts their addresses in place of TCP, SIX, OUT, UDP and ABSTRACT in scripts.
	fill *strings.Replacer
}

func listen(t *testing.T) *listeners {
	t.Helper()
	l := &listeners{}
	names := []string{"ABSTRACT", "ringback-attack-" + strconv.Itoa(len(t.Name())) + t.Name()[strings.LastIndex(t.Name(), "/")+1:]}
	for _, at := range [][3]string{{"TCP", "tcp", "127.0.0.1:0"}, {"SIX", "tcp", "[::1]:0"}, {"OUT", "tcp", outside(t) + ":0"}, {"", "unix", "@" + names[1]}} {
		listener, err := net.Listen(at[1], at[2])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		if at[0] != "" {
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			names = append(names, at[0], port)
		}
		go l.count(listener)
	}
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { datagrams.Close() })
	go func() {
		for {
			if _, _, err := datagrams.ReadFrom(make([]byte, 9)); err != nil {
				return
			}
			l.calls.Add(1)
		}
	}()
	_, port, _ := net.SplitHostPort(datagrams.LocalAddr().String())
	l.fill = strings.NewReplacer(append(names, "UDP", port, "HOST", outside(t))...)
	return l
}

func (l *listeners) count(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		l.calls.Add(1)
		conn.Close()
	}
}

// outside is an address of this machine beside loopback; loopback where it has none.
func outside(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// calls are ways to call what listens on this machine; each does where there is a network.
var calls = []string{
	"bash -c 'echo x > /dev/tcp/127.0.0.1/TCP'", "bash -c 'echo x > /dev/tcp/localhost/TCP'", "bash -c 'echo x > /dev/tcp/::1/SIX'", "bash -c 'echo x > /dev/udp/127.0.0.1/UDP'",
	"bash -c 'echo x > /dev/tcp/HOST/OUT'", "curl -s -m 5 http://127.0.0.1:TCP/", "curl -s -m 5 'http://[::1]:SIX/'", "curl -s -m 5 http://HOST:OUT/", "curl -s -m 5 http://127.1:TCP/", "curl -s -m 5 http://0:TCP/",
	"curl -s -m 5 --abstract-unix-socket ABSTRACT http://x/", "env -i setsid curl -s -m 5 http://127.0.0.1:TCP/", "git ls-remote http://127.0.0.1:TCP/x",
	"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", TCP), 5)'", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0ABSTRACT\")'",
	"python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", UDP))'",
	"perl -MIO::Socket::INET -e 'IO::Socket::INET->new(q(127.0.0.1:TCP)) or die'",
}

// escapes are ways out of a network namespace that must not be.
var escapes = []string{
	"nsenter -t 1 -n curl -s -m 5 http://127.0.0.1:TCP/", "nsenter --net=/proc/1/ns/net curl -s -m 5 http://127.0.0.1:TCP/", "nsenter --net=/proc/$UP/ns/net curl -s -m 5 http://127.0.0.1:TCP/",
	"unshare -Urn sh -c 'ip link set lo up; curl -s -m 5 http://127.0.0.1:TCP/'", "unshare -Ur nsenter --net=/proc/1/ns/net curl -s -m 5 http://127.0.0.1:TCP/", "ip link set lo up; curl -s -m 5 http://127.0.0.1:TCP/",
	"for n in /proc/[0-9]*/ns/net /var/run/netns/* /run/netns/*; do nsenter --net=$n curl -s -m 5 http://127.0.0.1:TCP/; done",
	"ip link add v0 type veth peer name v1; ip addr add HOST/24 dev v0; curl -s -m 5 http://HOST:OUT/",
	"python3 -c 'import socket\nfor fd in range(3, 99):\n  try: socket.socket(fileno=fd).connect((\"127.0.0.1\", TCP))\n  except OSError: pass'",
}

// A program without a network calls nobody, this machine's own programs included.
func TestNoNetworkIsNone(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		if mode.sandbox != "require" {
			continue // docs/sandbox.md: a sandbox takes it
		}
		for _, from := range []place{inAction, inVerifier} {
			for _, network := range []string{"none", "full"} {
				t.Run(name+", "+string(from)+", "+network, func(t *testing.T) {
					t.Parallel()
					l := listen(t)
					a := attackFrom(t, from, mode.ordinary, rules{action: "  network: " + network + "\n", change: "network: " + network + "\n"}, harness.Vars{"SANDBOX": mode.sandbox})
					if network == "full" {
						a.runAll(l.filled(calls))
						harness.Eventually(t, "all calls to arrive", func() bool { return int(l.calls.Load()) >= len(calls) })
						return
					}
					a.runAll(l.filled(append(escapes, calls...)))
					if n := l.calls.Load(); n > 0 {
						t.Errorf("%d calls have arrived", n)
					}
				})
			}
		}
	}
}

func (l *listeners) filled(scripts []string) []string {
	var all []string
	for _, script := range scripts {
		all = append(all, l.fill.Replace(script))
	}
	return all
}
