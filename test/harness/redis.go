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

	"ringback/test/must"
	"ringback/test/scan"
)

// RedisServer is a private Redis. Its append-only files keep everything that was ever
// stored.
type RedisServer struct {
	URL, Port, Dir string
	Cmd            *exec.Cmd
	// clock is the file with the offset of its clock from the machine's, and library the
	// preloaded library that applies it; empty until MoveClock.
	clock, library string
	// host is its listen address.
	host string
	// args are its additional arguments.
	args []string
}

// StartRedis starts a Redis for one test. After it has ended, the test fails if secrets
// were stored. before is called while it still runs; nil for nothing.
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

// needRedis skips or fails the test if there is no redis-server.
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

// Addr returns its listen address: host:port.
func (r *RedisServer) Addr() string { return net.JoinHostPort(r.host, r.Port) }

// Kill kills it, like a crash.
func (r *RedisServer) Kill() {
	_ = r.Cmd.Process.Kill()
	_ = r.Cmd.Wait()
}

// Start starts or restarts it, and waits until it responds.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	args := []string{
		"-", "--port", r.Port, "--bind", r.host, "--dir", r.Dir, "--appendonly", "yes",
		"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--save", "", "--logfile", "redis.log",
		"--jemalloc-bg-thread", "no", // it would not sleep correctly with a moved clock
	}
	r.Cmd = exec.Command("redis-server", append(args, r.args...)...)
	r.Cmd.Stdin = strings.NewReader("requirepass " + scan.RedisPassword + "\nmasterauth " + scan.RedisPassword + "\n")
	if r.clock != "" {
		r.Cmd.Env = append(os.Environ(), "LD_PRELOAD="+r.library, "CLOCK_AHEAD="+r.clock)
	}
	must.OK(t, r.Cmd.Start())
	client := r.Client()
	defer client.Close()
	Eventually(t, "Redis to answer", func() bool { return client.Ping(t.Context()).Err() == nil })
}

// MoveClock sets how far its clock is ahead of the machine's, in whole seconds; negative:
// behind. The first call takes effect at its next start, later ones immediately.
func (r *RedisServer) MoveClock(t testing.TB, ahead time.Duration) {
	t.Helper()
	if r.clock == "" {
		r.library, r.clock = buildClock(t), filepath.Join(t.TempDir(), "clock")
	}
	file, err := os.OpenFile(r.clock, os.O_CREATE|os.O_WRONLY, 0o600) // in place, because Redis has it mapped
	must.OK(t, err)
	defer file.Close()
	must.OK(t, encoding.Write(file, encoding.NativeEndian, int64(ahead.Seconds())))
}

//go:embed testdata/clock.c
var clockSource []byte

// buildClock builds the library that makes a program see a different time.
func buildClock(t testing.TB) (library string) {
	t.Helper()
	dir := t.TempDir()
	source, library := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	must.OK(t, os.WriteFile(source, clockSource, 0o600))
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("building a clock: %v\n%s", err, out)
	}
	return library
}

// Do sends a command to it, as its operator.
func (r *RedisServer) Do(t testing.TB, words ...string) {
	t.Helper()
	out, err := exec.Command("redis-cli", append([]string{"-e", "-u", r.URL}, words...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %q: %v %s", words, err, out)
	}
}

// Restricted returns its URL for a user with only these rights.
func (r *RedisServer) Restricted(t testing.TB, rights ...string) string {
	t.Helper()
	r.Do(t, append([]string{"acl", "setuser", "ringback", "on", ">" + scan.RedisPassword}, rights...)...)
	return strings.Replace(r.URL, "default:", "ringback:", 1)
}

// Client returns a direct connection to it, bypassing Ringback.
func (r *RedisServer) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.Addr(), Password: scan.RedisPassword})
}

// Redis starts a Redis for one test, and returns its URL and a client, with which the test
// can do what only Ringback should.
func Redis(t testing.TB) (url string, client *redis.Client) {
	t.Helper()
	r := StartRedis(t, scan.Suite, nil)
	client = r.Client()
	t.Cleanup(func() { client.Close() })
	return r.URL, client
}
