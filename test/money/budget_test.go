package money

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/store/storetest"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// dimes is a price table by which a request of these scripts costs 0.10 USD.
const dimes = `{"date":"2026-11-23","webSearch":0,"fastFactor":1,"usFactor":1,"prices":[
	{"models":["claude-scripted"],"input":100,"output":0.000001,"cacheWrite":100,"cacheWrite1h":100,"cacheRead":100}]}`

// spender is a script that never submits anything: it thinks twice, and ends its turn.
func spender(r messagesapi.Request) messagesapi.Reply {
	if r.Turn%3 != 0 {
		return messagesapi.Bash("echo thinking")
	}
	return messagesapi.Say("I have thought about it.")
}

// budgets starts a server with kinds of the given front matter.
func budgets(t *testing.T, kinds map[string]string, env vars, script messagesapi.Script) (*rig.Node, *messagesapi.Server) {
	t.Helper()
	all := vars{"SANDBOX": "require", "RETRY_BACKOFF": "50ms", "NODE_TIMEOUT": "1s", "REDIS_URL": rig.StartRedis(t).URL}
	files, schemas := []string{"prices.json", dimes}, []string{}
	for name, front := range kinds {
		files = append(files, name+".md", "---\nallowed_tools: [Bash]\n"+front+"\n---\nDo it.\n\nYour name: {{input.name}}")
		schemas = append(schemas, name+".result.json", `{"type":"object"}`)
	}
	all["PROMPTS_DIR"], all["SCHEMAS_DIR"] = rig.KindsDir(t, files...), rig.KindsDir(t, schemas...)
	all["PRICES_FILE"] = all["PROMPTS_DIR"] + "/prices.json"
	maps.Copy(all, env)
	return rig.RealClaude(t, all, script)
}

// A job's budget covers all its attempts and nodes: it is exceeded by one request at most,
// even if a node is killed, and the record contains the cost of everything that the API has
// served.
func TestRealCLIStopsAtTheJobsBudget(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	pause := make(chan struct{})
	n, api := budgets(t, map[string]string{"spend": "budget_usd: 0.75\non_budget: fail\nmax_attempts: 20"}, nil, func(r messagesapi.Request) messagesapi.Reply {
		reply := spender(r)
		if r.Turn == 5 {
			reply.Pause = pause
		}
		return reply
	})
	other := rig.Start(t, n.Elsewhere(t))
	id := other.Create(t, object{"kind": "spend", "userId": "u1", "input": object{}})
	must.Eventually(t, "the second attempt", func() bool {
		return len(api.Requests()) > 4 && used(n.Want(t, 200, "GET", "/api/jobs/"+id, nil)) == api.Served()
	})
	for _, n := range []*rig.Node{n, other} {
		n.Kill(t)
	}
	n = rig.StartIn(t, n.Cmd.Dir, n.Env)
	rig.StartIn(t, other.Cmd.Dir, other.Env)
	close(pause)
	record := n.Await(t, id, "failed")
	if record["errorCode"] != "budget_exceeded" || !strings.Contains(fmt.Sprint(record["error"]), "The budget of this job is used up: 0.80 USD of 0.75 USD.") || record["budgetUsd"] != 0.75 {
		t.Errorf("the job ended as %v", record)
	}
	must.Eventually(t, "all that was served to be booked", func() bool {
		return used(n.Want(t, 200, "GET", "/api/jobs/"+id, nil)) == api.Served()
	})
	must.Equal(t, 8000, api.Served().Input, "tokens were served for 7,500")
}

