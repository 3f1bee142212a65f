package people

import (
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// builder is a model that runs a long command. When the command was interrupted, it
// submits, unless it is stubborn: then it runs another one until its turn is interrupted.
// turns is set to the number of requests.
func builder(turns *atomic.Int32, stubborn bool) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		turns.Store(int32(r.Turn))
		prompt, last := r.Text(), r.LastResult().Content
		stopped := strings.Contains(prompt, "has stopped your last turn") || !stubborn && len(r.Results()) > 0
		switch {
		case !stopped:
			return messagesapi.Bash("echo building; sleep 1000; echo built")
		case strings.Contains(last, `"success"`):
			return messagesapi.Say("Submitted.")
		case strings.Contains(last, "result.json"):
			return messagesapi.Bash(rig.Curls(prompt)["result"])
		}
		return rig.WriteFile("result.json", rig.Callback(prompt, object{"summary": "Done."}))
	}
}

// builds creates a kind that may run commands, and starts a real CLI for it.
func builds(t *testing.T, env vars, script messagesapi.Script) (*rig.Node, *messagesapi.Server) {
	t.Helper()
	all := rig.OwnKind(t, "build", "---\nallowed_tools: [Bash]\ntimeout: 30m\nmax_turns: 50\n---\nBuild it.", `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`)
	maps.Copy(all, env)
	return rig.RealClaude(t, all, script)
}

// running waits until one of Claude's commands runs for a job.
func running(t *testing.T, n *rig.Node, id string, after int32, turns *atomic.Int32) {
	t.Helper()
	must.Eventually(t, "Claude to run a command", func() bool {
		record := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
		return turns.Load() > after && record["phase"] == "claude" && sleeps(n.Dir)
	})
}

// A person interrupts a command: Claude sees it fail, and continues in the same turn.
func TestACommandIsInterruptedAndItsTurnGoesOn(t *testing.T) {
	t.Parallel()
	for name, env := range sample.Cases(t, 1, map[string]vars{"in a sandbox": {"SANDBOX": "auto"}, "without": {}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns atomic.Int32
			n, api := builds(t, env, builder(&turns, false))
			id := n.Create(t, object{"userId": "u1", "kind": "build", "input": object{}})
			running(t, n, id, 0, &turns)
			record := n.Want(t, 200, "POST", "/api/jobs/"+id+"/interrupt", object{"message": "Not all of it."})
			if i, _ := record["interrupt"].(object); i["scope"] != "command" || i["turn"] != 1.0 {
				t.Errorf("the record says %v", record["interrupt"])
			}
			record = n.Await(t, id, "received")
			if record["turn"] != 1.0 || record["attempt"] != nil || record["lastFailure"] != nil {
				t.Errorf("it took %v turns, attempt %v, %v", record["turn"], record["attempt"], record["lastFailure"])
			}
			if first := api.Requests()[len(api.Requests())-1].Results()[0]; !first.IsError || strings.Contains(first.Content, "built") {
				t.Errorf("Claude was told %+v", first)
			}
			if said := n.Want(t, 200, "GET", "/api/sessions/"+record["sessionId"].(string)+"/messages?userId=u1", nil)["messages"].([]any); !strings.Contains(rig.JSON(said), "Not all of it.") {
				t.Errorf("the chat has %v", said)
			}
			n.Want(t, 409, "POST", "/api/jobs/"+id+"/interrupt", nil)
		})
	}
}

// A person interrupts a whole turn, immediately or by asking twice, even if the server
// restarts: the next turn continues the conversation with the message, and no attempt is
// lost.
func TestATurnIsInterruptedAndTheJobGoesOn(t *testing.T) {
	t.Parallel()
	tenTimes := func(t *testing.T, n *rig.Node, path string, again func()) *rig.Node {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if status, answer := n.Do(t, "POST", path, object{"message": "Just write the summary."}); status != 200 && status != 409 {
					t.Errorf("it was answered with %d: %v", status, answer)
				}
			})
		}
		all.Wait()
		return n
	}
	for name, interrupt := range sample.Cases(t, 1, map[string]func(t *testing.T, n *rig.Node, path string, again func()) *rig.Node{
		"asked for": func(t *testing.T, n *rig.Node, path string, again func()) *rig.Node {
			n.Want(t, 200, "POST", path, object{"turn": true, "message": "Just write the summary."})
			return n
		},
		"asked twice": func(t *testing.T, n *rig.Node, path string, again func()) *rig.Node {
			n.Want(t, 200, "POST", path, nil)
			again()
			n.Want(t, 200, "POST", path, object{"message": "Just write the summary."})
			return n
		},
		"asked ten times at once":               tenTimes,
		"asked ten times at once, in a sandbox": tenTimes,
		"while its server dies": func(t *testing.T, n *rig.Node, path string, again func()) *rig.Node {
			api := rig.Start(t, vars{"REDIS_URL": n.Env["REDIS_URL"], "PROMPTS_DIR": n.Env["PROMPTS_DIR"], "SCHEMAS_DIR": n.Env["SCHEMAS_DIR"]}, "--role", "api")
			n.Stop(t, syscall.SIGKILL)
			api.Want(t, 200, "POST", path, object{"turn": true, "message": "Just write the summary."})
			return rig.Start(t, n.Env)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns atomic.Int32
			env := vars{"DATA_DIR": t.TempDir()}
			if strings.HasSuffix(name, "in a sandbox") {
				env["SANDBOX"] = "auto"
			}
			n, api := builds(t, env, builder(&turns, true))
			id := n.Create(t, object{"userId": "u1", "kind": "build", "input": object{}})
			running(t, n, id, 0, &turns)
			n = interrupt(t, n, "/api/jobs/"+id+"/interrupt", func() { running(t, n, id, 1, &turns) })
			record := n.Await(t, id, "received")
			if record["turn"] != 2.0 || record["attempt"] != nil || record["lastFailure"] != nil {
				t.Errorf("it took %v turns, attempt %v, %v", record["turn"], record["attempt"], record["lastFailure"])
			}
			requests := api.Requests()
			last := requests[len(requests)-1]
			must.Equal(t, requests[0].Conversation, last.Conversation, "another conversation was begun")
			words := record["words"].([]any)
			if told := strings.Count(rig.WholeText(last), "Just write the summary."); told != len(words) || strings.Contains(rig.JSON(words), `"waiting"`) {
				t.Errorf("Claude was told %d times, and the record says %v", told, words)
			}
		})
	}
}

// sleeps reports whether one of Claude's commands runs under a node's directory.
func sleeps(dir string) bool {
	for _, pid := range rig.ProcessesIn(dir) {
		if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil && strings.TrimSpace(string(text)) == "sleep" {
			return true
		}
	}
	return false
}
