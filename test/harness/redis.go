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

// Redis starts a Redis for one test, and returns its URL and a client, by which the test
// does what nobody but Ringback should.
func Redis(t testing.TB) (url string, client *redis.Client) {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: run make deps")
		}
		t.Skip("redis-server is not installed: run make deps")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	dir := t.TempDir()
	cmd := exec.Command(bin, "-", "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes",
		"--auto-aof-rewrite-percentage", "0", "--save", "", "--logfile", "log")
	cmd.Stdin = strings.NewReader("requirepass " + scan.RedisPassword + "\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client = redis.NewClient(&redis.Options{Addr: address, Password: scan.RedisPassword})
	t.Cleanup(func() {
		client.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		scan.Suite.WantStore(t, dir)
	})
	Eventually(t, "Redis to answer", func() bool { return client.Ping(t.Context()).Err() == nil })
	return "redis://default:" + scan.RedisPassword + "@" + address, client
}