// A budget of a dollar covers up to three attempts in each of up to six rounds, on two nodes that are
// killed at random moments: it is exceeded by one request at most, and no cent of what the API has
// served is missing in the record.
func TestRealCLIsBudgetHoldsOverAttemptsAndRounds(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	const budget = 1.0
	usdPerMillion, kills := 12, 2 // used up in the third round
	if os.Getenv("LONG_TESTS") != "" {
		usdPerMillion, kills = 5, 12 // in the fifth or sixth
	}
	prices := rig.KindsDir(t, "prices.json", strings.ReplaceAll(dimes, "100", strconv.Itoa(usdPerMillion)))
	var mu sync.Mutex
	var served []float64
	n, api := budgets(t, map[string]string{"round": "workspace: {}\nreview: true\nmax_steering_iterations: 5\nbudget_usd: 1\non_budget: fail\nmax_attempts: 3\nmax_blocks: 0"}, vars{"PRICES_FILE": prices + "/prices.json"}, func(r messagesapi.Request) messagesapi.Reply {
		reply := secondTime(r)
		reply.Usage.Input = int64(r.Size / 4) // a request without a response counts one token per byte
		mu.Lock()
		defer mu.Unlock()
		served = append(served, float64(int(reply.Usage.Input)*usdPerMillion)/1e6)
		return reply
	})
	nodes := []*rig.Node{n, rig.Start(t, n.Elsewhere(t))}
	id := n.Create(t, object{"kind": "round", "userId": "u1", "input": object{"name": "r", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	var record object
	rounds, killed, before := 1, 0, 1+rand.IntN(3)
	must.Eventually(t, "the budget to be used up", func() bool {
		record = nodes[0].Want(t, 200, "GET", "/api/jobs/"+id, nil)
		if record["status"] == "awaiting_approval" {
			if status, _ := nodes[0].Do(t, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "Once more"}); status == http.StatusOK {
				rounds++
			}
		}
		if now := len(api.Requests()); now >= before && killed < kills {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // kill at a random moment
			nodes[killed%2] = nodes[killed%2].Again(t)
			killed, before = killed+1, now+2+rand.IntN(3)
		}
		return record["status"] == "failed"
	})
	mu.Lock()
	defer mu.Unlock()
	var all, most float64
	for _, usd := range served {
		all, most = all+usd, max(most, usd)
	}
	if last := served[len(served)-1]; all-last >= budget || record["errorCode"] != "budget_exceeded" && record["attempt"] != 3.0 {
		t.Errorf("after %d rounds, %v USD were served before the last request, and the job ended as %v", rounds, all-last, record)
	}
	must.Eventually(t, "the record to have the cost of all requests", func() bool {
		usage, _ := nodes[0].Want(t, 200, "GET", "/api/jobs/"+id, nil)["usage"].(object)
		cost, _ := usage["costUsd"].(float64)
		if most := budget + 4*most; cost > most { // the last may be counted as if it had no response
			t.Errorf("the record has %v USD, more than %v", cost, most)
		}
		return cost >= all-0.0001
	})
	t.Logf("%d rounds, %d requests, %v USD served, after %d kills", rounds, len(served), all, killed)
}

// secondTime is a script that ends an attempt without a result and submits a change in the next.
func secondTime(r messagesapi.Request) messagesapi.Reply {
	prompt := r.Text()
	turn, steps := 0, 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Type == "text" && m.Role == "user" && strings.Contains(p.Text, "- REQUEST_ID:") {
				turn, steps = turn+1, 0
			} else if p.Type == "tool_result" {
				steps++
			}
		}
	}
	switch {
	case turn%2 != 0:
		return messagesapi.Say("I have thought about it.")
	case steps == 0:
		result := rig.JSON(rig.Callback(prompt, nil))
		return messagesapi.Bash(fmt.Sprintf("echo '// %d' > service/x%d.go; echo '%s' > result.json", turn, turn, result))
	case steps == 1:
		return messagesapi.Bash(rig.Curls(prompt)["result"])
	}
	return messagesapi.Say("Submitted.")
}

// At its budget, a job asks a person. After a yes it continues the same conversation,
// without using an attempt, and asks again later; a no ends it.
func TestRealCLIAsksForMoreBudget(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	n, api := budgets(t, map[string]string{"spend": "budget_usd: 0.35"}, nil, func(r messagesapi.Request) messagesapi.Reply {
		return messagesapi.Bash("echo thinking")
	})
	id := n.Create(t, object{"kind": "spend", "userId": "u1", "input": object{}, "options": object{"budgetUsd": 0.15}})
	for i, c := range []struct{ asked, decision string }{
		{"0.20 USD used, continue with 0.15 USD more?", "approve"}, {"0.30 USD used, continue with 0.15 USD more?", "deny"},
	} {
		record := n.Await(t, id, "awaiting_approval")
		question, _ := record["checkpoint"].(object)
		if question["message"] != c.asked || question["type"] != "confirmation" || record["attempt"] != nil {
			t.Errorf("the job asks %v", record)
		}
		must.Equal(t, int64(2000+1000*i), api.Served().Input, "tokens were served")
		n.Want(t, 200, "POST", fmt.Sprintf("/api/checkpoints/%v/reply", question["id"]), object{"decision": c.decision})
	}
	record := n.Await(t, id, "failed")
	if record["errorCode"] != "budget_exceeded" || record["turn"] != 2.0 || record["budgetUsd"] != 0.3 {
		t.Errorf("the job ended as %v", record)
	}
	conversations := map[string]bool{}
	for _, r := range api.Requests() {
		conversations[r.Conversation] = true
	}
	must.Equal(t, 1, len(conversations), "there were the conversations", conversations)
}

