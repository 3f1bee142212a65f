package bench

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"ringback/internal/store"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkParkedJobs parks jobs at a question, each of a different user, and reports what
// one costs while it waits.
func BenchmarkParkedJobs(b *testing.B) {
	redis := rig.StartRedis(b)
	n := rig.Start(b, vars{"REDIS_URL": redis.URL, "HOLD": "0s", "WORKERS": "16"})
	client := must.Get(store.Connect(redis.URL))(b)
	defer client.Close()
	used := func() float64 {
		info := must.Get(client.Info(b.Context(), "memory").Result())(b)
		_, rest, _ := strings.Cut(info, "used_memory:")
		line, _, _ := strings.Cut(rest, "\r")
		return must.Get(strconv.ParseFloat(line, 64))(b)
	}
	const jobs = 10_000
	for b.Loop() {
		before := used()
		var clients sync.WaitGroup
		for c := range 8 {
			clients.Go(func() {
				for i := c; i < jobs; i += 8 {
					_, envelope := n.Manual(b, object{"userId": "user-" + strconv.Itoa(i)})
					n.Want(b, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, rig.RatioQuestion()))
				}
			})
		}
		clients.Wait()
		b.ReportMetric((used()-before)/jobs, "redis-bytes/job")
	}
	b.ReportMetric(float64(len(rig.ProcessesIn(n.Dir))), "processes")
	b.ReportMetric(residentMB(b, n.Cmd.Process.Pid), "server-MB")
}

// residentMB returns the resident memory of a process.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	return float64(harness.Memory(b, pid, "VmRSS")) / (1 << 20)
}
