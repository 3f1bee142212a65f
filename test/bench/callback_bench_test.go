package bench

import (
	"encoding/json"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkWaysToCallBack runs jobs on the real CLI, with a scripted model that reports
// progress and submits a result of five suggestions, in some cases an invalid one first. It
// reports what each way of calling back costs the model: the number of requests, what it
// reads (in bytes of the first request, and of all together) and what it writes.
func BenchmarkWaysToCallBack(b *testing.B) {
	right := rig.MealResult("Soup", "Curry", "Stew", "Salad", "Pie")
	wrong := rig.MealResult("Soup", "Curry", "Stew", "Salad", "Pie")
	wrong["suggestions"].([]any)[0].(object)["mealType"] = "brunch"
	progress := object{"message": "Reading the history", "progress": 20, "type": "thinking"}
	for name, results := range map[string][]object{"right": {right}, "wrong first": {wrong, right}} {
		b.Run("curl, "+name, func(b *testing.B) { measureCallbacks(b, nil, postsOf(progress, results)) })
		b.Run("MCP, "+name, func(b *testing.B) {
			steps := []messagesapi.Reply{rig.UseTool("report_progress", progress)}
			for _, result := range results {
				steps = append(steps, rig.UseTool("submit_result", result))
			}
			measureCallbacks(b, vars{"PROMPTS_DIR": rig.OverMCP(b, "meal-suggestions")}, func(r messagesapi.Request) messagesapi.Reply {
				return rig.InOrder(len(r.Results()), steps...)
			})
		})
	}
}

// postsOf returns the script that posts these with curl.
func postsOf(progress object, results []object) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		steps := rig.Posts(prompt, "progress.json", progress)
		for _, result := range results {
			steps = append(steps, rig.Posts(prompt, "result.json", result)...)
		}
		return rig.InOrder(len(r.Results()), steps...)
	}
}

func measureCallbacks(b *testing.B, env vars, script messagesapi.Script) {
	b.Helper()
	bin := messagesapi.FindCLI(b)
	var written atomic.Int64
	api := messagesapi.Start(b, func(r messagesapi.Request) messagesapi.Reply {
		reply := script(r)
		for _, tool := range reply.Tools {
			text, _ := json.Marshal(tool.Input)
			written.Add(int64(len(text)))
		}
		return reply
	})
	all := vars{"CLAUDE_BIN": bin, "REDIS_URL": rig.StartRedis(b).URL}
	for _, entry := range api.Env(b) {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	maps.Copy(all, env)
	n := rig.Start(b, all)
	b.ResetTimer()
	for range b.N {
		n.Await(b, n.Create(b, object{"userId": "u1"}), "received")
	}
	b.StopTimer()
	jobs := float64(b.N)
	must.Eventually(b, "the model to be asked for the last time", func() bool { return n.Metric(b, "ringback_running_turns") == 0 })
	var first, read int
	for _, r := range api.Requests() {
		read += r.Size
		if len(r.Results()) == 0 {
			first += r.Size
		}
	}
	b.ReportMetric(float64(len(api.Requests()))/jobs, "rounds/job")
	b.ReportMetric(float64(first)/jobs, "first-request-B")
	b.ReportMetric(float64(read)/jobs, "read-B/job")
	b.ReportMetric(float64(written.Load())/jobs, "written-B/job")
}
