package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// These measure the figures of docs/scaling.md: the cost of a job, an event, a question and
// a WebSocket to Redis and the server.

// load is the work and the memory of a Redis, as reported by it.
type load struct {
	memory, in, out, scripts, commands float64
	cpu                                time.Duration
}

// loadOf returns the current load; cpu is that of the process, including all threads.
func loadOf(b *testing.B, r *harness.RedisServer, client *redis.Client) load {
	b.Helper()
	var all strings.Builder
	for _, section := range []string{"memory", "stats", "commandstats"} {
		text := must.Get(client.Info(b.Context(), section).Result())(b)
		all.WriteString("\n" + text)
	}
	number := func(name string) float64 {
		_, rest, _ := strings.Cut(all.String(), "\n"+name)
		digits := rest[:max(0, strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' }))]
		n, _ := strconv.ParseFloat(digits, 64)
		return n
	}
	return load{
		memory: number("used_memory:"), in: number("total_net_input_bytes:"), out: number("total_net_output_bytes:"),
		scripts:  number("cmdstat_evalsha:calls=") + number("cmdstat_eval:calls="),
		commands: number("total_commands_processed:"), cpu: cpuOf(b, r.Cmd.Process.Pid),
	}
}

// reportLoad reports the load since before, per unit of the given name.
func reportLoad(b *testing.B, r *harness.RedisServer, client *redis.Client, before load, count float64, name string) {
	b.Helper()
	after := loadOf(b, r, client)
	b.ReportMetric((after.memory-before.memory)/count, "redis-bytes/"+name)
	b.ReportMetric((after.in-before.in)/count, "to-redis-bytes/"+name)
	b.ReportMetric((after.out-before.out)/count, "from-redis-bytes/"+name)
	b.ReportMetric((after.scripts-before.scripts)/count, "scripts/"+name)
	b.ReportMetric((after.commands-before.commands)/count, "commands/"+name)
	b.ReportMetric(float64((after.cpu-before.cpu).Microseconds())/count, "redis-cpu-µs/"+name)
}

func clientOf(b *testing.B, r *harness.RedisServer) *redis.Client {
	b.Helper()
	client := r.Client()
	b.Cleanup(func() { client.Close() })
	return client
}

// BenchmarkFinishedJobs runs whole jobs of the simulated Claude (three reports, a result
// with seven recipes) to their end. Each user has a browser that listens.
func BenchmarkFinishedJobs(b *testing.B) {
	const jobs, users = 400, 20
	server := rig.StartRedis(b)
	client := clientOf(b, server)
	n := rig.Start(b, vars{"REDIS_URL": server.URL, "CLAUDE_BIN": "simulate", "WORKERS": "8", "LOG_LEVEL": "WARN"})
	for b.Loop() {
		var listening sync.WaitGroup
		for u := range users {
			events := n.Listen(b, fmt.Sprint("userId=u", u))
			listening.Go(func() {
				for range jobs / users {
					events.Until("recipes:suggestions:received")
				}
			})
		}
		before, worked := loadOf(b, server, client), cpuOf(b, n.Cmd.Process.Pid)
		for i := range jobs {
			n.Create(b, object{"userId": fmt.Sprint("u", i%users), "kind": "meal-suggestions", "input": object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-08"}})
		}
		listening.Wait()
		must.Eventually(b, "all turns to be booked", func() bool { return n.Metric(b, "ringback_running_turns") == 0 })
		reportLoad(b, server, client, before, jobs, "job")
		b.ReportMetric(float64((cpuOf(b, n.Cmd.Process.Pid)-worked).Microseconds())/jobs, "server-cpu-µs/job")
		events := 0
		for u := range users {
			for _, key := range client.Keys(b.Context(), fmt.Sprint("*:events:u", u)).Val() {
				events += int(client.XLen(b.Context(), key).Val())
			}
		}
		b.ReportMetric(float64(events)/jobs, "events/job")
	}
}

// BenchmarkEvents sends progress reports, each an event that is sent to one browser of the
// user.
func BenchmarkEvents(b *testing.B) {
	const events, users = 9000, 10
	server := rig.StartRedis(b)
	client := clientOf(b, server)
	n := rig.Start(b, vars{"REDIS_URL": server.URL, "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN"})
	for b.Loop() {
		web := poster()
		envelopes, listeners := make([]object, users), make([]*rig.Listener, users)
		for u := range users {
			_, envelopes[u] = n.Manual(b, object{"userId": fmt.Sprint("u", u)})
			listeners[u] = n.Listen(b, fmt.Sprint("userId=u", u))
		}
		before, worked := loadOf(b, server, client), cpuOf(b, n.Cmd.Process.Pid)
		var clients sync.WaitGroup
		for u := range users {
			clients.Go(func() {
				for i := range events / users {
					body, _ := json.Marshal(rig.With(envelopes[u], object{"message": fmt.Sprint("Reading page ", i, " of the history"), "progress": i % 100}))
					post(b, web, n.URL+"/api/claude/progress", body)
					listeners[u].Next()
				}
			})
		}
		clients.Wait()
		reportLoad(b, server, client, before, events, "event")
		b.ReportMetric(float64((cpuOf(b, n.Cmd.Process.Pid)-worked).Microseconds())/events, "server-cpu-µs/event")
	}
}

// BenchmarkIdleWebSockets connects browsers that receive nothing.
func BenchmarkIdleWebSockets(b *testing.B) {
	const sockets = 2000
	server := rig.StartRedis(b)
	client := clientOf(b, server)
	n := rig.Start(b, vars{"REDIS_URL": server.URL, "WEBSOCKETS": "4000", "WEBSOCKETS_PER_ADDRESS": "4000", "LOG_LEVEL": "WARN"})
	connections := func() float64 { return float64(len(strings.Split(client.ClientList(b.Context()).Val(), "\n"))) }
	for b.Loop() {
		n.Listen(b, "userId=first") // pools and caches fill once
		resident, connected := residentMB(b, n.Cmd.Process.Pid), connections()
		before := loadOf(b, server, client)
		for i := range sockets {
			n.Listen(b, fmt.Sprint("userId=u", i))
		}
		b.ReportMetric((residentMB(b, n.Cmd.Process.Pid)-resident)*1024/sockets, "server-KB/websocket")
		b.ReportMetric((connections()-connected)/sockets, "redis-connections/websocket")
		reportLoad(b, server, client, before, sockets, "websocket")
	}
}
