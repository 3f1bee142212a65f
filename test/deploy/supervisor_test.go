package deploy

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// manager is a service manager: it reads what servers report to their NOTIFY_SOCKET.
type manager struct {
	socket string
	mu     sync.Mutex
	heard  []string
}

func startManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{socket: filepath.Join(t.TempDir(), "notify")}
	conn := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.socket, Net: "unixgram"}))(t)
	t.Cleanup(func() { conn.Close() })
	go func() {
		message := make([]byte, 4096)
		for {
			n, err := conn.Read(message)
			if err != nil {
				return
			}
			m.mu.Lock()
			m.heard = append(m.heard, string(message[:n]))
			m.mu.Unlock()
		}
	}()
	return m
}

// messages returns what was reported until now, without repetitions.
func (m *manager) messages() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Compact(slices.Clone(m.heard))
}

func TestAServerReportsToItsServiceManager(t *testing.T) {
	t.Parallel()
	m := startManager(t)
	n := rig.Start(t, vars{"NOTIFY_SOCKET": m.socket, "WATCHDOG_USEC": "100000"})
	must.Eventually(t, "signs of life", func() bool {
		return slices.Contains(m.messages(), "READY=1") && slices.Contains(m.messages(), "WATCHDOG=1")
	})
	n.Stop(t, syscall.SIGTERM)
	must.Eventually(t, "the end", func() bool { return slices.Contains(m.messages(), "STOPPING=1") })
	said := slices.DeleteFunc(m.messages(), func(message string) bool { return message == "WATCHDOG=1" })
	must.Equal(t, []string{"READY=1", "STOPPING=1"}, said)
}

// A server that stops slowly, because it waits for its turns, is not taken for one that is stuck.
func TestADrainingServerIsNotTakenForStuck(t *testing.T) {
	t.Parallel()
	m, release := startManager(t), t.TempDir()
	n := rig.Start(t, vars{"NOTIFY_SOCKET": m.socket, "WATCHDOG_USEC": "100000", "CLAUDE_BIN": rig.PatientCLI(t, release)}, "--drain", "--drain-grace=0s")
	id := n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "running")
	must.OK(t, n.Cmd.Process.Signal(syscall.SIGTERM))
	must.Eventually(t, "signs of life after the stop has begun", func() bool {
		_, after, stopping := strings.Cut(strings.Join(m.messages(), "\n"), "STOPPING=1")
		return stopping && strings.Contains(after, "WATCHDOG=1")
	})
	rig.Release(t, release)
	n.AwaitExit(t)
}

func TestASocketThatIsNotThereKeepsNoServerFromStarting(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "none"), "WATCHDOG_USEC": "soon"})
	n.Want(t, 200, "GET", "/healthz", nil)
}
