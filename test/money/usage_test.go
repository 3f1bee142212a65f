package money

import (
	"strings"
	"testing"

	"ringback/internal/store/storetest"
	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
)

// used returns the usage in a job's record.
func used(record object) messagesapi.Usage {
	usage, _ := record["usage"].(object)
	input, _ := usage["inputTokens"].(float64)
	output, _ := usage["outputTokens"].(float64)
	return messagesapi.Usage{Input: int64(input), Output: int64(output)}
}

// The usage of a sandboxed turn is what the model's API reported, to the token, even if the
// server was killed in the middle of a response.
func TestRealCLIHasUsedWhatTheAPISaid(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "shell.md", "---\nallowed_tools: [Bash]\n---\nDo it.")
	pause, prices := make(chan struct{}), rig.KindsDir(t, "prices.json", `{"date":"2026-11-23","webSearch":0,"fastFactor":1,"usFactor":1,"prices":[
		{"models":["claude-scripted"],"input":10,"output":100,"cacheWrite":10,"cacheWrite1h":10,"cacheRead":10}]}`)
	redis := rig.StartRedis(t)
	rig.SetTimeOfDay(t, redis, storetest.Noon)
	n, api := rig.RealClaude(t, vars{
		"REDIS_URL": redis.URL, "SANDBOX": "require", "PRICES_FILE": prices + "/prices.json", "DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "PROMPTS_DIR": prompts,
	}, func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		reply := messagesapi.Bash("echo begun")
		switch done := len(r.Results()); {
		case r.Turn == 2:
			reply.Pause = pause
		case done == 1:
			reply = messagesapi.Bash("echo '" + rig.JSON(rig.Callback(prompt, nil)) + "' > result.json")
		case done == 2:
			reply = messagesapi.Bash(rig.Curls(prompt)["result"])
		case done > 2:
			reply = messagesapi.Say("Submitted.")
		}
		reply.Usage = messagesapi.Usage{Input: 1000 + int64(r.Turn), Output: 10 * int64(r.Turn)}
		return reply
	})
	id := n.Create(t, object{"kind": "shell", "userId": "u1", "input": object{}})
	record := func() object { return n.Want(t, 200, "GET", "/api/jobs/"+id, nil) }
	must.Eventually(t, "the beginning of the second answer to be booked", func() bool { return len(api.Requests()) == 2 && used(record()) == api.Served() })
	n = n.Again(t)
	close(pause)
	n.Await(t, id, "received")
	must.Eventually(t, "the end of the turn", func() bool { return strings.Contains(n.Log.String(), "turn ended") })
	served := api.Served()
	if got := used(record()); got != served {
		t.Errorf("%+v was used, %+v was served", got, served)
	}
	cost, _ := record()["usage"].(object)["costUsd"].(float64)
	if want := float64(served.Input)*10/1e6 + float64(served.Output)*100/1e6; cost < want-1e-9 || cost > want+1e-9 {
		t.Errorf("the cost is %v, want %v", cost, want)
	}
	days, _ := n.Want(t, 200, "GET", "/api/stats", nil)["days"].([]any)
	if today, _ := days[len(days)-1].(object)["costUSD"].(object)["shell"].(float64); today != cost {
		t.Errorf("the day has cost %v, want %v", today, cost)
	}
}
