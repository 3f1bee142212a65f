package harness

import (
	_ "embed"
	encoding "encoding/binary"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/scan"
)

// RedisServer is a private Redis, which keeps all that ever was stored.
type RedisServer struct {
	URL, Port, Dir string
	Cmd            *exec.Cmd
	// clock is the file that says how far its clock is ahead of the machine's, library what makes it
	// see that; empty until MoveClock.
	clock, library string
	// host is the address that it listens on.
	host string
	// args are what it is started with beside what all are.
	args []string
}

// StartRedis starts a Redis for one test. When it has ended, the test fails of secrets
// that were stored. Before is called while it still runs; nil for nothing.
func StartRedis(t testing.TB, s *scan.Scan, before func(*RedisServer)) *RedisServer {
	t.Helper()
	return StartRedisAt(t, s, "127.0.0.1", before)
}

// StartRedisAt is StartRedis at an address of this machine, such as a Network's.
func StartRedisAt(t testing.TB, s *scan.Scan, addr string, before func(*RedisServer)) *RedisServer {
	t.Helper()
	needRedis(t)
	r := newRedis(t, addr)
	r.Start(t)
	t.Cleanup(func() {
		if before != nil {
			before(r)
		}
		r.Kill()
		s.WantStore(t, r.Dir)
	})
	return r
}

// needRedis skips or fails where there is no redis-server.
func needRedis(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: run make deps")
		}
		t.Skip("redis-server is not installed: run make deps")
	}
}

func newRedis(t testing.TB, addr string, args ...string) *RedisServer {
	t.Helper()
	r := &RedisServer{Dir: t.TempDir(), host: addr, Port: FreePort(t), args: args}
	r.URL = "redis://default:" + scan.RedisPassword + "@" + net.JoinHostPort(addr, r.Port)
	return r
}

// Addr is where it listens: host:port.
func (r *RedisServer) Addr() string { return net.JoinHostPort(r.host, r.Port) }

// Kill ends it as a crash would.
func (r *RedisServer) Kill() {
	_ = r.Cmd.Process.Kill()
	_ = r.Cmd.Wait()
}

// Start starts it, again where it was killed, and waits until it answers.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	args := []string{
		"-", "--port", r.Port, "--bind", r.host, "--dir", r.Dir, "--appendonly", "yes",
		"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--save", "", "--logfile", "redis.log",
		"--jemalloc-bg-thread", "no", // it does not sleep by a clock that is moved
	}
	r.Cmd = exec.Command("redis-server", append(args, r.args...)...)
	r.Cmd.Stdin = strings.NewReader("requirepass " + scan.RedisPassword + "\nmasterauth " + scan.RedisPassword + "\n")
	if r.clock != "" {
		r.Cmd.Env = append(os.Environ(), "LD_PRELOAD="+r.library, "CLOCK_AHEAD="+r.clock)
	}
	if err := r.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := r.Client()
	defer client.Close()
	Eventually(t, "Redis to answer", func() bool { return client.Ping(t.Context()).Err() == nil })
}

// MoveClock lets its clock be ahead of the machine's by as many seconds; negative: behind. The first
// time, that counts from its next start on, after that at once.
func (r *RedisServer) MoveClock(t testing.TB, ahead time.Duration) {
	t.Helper()
	if r.clock == "" {
		r.library, r.clock = buildClock(t), filepath.Join(t.TempDir(), "clock")
	}
	file, err := os.OpenFile(r.clock, os.O_CREATE|os.O_WRONLY, 0o600) // in place: Redis has it mapped
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := encoding.Write(file, encoding.NativeEndian, int64(ahead.Seconds())); err != nil {
		t.Fatal(err)
	}
}

//go:embed testdata/clock.c
var clockSource []byte

// buildClock builds what has a program see another time than the machine's.
func buildClock(t testing.TB) (library string) {
	t.Helper()
	dir := t.TempDir()
	source, library := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("building a clock: %v\n%s", err, out)
	}
	return library
}

// Client is a connection to it, past whatever Ringback does.
func (r *RedisServer) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.Addr(), Password: scan.RedisPassword})
}

// Redis starts a Redis for one test, and returns its URL and a client, by which the test
// does what nobody but Ringback should.
func Redis(t testing.TB) (url string, client *redis.Client) {
	t.Helper()
	r := StartRedis(t, scan.Suite, nil)
	client = r.Client()
	t.Cleanup(func() { client.Close() })
	return r.URL, client
}
