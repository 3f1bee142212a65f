package jobs

import (
	"os/exec"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// simulatedEverywhere checks whether a job's record, events and chat events are marked as
// simulated.
func simulatedEverywhere(t *testing.T, n *rig.Node, id string, want bool) {
	t.Helper()
	record := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
	if got, _ := record["simulated"].(bool); got != want {
		t.Errorf("the record says simulated: %v, want %v", record["simulated"], want)
	}
	for _, e := range n.Want(t, 200, "GET", "/api/jobs/"+id+"/events", nil)["events"].([]any) {
		event := e.(object)
		if event["event"] == "recipes:suggestions:pending" || want && strings.HasSuffix(event["event"].(string), ":message") {
			continue // may be sent before a node without a CLI has taken the job
		}
		if got, _ := event["simulated"].(bool); got != want {
			t.Errorf("%v says simulated: %v, want %v", event["event"], event["simulated"], want)
		}
	}
	if got := n.Want(t, 200, "GET", "/hitl/runs/"+id, nil)["simulated"]; (got == true) != want {
		t.Errorf("the run says simulated: %v, want %v", got, want)
	}
}

// calls back like a real CLI, with the settings in its prompt.
const realCLI = `prompt=$(cat)
id=$(grep -o 'req_[0-9a-z_]*' <<<"$prompt" | head -1)
hmac=$(grep -oE '\b[0-9a-f]{64}\b' <<<"$prompt" | head -1)
url=$(grep -oE 'http://[^/ ]*/api/claude/' <<<"$prompt" | head -1)
curl -s "${url}progress" -H 'Content-Type: application/json' -d '{"requestId":"'$id'","hmac":"'$hmac'","message":"real"}'
curl -s "${url}suggestions" -H 'Content-Type: application/json' -d '{"requestId":"'$id'","hmac":"'$hmac'","reasoning":"Because.","suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup","source":"Own recipe"}}]}'
`

func TestMadeUpResultsSaySo(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		without := rig.Start(t, env)
		id := without.Create(t, object{"userId": "u1"})
		without.Await(t, id, "received")
		simulatedEverywhere(t, without, id, true)

		real := rig.Start(t, vars{"CLAUDE_BIN": rig.Script(t, realCLI)})
		id = real.Create(t, object{"userId": "u1"})
		real.Await(t, id, "received")
		simulatedEverywhere(t, real, id, false)
		id = real.Create(t, object{"userId": "u1", "options": object{"simulate": "success"}})
		real.Await(t, id, "received")
		simulatedEverywhere(t, real, id, true)
		id, envelope := real.Manual(t, object{"userId": "u1"})
		real.Want(t, 200, "POST", "/progress", object{"requestId": id, "message": "by hand"})
		real.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
		simulatedEverywhere(t, real, id, true)
	})
}

// A progress report sent before the job is taken must not hide that it is simulated.
func TestProgressBeforeTheTurnDoesNotHideTheSimulation(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t).URL
	front := rig.Start(t, vars{"REDIS_URL": redis}, "--role", "api")
	id := front.Create(t, object{"userId": "u1"})
	front.Want(t, 200, "POST", "/progress", object{"requestId": id, "message": "too early"})
	rig.Start(t, vars{"REDIS_URL": redis, "RINGBACK_SIMULATE_PACE": "200ms"}, "--role", "worker")
	front.Await(t, id, "running")
	front.Want(t, 200, "POST", "/progress", object{"requestId": id, "message": "meanwhile"})
	events := front.StoredEvents(t, id, "")
	last := events[len(events)-1]
	for _, e := range events {
		if data := e["data"].(object); data["message"] == "meanwhile" {
			last = e
		}
	}
	must.Equal(t, true, last["simulated"], "the event of a simulated job is", last)
	front.Await(t, id, "received")
}

func TestTheCommandLineSaysSimulated(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	for _, args := range [][]string{
		{"run", "meal-suggestions", "--field", "dateRangeStart=2026-03-02", "--field", "dateRangeEnd=2026-03-02"},
		{"status"},
		{"status", "--output", "json"},
		{"list", "--output", "json"},
	} {
		cmd := exec.Command(harness.Binary(), args...)
		cmd.Env = []string{"RINGBACK_URL=" + n.URL, "HOME=" + n.Dir, "XDG_CONFIG_HOME=" + n.Dir}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(strings.ReplaceAll(string(out), `"`, ""), "simulated: true") {
			t.Errorf("ringback %v: %v:\n%s", args, err, out)
		}
	}
}

func TestSecuredServersDoNotMakeUpResultsUnbidden(t *testing.T) {
	t.Parallel()
	for name, secured := range map[string]vars{"API keys": {"API_KEYS": "a-key-of-the-back-end"}, "tokens": {"JWT_SECRET": rig.TokenSecret}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{"serve"}, {"serve", "--role", "worker"}, {"check"}} {
				cmd := exec.Command(harness.Binary(), args...)
				cmd.Dir = t.TempDir()
				cmd.Env = []string{"PATH=" + rig.PathWithout(t, "claude"), "LISTEN_ADDR=127.0.0.1:0"}
				for k, v := range secured {
					cmd.Env = append(cmd.Env, k+"="+v)
				}
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "CLAUDE_BIN=simulate") {
					t.Errorf("ringback %v ended with %v:\n%s", args, err, out)
				}
			}
			secured["CLAUDE_BIN"] = "simulate"
			n := rig.Start(t, secured)
			must.Eventually(t, "a server that was told to simulate to say that results are made up", func() bool { return strings.Contains(n.Log.String(), "made up") })
			secured["CLAUDE_BIN"] = "no-claude-here"
			must.NotContain(t, rig.Start(t, secured, "--role", "api").Log.String(), "made up", "a node that runs no turns says that results are made up")
		})
	}
}
