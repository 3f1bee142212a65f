package process

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// accepted returns both ends of a connection, the server's first.
func accepted(t testing.TB, network, address string, dial func(address string)) net.Conn {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial(l.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func dialed(t testing.TB, network string, kept *net.Conn) func(string) {
	return func(address string) {
		c, err := new(net.Dialer).DialContext(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		*kept = c
		t.Cleanup(func() { _ = c.Close() })
	}
}

// Who connects is found, whatever the address is written as; who has gone is nobody.
func TestCallersOfThisMachine(t *testing.T) {
	t.Parallel()
	for name, where := range map[string][2]string{"IPv4": {"tcp4", "127.0.0.1:0"}, "IPv6": {"tcp6", "[::1]:0"}, "mixed": {"tcp", "[::]:0"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var client net.Conn
			peer := new(Peers).Of(accepted(t, where[0], where[1], func(address string) {
				dialed(t, "tcp", &client)(strings.Replace(address, "[::]", "127.0.0.1", 1))
			}))
			for range 2 { // once by looking everywhere, once where it was found
				if got := peer.Caller(); got.Origin != OfOthers || got.PID != os.Getpid() {
					t.Errorf("the caller is %+v, want this process", got)
				}
			}
			asked, found, err := askForSocket(peer.remote, peer.local)
			listed, alsoFound := listedSocket(peer.remote, peer.local)
			if err == nil && (!found || asked != listed) || !alsoFound {
				t.Errorf("the kernel says %+v (%t), its lists %+v (%t)", asked, found, listed, alsoFound)
			}
			_ = client.Close()
			if got := peer.Caller(); got.Origin != OfNobody {
				t.Errorf("when it has gone, the caller is %+v", got)
			}
		})
	}
}

// A program that we have started is a job's, though nothing of its own says so.  It runs alone: between
// its fork and its start, a program has what all tests have.
func TestCallersOfJobs(t *testing.T) {
	var program *exec.Cmd
	peer := new(Peers).Of(accepted(t, "tcp4", "127.0.0.1:0", func(address string) {
		host, port, _ := net.SplitHostPort(address)
		program = exec.CommandContext(t.Context(), "bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; sleep 60")
		program.Env = []string{"PATH=" + os.Getenv("PATH")}
		program.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
	}))
	if got := peer.Caller(); got.Origin != OfJob {
		t.Errorf("the caller is %+v, want a job's", got)
	}
	_ = program.Process.Kill()
	_ = program.Wait()
}

// BenchmarkCaller is what a request costs on a connection that was looked at before, and
// on the first of a program that was never seen.
func BenchmarkCaller(b *testing.B) {
	for _, known := range []bool{true, false} {
		b.Run(map[bool]string{true: "known", false: "new"}[known], func(b *testing.B) {
			var client net.Conn
			peer := new(Peers).Of(accepted(b, "tcp4", "127.0.0.1:0", dialed(b, "tcp", &client)))
			for b.Loop() {
				if !known {
					peer.held, peer.peers = holding{}, new(Peers)
				}
				if peer.Caller().Origin != OfOthers {
					b.Fatal("not others'")
				}
			}
		})
	}
}
