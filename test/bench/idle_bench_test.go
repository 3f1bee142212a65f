package bench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkIdleNodes counts the commands of Redis, also those in scripts, and the processor time
// of a node, per second, over 30 s, while nothing happens. Connections that are kept open cost
// nothing.
func BenchmarkIdleNodes(b *testing.B) {
	for _, nodes := range []int{1, 10, 50} {
		b.Run(strconv.Itoa(nodes), func(b *testing.B) {
			r := rig.StartRedis(b)
			options := must.Get(redis.ParseURL(r.URL))(b)
			client := redis.NewClient(options)
			defer client.Close()
			var idle *rig.Node
			for range nodes {
				idle = rig.Start(b, vars{"REDIS_URL": r.URL})
			}
			for b.Loop() {
				time.Sleep(10 * time.Second) // wait for the effects of starting to end
				before, used := calls(b, client), cpuOf(b, idle.Cmd.Process.Pid)
				time.Sleep(30 * time.Second)
				after := calls(b, client)
				used = cpuOf(b, idle.Cmd.Process.Pid) - used
				total := 0
				for name, n := range after {
					if n -= before[name]; n > 0 && name != "info" {
						total += n
						b.Logf("%s: %.1f/s", name, float64(n)/30)
					}
				}
				b.ReportMetric(float64(total)/30, "calls/s")
				b.ReportMetric(used.Seconds()*1000/30, "server-cpu-ms/s")
			}
		})
	}
}

// calls returns how often each command was called.
func calls(b *testing.B, client *redis.Client) map[string]int {
	b.Helper()
	text := must.Get(client.Info(b.Context(), "commandstats").Result())(b)
	found := map[string]int{}
	for line := range strings.Lines(text) {
		var n int
		name, rest, _ := strings.Cut(line, ":calls=")
		if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
			found[strings.TrimPrefix(name, "cmdstat_")] = n
		}
	}
	return found
}