// At a daily budget, jobs wait until the next day without using an attempt or sending a
// request, or are rejected if their kind says so. Then they go on.
func TestRealCLIWaitsAtTheBudgetOfTheDay(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	redis := rig.StartRedis(t)
	nextDay := rig.SetTimeOfDay(t, redis, storetest.Noon).AddDate(0, 0, 1)
	n, api := budgets(t, map[string]string{"spend": "max_blocks: 0", "urgent": "on_budget: fail"}, vars{"REDIS_URL": redis.URL, "BUDGET_USD_PER_DAY": "0.35", "BUDGET_USD_PER_USER_PER_DAY": "0.50"}, spender)
	first := n.Create(t, object{"kind": "spend", "userId": "u1", "input": object{}})
	events := n.Listen(t, "userId=u2")
	check := func(id string) {
		t.Helper()
		record := awaitLimit(t, n, id)
		failure, _ := record["lastFailure"].(object)
		if failure["errorCode"] != "budget_exceeded" || !strings.Contains(fmt.Sprint(failure["error"]), "The budget of the server for today (UTC) is used up: 0.40 USD of 0.35 USD.") {
			t.Errorf("the job waits with %v", record)
		}
		until, err := time.Parse(time.RFC3339, fmt.Sprint(record["phaseUntil"]))
		if err != nil || !until.Equal(nextDay) {
			t.Errorf("it waits until %v", record["phaseUntil"])
		}
	}
	check(first)
	if record := n.Want(t, 200, "GET", "/api/jobs/"+first, nil); record["attempt"] != 1.0 { // the turn before ended without a result
		t.Errorf("it cost an attempt: %v", record)
	}
	requests := len(api.Requests())
	check(n.Create(t, object{"kind": "spend", "userId": "u2", "input": object{}}))
	must.Contain(t, fmt.Sprint(events.Until("spend:pending"), events.Until("spend:pending")), "budget_exceeded", "the user was told")
	must.Equal(t, requests, len(api.Requests()), "another request was made")
	refused := n.Want(t, 429, "POST", "/api/jobs", object{"kind": "urgent", "userId": "u3", "input": object{}})
	if !strings.Contains(rig.JSON(refused), "0.40 USD of 0.35 USD") || !strings.Contains(rig.JSON(refused), "00:00 UTC") {
		t.Errorf("it was refused with %v", refused)
	}
	for query, of := range map[string]string{
		"": `{"budgetUsd":0.5,"of":"user","spentUsd":0.4,"userId":"u1"}`, "?userId=u1": `{"budgetUsd":0.5,"of":"user","spentUsd":0.4,"userId":"u1"}`,
		"?userId=u2": `{"budgetUsd":0.5,"of":"user","spentUsd":0,"userId":"u2"}`,
	} {
		must.Contain(t, rig.JSON(n.Want(t, 200, "GET", "/api/stats"+query, nil)), `"budgets":[{"budgetUsd":0.35,"of":"server","spentUsd":0.4},`+of+"]", "the statistics", query)
	}
	if said := rig.CommandLine(t, n)("stats"); !strings.Contains(said, "all jobs") || !strings.Contains(said, "$0.40") || !strings.Contains(said, "of $0.35 a day") || !strings.Contains(said, "used up until 00:00 UTC") ||
		!regexp.MustCompile(`user u1\s+\$0\.40\s+of \$0\.50 a day`).MatchString(said) {
		t.Errorf("ringback stats says %s", said)
	}
	if said := rig.CommandLine(t, n)("stats", "--user", "u2"); !regexp.MustCompile(`user u2\s+\$0\.00\s+of \$0\.50 a day`).MatchString(said) {
		t.Errorf("ringback stats --user u2 says %s", said)
	}
	page := n.Respond(t, "GET", "/", nil, "Accept", "text/html").Text
	must.Contain(t, page, "$0.40 of $0.35: used up", "the console")
	must.Contain(t, page, "user u1</dt><dd>$0.40 of $0.50<", "the console")
	n.Kill(t)
	rig.SetTimeOfDay(t, redis, 24*time.Hour)
	rig.StartIn(t, n.Cmd.Dir, n.Env)
	must.Eventually(t, "a request on the next day", func() bool { return len(api.Requests()) > requests })
}
