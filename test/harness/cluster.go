package harness

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/scan"
)

// Cluster is a private Redis Cluster of three shards.
type Cluster struct {
	// URL is its REDIS_URL.
	URL string
	// Servers are all members, primaries and replicas.
	Servers []*RedisServer
}

// shards is the number of primaries of a Cluster: fewer could not elect a new one.
const shards = 3

// StartCluster starts a Redis Cluster for one test, with that many replicas of each
// primary.
func StartCluster(t testing.TB, replicas int) *Cluster {
	t.Helper()
	needRedis(t)
	c := &Cluster{}
	var addrs []string
	for range shards * (1 + replicas) {
		r := newRedis(t, "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", FreePort(t), "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0")
		r.Start(t)
		t.Cleanup(func() { r.Kill() })
		c.Servers = append(c.Servers, r)
		addrs = append(addrs, r.Addr())
	}
	Eventually(t, "the cluster to form", func() bool {
		args := append([]string{"--cluster", "create"}, addrs...)
		create := exec.Command("redis-cli", append(args, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")...)
		create.Env = append(os.Environ(), "REDISCLI_AUTH="+scan.RedisPassword)
		out, _ := create.CombinedOutput()
		return strings.Contains(string(out), "All 16384 slots covered") || strings.Contains(string(out), "is not empty")
	})
	c.URL = "redis://default:" + scan.RedisPassword + "@" + strings.Join(addrs, ",")
	c.AwaitWhole(t, replicas)
	return c
}

// AwaitWhole waits until all members agree that each shard has a primary and that many
// replicas in sync.
func (c *Cluster) AwaitWhole(t testing.TB, replicas int) {
	t.Helper()
	for _, r := range c.Servers {
		client := r.Client()
		defer client.Close()
		Eventually(t, "every node to know the cluster", func() bool {
			info, _ := client.ClusterInfo(t.Context()).Result()
			return strings.Contains(info, "cluster_state:ok")
		})
		Eventually(t, "every primary to have its replicas", func() bool {
			role := RoleOf(t, client)
			return role.Replica && role.InStep || !role.Replica && role.Replicas >= replicas
		})
	}
}

// Primaries returns the members that are primaries now.
func (c *Cluster) Primaries(t testing.TB) []*RedisServer {
	t.Helper()
	var found []*RedisServer
	for _, r := range c.Servers {
		client := r.Client()
		if role := RoleOf(t, client); role.Known && !role.Replica {
			found = append(found, r)
		}
		client.Close()
	}
	return found
}

// Role is the replication state of a Redis.
type Role struct {
	// Known is false if it does not respond.
	Known bool
	// Replica is true if it follows a primary, InStep if it is connected to it.
	Replica, InStep bool
	// Replicas is the number of a primary's replicas that acknowledge its writes.
	Replicas int
	// Offset is its position in the replication stream, in bytes.
	Offset int64
}

// RoleOf returns the role of a Redis.
func RoleOf(t testing.TB, client *redis.Client) Role {
	t.Helper()
	info, err := client.Info(t.Context(), "replication").Result()
	if err != nil {
		return Role{}
	}
	field := func(name string) string {
		_, rest, _ := strings.Cut(info, "\n"+name+":")
		value, _, _ := strings.Cut(rest, "\r")
		return value
	}
	r := Role{Known: true, Replica: field("role") == "slave"}
	r.InStep = field("master_link_status") == "up"
	r.Replicas = strings.Count(info, "state=online")
	offset := "master_repl_offset"
	if r.Replica {
		offset = "slave_repl_offset"
	}
	r.Offset, _ = strconv.ParseInt(field(offset), 10, 64)
	return r
}

// KillInStep kills a primary when a replica has all of its writes, so that promoting the
// replica loses nothing. If the replica does not catch up, it kills nothing and returns
// false.
func (r *RedisServer) KillInStep(t testing.TB, replica *RedisServer) bool {
	t.Helper()
	client := r.Client()
	defer client.Close()
	if client.Do(t.Context(), "CLIENT", "PAUSE", (5*time.Second).Milliseconds(), "WRITE").Err() != nil {
		return false
	}
	if !r.AwaitInStep(t, replica) {
		_ = client.Do(t.Context(), "CLIENT", "UNPAUSE").Err()
		return false
	}
	r.Kill()
	return true
}

// AwaitInStep waits up to two seconds until a replica has everything that the primary has
// written; it returns false if it has not.
func (r *RedisServer) AwaitInStep(t testing.TB, replica *RedisServer) bool {
	t.Helper()
	client, follower := r.Client(), replica.Client()
	defer client.Close()
	defer follower.Close()
	written := RoleOf(t, client)
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if read := RoleOf(t, follower); written.Known && read.Known && read.Replica && read.InStep && read.Offset >= written.Offset {
			return true
		}
	}
	return false
}

// ReplicasOf returns the replicas of a primary.
func (c *Cluster) ReplicasOf(t testing.TB, primary *RedisServer) []*RedisServer {
	t.Helper()
	var found []*RedisServer
	for _, r := range c.Servers {
		client := r.Client()
		info, _ := client.Info(t.Context(), "replication").Result()
		client.Close()
		if strings.Contains(info, "\nmaster_port:"+primary.Port+"\r") {
			found = append(found, r)
		}
	}
	return found
}
