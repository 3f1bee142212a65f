package harness

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/test/scan"
)

// RedisServer is a private Redis, which keeps all that ever was stored.
type RedisServer struct {
	URL, Port, Dir string
	Cmd            *exec.Cmd
}

// StartRedis starts a Redis for one test. When it has ended, the test fails of secrets
// that were stored. Before is called while it still runs; nil for nothing.
func StartRedis(t testing.TB, s *scan.Scan, before func(*RedisServer)) *RedisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: run make deps")
		}
		t.Skip("redis-server is not installed: run make deps")
	}
	r := &RedisServer{Dir: t.TempDir(), Port: FreePort(t)}
	r.URL = "redis://default:" + scan.RedisPassword + "@127.0.0.1:" + r.Port
	r.Start(t)
	t.Cleanup(func() {
		if before != nil {
			before(r)
		}
		_ = r.Cmd.Process.Kill()
		_ = r.Cmd.Wait()
		s.WantStore(t, r.Dir)
	})
	return r
}

// Start starts it, again where it was killed, and waits until it answers.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	r.Cmd = exec.Command("redis-server", "-", "--port", r.Port, "--bind", "127.0.0.1", "--dir", r.Dir, "--appendonly", "yes",
		"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--save", "", "--logfile", "redis.log")
	r.Cmd.Stdin = strings.NewReader("requirepass " + scan.RedisPassword + "\n")
	if err := r.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := r.client()
	defer client.Close()
	Eventually(t, "Redis to answer", func() bool { return client.Ping(t.Context()).Err() == nil })
}

func (r *RedisServer) client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + r.Port, Password: scan.RedisPassword})
}

// Redis starts a Redis for one test, and returns its URL and a client, by which the test
// does what nobody but Ringback should.
func Redis(t testing.TB) (url string, client *redis.Client) {
	t.Helper()
	r := StartRedis(t, scan.Suite, nil)
	client = r.client()
	t.Cleanup(func() { client.Close() })
	return r.URL, client
}

// FreePort is a port that nobody listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
