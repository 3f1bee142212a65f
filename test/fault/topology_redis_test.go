package fault

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/scan"
)

// startEmbedded uses the node's embedded Redis, with its append-only file in DATA_DIR.
func startEmbedded(w *world) store {
	var last time.Time
	kill := func() {
		// Five crashes in a minute are too many, by design: see docs/operations.md.
		if time.Since(last) < 15*time.Second {
			return
		}
		for _, pid := range embeddedRedis(w.node(0).Cmd.Process.Pid) {
			last = time.Now()
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return store{faults: []fault{
		{"embedded Redis killed", kill},
		{"node and its Redis killed", func() {
			pids := embeddedRedis(w.node(0).Cmd.Process.Pid)
			_ = w.node(0).Cmd.Process.Kill()
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			<-w.node(0).Exited()
			w.restart(0)
		}},
	}}
}

// embeddedRedis returns the process that a node has started as its store.
func embeddedRedis(node int) []int {
	var found []int
	for _, pid := range harness.ChildrenOf(node) {
		comm, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		if strings.HasPrefix(string(comm), "redis-server") || strings.HasPrefix(string(comm), "valkey-server") {
			found = append(found, pid)
		}
	}
	return found
}

// killed is the fault of a Redis that is killed, and starts again after a second.
func (w *world) killed(redis *harness.RedisServer) fault {
	return fault{"Redis killed", func() {
		redis.Kill()
		w.sleep(w.t.Context(), 1000)
		redis.Start(w.t)
	}}
}

// paused is the fault of a Redis that stands still for five seconds.
func (w *world) paused(redis *harness.RedisServer) fault {
	return fault{"Redis paused", func() {
		_ = redis.Cmd.Process.Signal(syscall.SIGSTOP)
		w.sleep(w.t.Context(), 5000)
		_ = redis.Cmd.Process.Signal(syscall.SIGCONT)
	}}
}

// startOne starts one Redis with an append-only file that is synced before each response.
// Nodes connect to it through a proxy.
func startOne(w *world) store {
	redis := harness.StartRedis(w.t, scan.New(), nil)
	redis.Kill()
	redis.MoveClock(w.t, 0)
	redis.Start(w.t)
	way := harness.StartProxy(w.t, redis.Addr())
	return store{
		url: strings.Replace(redis.URL, redis.Addr(), way.Addr, 1),
		faults: []fault{
			w.killed(redis), w.paused(redis),
			{"Redis' clock moved", func() { redis.MoveClock(w.t, time.Duration(w.rand.IntN(7200)-3600)*time.Second) }},
			{"connections to Redis cut", way.Cut},
			{"Redis slow", func() { w.slow(way) }},
		},
	}
}

// startBad is startOne with a node that has a CLI which cannot run.
func startBad(w *world) store {
	bad := filepath.Join(w.t.TempDir(), "claude")
	must.OK(w.t, os.WriteFile(bad, []byte("#!/usr/bin/no-interpreter\n"), 0o700))
	w.env[0]["CLAUDE_BIN"] = bad
	return startOne(w)
}

// startKeys is startOne for two API keys.
func startKeys(w *world) store {
	w.setKeys()
	return startOne(w)
}

// setKeys makes the nodes ask for API keys.
func (w *world) setKeys() {
	w.key = "key-of-the-fault-suite"
	for _, env := range w.env {
		env["API_KEYS"], env["REPOSITORY_PATHS"] = w.key+",key-of-the-crowd", strings.Join(w.repos.bare, ",")
	}
}
