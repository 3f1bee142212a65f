package jobs

import (
	"strings"
	"sync"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// hasty is a Claude that stops too early a number of times, and then submits.
func hasty(early int, mcp bool) messagesapi.Script {
	var mu sync.Mutex
	stopped := map[string]int{}
	submit := rig.Finish(func(messagesapi.Request) bool { return true }, mcp, "")
	return func(r messagesapi.Request) messagesapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		if stopped[r.Conversation] < early {
			stopped[r.Conversation]++
			return messagesapi.Say("I think I am done.")
		}
		return submit(r)
	}
}

// A turn that would end without a result is told in the same process what is missing, at
// most as often as the kind allows.
func TestATurnDoesNotEndEarly(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct {
		more  string
		early int
		mcp   bool
		turns float64
		told  int
	}{
		"curl":         {"", 1, false, 1, 1},
		"MCP":          {"callback: mcp\n", 3, true, 1, 3},
		"once only":    {"max_blocks: 1\n", 2, false, 2, 1},
		"switched off": {"max_blocks: 0\n", 1, false, 2, 0},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.TalkKind(t, c.more), "SANDBOX": "auto"}, hasty(c.early, c.mcp))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			must.Equal[any](t, c.turns, n.Await(t, id, "received")["turn"], "it took … turns, want")
			last := rig.WholeText(api.Requests()[len(api.Requests())-1])
			must.Equal(t, c.told, strings.Count(last, "You are about to stop, but no result of yours was accepted."), "Claude was told … times")
		})
	}
}

// A Claude that always stops early is told what is missing as often as the kind says in each turn, and
// then the job fails.
func TestAlwaysStoppingEarlyEnds(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.KindsDir(t, "talk.md", "---\ncallback: mcp\nmax_blocks: 2\nmax_attempts: 2\n---\nListen."), "SANDBOX": "auto"}, hasty(1000, true))
	record := n.Await(t, n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"}), "failed")
	if requests := len(api.Requests()); record["turn"] != 2.0 || record["errorCode"] != "exited_without_callback" || requests != 2*(1+2) {
		t.Errorf("it failed with %v after %v turns and %d requests", record["errorCode"], record["turn"], requests)
	}
}

// A job whose person is asked may stop, and so may one that says that it cannot do its work.
func TestATurnMayEndThatHasAsked(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, call := range map[string]messagesapi.Reply{
		"awaiting_input": rig.UseTool("ask_user", object{"type": "information_request", "message": "For how many?"}),
		"failed":         rig.UseTool("report_failure", object{"error": "No recipe", "retryable": false}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.TalkKind(t, "callback: mcp\n"), "SANDBOX": "auto", "HOLD": "0s"}, messagesapi.Steps(call, messagesapi.Say("I stop here.")))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			n.Await(t, id, name)
			must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			for _, r := range api.Requests() {
				must.NotContain(t, rig.WholeText(r), "You are about to stop", "Claude was kept from stopping")
			}
		})
	}
}

// Running background tasks are named.
func TestATurnIsToldOfItsBackgroundTasks(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	submit := rig.Finish(func(messagesapi.Request) bool { return true }, true, "")
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.TalkKind(t, "callback: mcp\n"), "SANDBOX": "auto"}, func(r messagesapi.Request) messagesapi.Reply {
		switch {
		case len(r.Results()) == 0:
			background := messagesapi.Bash("sleep 1000")
			background.Tools[0].Input["run_in_background"] = true
			return background
		case !strings.Contains(rig.WholeText(r), "You are about to stop"):
			return messagesapi.Say("I wait.")
		}
		return submit(r)
	})
	id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
	n.Await(t, id, "received")
	if text := rig.WholeText(api.Requests()[len(api.Requests())-1]); !strings.Contains(text, "sleep 1000") || !strings.Contains(text, "background tasks of yours still run") {
		t.Errorf("Claude was not told of it: %.3000s", text[strings.Index(text, "You are about"):])
	}
}
