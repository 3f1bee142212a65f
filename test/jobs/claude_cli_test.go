package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

func TestRealCLIReportsRepairsAndSubmits(t *testing.T) {
	t.Parallel()
	wrong := rig.MealResult("Soup")
	wrong["suggestions"].([]any)[0].(object)["mealType"] = "brunch"
	script := func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		return rig.InOrder(len(r.Results()), slices.Concat(
			rig.Posts(prompt, "progress.json", object{"message": "Reading the history", "progress": 20, "type": "thinking"}),
			rig.Posts(prompt, "result.json", wrong), rig.Posts(prompt, "result.json", rig.MealResult("Soup")),
		)...)
	}
	n, api := rig.RealClaude(t, nil, script)
	events := n.Listen(t, "userId=u1")
	id := n.Create(t, object{"userId": "u1"})
	record := n.Await(t, id, "received")

	results := api.Requests()[len(api.Requests())-1].Results()
	for i, r := range results {
		if r.IsError {
			t.Errorf("tool call %d was refused: %s", i+1, r.Content)
		}
	}
	if len(results) > 3 && !strings.Contains(results[3].Content, `found the string \"brunch\"; allowed: \"breakfast\"`) {
		t.Errorf("Claude was not told what is wrong: %s", results[3].Content)
	}
	want := []string{"recipes:suggestions:pending", "recipes:suggestions:running", "recipes:suggestions:activity", "recipes:suggestions:received"}
	must.Equal(t, want, rig.EventNames(events.Until("recipes:suggestions:received")))
	must.Equal(t, "Because.", record["result"].(object)["reasoning"], "reasoning is")
	must.Eventually(t, "the usage to be booked", func() bool {
		usage := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["usage"].(object)
		return usage["inputTokens"].(float64) > 0 && usage["outputTokens"].(float64) > 0
	})
}

// Claude may send its file to its callback, and nothing else anywhere.
func TestRealCLIMayRunNoOtherCommand(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	attacks := func(curl string) []messagesapi.Reply {
		return []messagesapi.Reply{
			messagesapi.Bash("bash -c id"),
			messagesapi.Bash("curl -sS -X POST http://127.0.0.1:9/elsewhere"),
			messagesapi.Bash(curl + " http://127.0.0.1:9/elsewhere"),
			messagesapi.Bash(strings.Replace(curl, "/api/claude/result", "/api/claude/result/../../jobs", 1)),
			messagesapi.Bash(strings.Replace(curl, "@result.json", "@/etc/hostname", 1)),
			messagesapi.Bash(curl + " -o " + outside),
			messagesapi.Bash(curl + ` -d "$(id)"`),
			messagesapi.Bash(curl + " && touch " + outside),
			messagesapi.Bash(curl + " | sh"),
			messagesapi.Use("Write", object{"file_path": outside, "content": "x"}),
			messagesapi.Use("Read", object{"file_path": "/etc/hostname"}),
			messagesapi.Use("WebFetch", object{"url": "http://127.0.0.1:9/", "prompt": "read"}),
		}
	}
	n, api := rig.RealClaude(t, nil, func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		result := object{"url": "media/image.svg", "aspect_ratio": "1:1", "message": "Here."}
		return rig.InOrder(len(r.Results()), append(attacks(rig.Curls(prompt)["result"]), rig.Posts(prompt, "result.json", result)...)...)
	})
	n.Await(t, n.Create(t, object{"kind": "media", "userId": "u1", "input": object{"prompt": "a lake"}}), "received")
	results := api.Requests()[len(api.Requests())-1].Results()
	for i, attack := range attacks("curl …") {
		if !results[i].IsError {
			t.Errorf("%v was allowed: %s", attack.Tools, results[i].Content)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file was written outside of the job")
	}
}

func TestRealCLIIsRungAgainInTheSameConversation(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	n, api := rig.RealClaude(t, nil, func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		if !strings.Contains(prompt, "Your last turn ended, but no result of yours was accepted") {
			return messagesapi.Say("I have thought about it.") // and never submits, whatever it is told
		}
		return rig.Submit(r)
	})
	record := n.Await(t, n.Create(t, object{}), "received")
	must.Equal(t, 2.0, record["turn"], "it took … turns")
	last := api.Requests()[len(api.Requests())-1]
	must.Contain(t, last.Text(), "You plan meals for a household", "the second turn does not know the first")
}

func TestRealCLIStructuredOutput(t *testing.T) {
	t.Parallel()
	n, _ := rig.RealClaude(t, vars{"USE_CALLBACK_CLAUDE": "false"}, func(r messagesapi.Request) messagesapi.Reply {
		must.NotContain(t, r.Text(), "curl", "the prompt speaks of curl")
		if len(r.Results()) == 0 {
			return messagesapi.Use("StructuredOutput", rig.MealResult("Soup"))
		}
		return messagesapi.Say("Done.")
	})
	events := n.Listen(t, "userId=u1")
	id := n.Create(t, object{"userId": "u1"})
	events.Until("recipes:suggestions:received")
	record := n.Await(t, id, "received")
	must.Equal(t, 1, len(record["result"].(object)["suggestions"].([]any)), "suggestions")
}
