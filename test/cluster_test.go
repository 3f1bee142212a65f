package test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startCluster starts a Redis Cluster of three masters and returns its REDIS_URL.
func startCluster(t *testing.T) string {
	t.Helper()
	startRedis(t) // skips or fails where there is none
	var addrs []string
	for range 3 {
		port := freePort(t)
		cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "",
			"--cluster-enabled", "yes", "--cluster-port", freePort(t), "--cluster-config-file", "nodes.conf")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		addrs = append(addrs, "127.0.0.1:"+port)
	}
	eventually(t, "the cluster to form", func() bool {
		args := append([]string{"--cluster", "create"}, addrs...)
		out, _ := exec.Command("redis-cli", append(args, "--cluster-yes")...).CombinedOutput()
		return strings.Contains(string(out), "All 16384 slots covered") || strings.Contains(string(out), "is not empty")
	})
	for _, addr := range addrs {
		host, port, _ := strings.Cut(addr, ":")
		eventually(t, "every node to know the cluster", func() bool {
			out, _ := exec.Command("redis-cli", "-h", host, "-p", port, "cluster", "info").Output()
			return strings.Contains(string(out), "cluster_state:ok")
		})
	}
	return "redis://" + strings.Join(addrs, ",")
}

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-cli"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-cli is not installed: run make deps")
	}
	url := startCluster(t)
	one := startNode(t, vars{"REDIS_URL": url})
	two := startNode(t, vars{"REDIS_URL": url}, "--role", "api")
	for _, user := range []string{"a", "b", "c", "d", "e", "f"} { // on different partitions
		events := two.listen(t, "userId="+user)
		id := two.create(t, object{"userId": user})
		if got := names(events.until("recipes:suggestions:received")); len(got) != 6 {
			t.Errorf("user %s heard %v", user, got)
		}
		one.await(t, id, "received")
	}
	if got := len(one.want(t, 200, "GET", "/api/jobs", nil)["jobs"].([]any)); got != 6 {
		t.Errorf("%d jobs are listed, want 6", got)
	}
	_, envelope := one.manual(t, object{"userId": "z"})
	two.want(t, 200, "POST", "/api/claude/suggestions/batch", with(envelope, object{"batch": 1, "suggestions": mealResult("Soup")["suggestions"]}))
	two.want(t, 200, "POST", "/api/claude/suggestions/batch", with(envelope, with(mealResult("Pie"), object{"batch": 2, "final": true})))
}
