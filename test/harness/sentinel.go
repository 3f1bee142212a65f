package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
	"ringback/test/scan"
)

// SentinelGroup is a Redis with a replica, and three Sentinels that promote the replica
// when the primary is down for two seconds.
type SentinelGroup struct {
	// URL is its REDIS_URL.
	URL string
	// Servers are the primary and the replica; which is which can change.
	Servers   []*RedisServer
	sentinels []string
}

const sentinelName = "main"

// StartSentinel starts a Sentinel group for one test.
func StartSentinel(t testing.TB) *SentinelGroup {
	t.Helper()
	needRedis(t)
	g := &SentinelGroup{}
	primary := newRedis(t, "127.0.0.1", "--repl-diskless-sync-delay", "0")
	primary.Start(t)
	replica := newRedis(t, "127.0.0.1", "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1", primary.Port)
	replica.Start(t)
	g.Servers = []*RedisServer{primary, replica}
	for _, r := range g.Servers {
		t.Cleanup(func() { r.Kill() })
	}
	for range 3 {
		g.sentinels = append(g.sentinels, startOneSentinel(t, primary.Port))
	}
	g.URL = "redis://default:" + scan.RedisPassword + "@" + strings.Join(g.sentinels, ",") + "?master_name=" + sentinelName
	g.AwaitReplica(t)
	return g
}

func startOneSentinel(t testing.TB, primaryPort string) (addr string) {
	t.Helper()
	port := FreePort(t)
	file := filepath.Join(t.TempDir(), "sentinel.conf") // Sentinel writes its state to it
	text := fmt.Sprintf("port %[1]s\nbind 127.0.0.1\nsentinel monitor %[2]s 127.0.0.1 %[3]s 2\nsentinel auth-pass %[2]s %[4]s\n"+
		"sentinel down-after-milliseconds %[2]s 2000\nsentinel failover-timeout %[2]s 3000\n", port, sentinelName, primaryPort, scan.RedisPassword)
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	cmd := exec.Command("redis-server", file, "--sentinel")
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return "127.0.0.1:" + port
}

// AwaitReplica waits until every Sentinel knows the others and a replica in sync.
func (g *SentinelGroup) AwaitReplica(t testing.TB) {
	t.Helper()
	for _, addr := range g.sentinels {
		client := redis.NewSentinelClient(&redis.Options{Addr: addr})
		defer client.Close()
		Eventually(t, "every Sentinel to know the group", func() bool {
			replicas, err := client.Replicas(t.Context(), sentinelName).Result()
			others, _ := client.Sentinels(t.Context(), sentinelName).Result()
			ready := func(r map[string]string) bool { return r["flags"] == "slave" && r["master-link-status"] == "ok" }
			return err == nil && len(others) == len(g.sentinels)-1 && slices.ContainsFunc(replicas, ready)
		})
	}
}

// Primary returns the server that the Sentinels consider the primary; nil for none.
func (g *SentinelGroup) Primary(t testing.TB) *RedisServer {
	t.Helper()
	for _, addr := range g.sentinels {
		client := redis.NewSentinelClient(&redis.Options{Addr: addr})
		found, err := client.GetMasterAddrByName(t.Context(), sentinelName).Result()
		client.Close()
		if err != nil || len(found) != 2 {
			continue
		}
		for _, r := range g.Servers {
			if r.Port == found[1] {
				return r
			}
		}
	}
	return nil
}

// Other returns the other server of the group.
func (g *SentinelGroup) Other(r *RedisServer) *RedisServer {
	if g.Servers[0] == r {
		return g.Servers[1]
	}
	return g.Servers[0]
}
