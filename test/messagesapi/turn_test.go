package messagesapi_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"ringback/test/messagesapi"
	"ringback/test/must"
)

func TestResumeGoesOnWithTheConversation(t *testing.T) {
	t.Parallel()
	api := messagesapi.Start(t, messagesapi.Steps(messagesapi.Say("one"), messagesapi.Say("two")))
	c := newCLI(t, api)
	id := uuid.NewString()
	first := c.run(t, "first question", "--session-id", id).succeeded(t)
	c.dir = t.TempDir()
	second := c.run(t, "second question", "--resume", id).succeeded(t)

	seen := api.Requests()[1]
	for _, text := range []string{"first question", "second question"} {
		must.Contain(t, seen.Text(), text, "the resumed conversation")
	}
	must.Equal(t, id, seen.Conversation, "the resumed conversation is")
	if first.CostUSD <= 0 || second.CostUSD != 2*first.CostUSD || second.Usage != first.Usage {
		t.Errorf("costs are %v, then %v; they should cover the conversation, and tokens the process (%v, %v)",
			first.CostUSD, second.CostUSD, first.Usage, second.Usage)
	}
}

func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	wrong := messagesapi.Structured(map[string]any{"n": "four"})
	right := messagesapi.Structured(map[string]any{"n": 4})
	for _, test := range []struct {
		name    string
		script  messagesapi.Script
		subtype string
		output  string
	}{
		{"submitted", messagesapi.Steps(right), "success", `{"n":4}`},
		{"corrected", messagesapi.Steps(wrong, right), "success", `{"n":4}`},
		{"always wrong", messagesapi.Steps(wrong), "error_max_structured_output_retries", ""},
		{"never submitted", messagesapi.Steps(messagesapi.Say(`{"n":4}`)), "success", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t, messagesapi.Start(t, test.script))
			end := c.run(t, "Count.", "--session-id", uuid.NewString(), "--json-schema", schema)
			if end.result == nil {
				t.Fatal("the stream has no result")
			}
			got := []string{end.result.Subtype, string(end.result.StructuredOutput)}
			must.Equal(t, []string{test.subtype, test.output}, got)
		})
	}
}

func TestHowTurnsFail(t *testing.T) {
	t.Parallel()
	list := messagesapi.Bash("ls")
	costly := list
	costly.Usage = messagesapi.Usage{Input: 1_000_000, Output: 1000}
	for _, test := range []struct {
		name    string
		reply   messagesapi.Reply
		args    []string
		subtype string
		says    string
	}{
		{"no more turns", list, []string{"--max-turns", "2"}, "error_max_turns", "maximum number of turns (2)"},
		{"budget spent", costly, []string{"--max-budget-usd", "1"}, "error_max_budget_usd", "maximum budget ($1)"},
		{"wrong key", messagesapi.Fail(401), nil, "success", "Failed to authenticate"},
		{"API broken", messagesapi.Fail(500), nil, "success", "API Error: 500"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t, messagesapi.Start(t, messagesapi.Steps(test.reply)))
			end := c.run(t, "Go.", append(test.args, "--session-id", uuid.NewString())...)
			if end.exit != 1 || end.result == nil || !end.result.IsError {
				t.Fatalf("the turn ended with exit code %d, want 1 and a result that is an error", end.exit)
			}
			must.Equal(t, test.subtype, end.result.Subtype, "the subtype is")
			must.Contain(t, end.result.Text+strings.Join(end.result.Errors, " "), test.says)
		})
	}
}

func TestSIGTERMEndsTheTurnAtOnce(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	api := messagesapi.Start(t, func(messagesapi.Request) messagesapi.Reply {
		close(asked)
		return messagesapi.Hang()
	})
	cmd := newCLI(t, api).command(t, "Think.", "--session-id", uuid.NewString())
	end := finish(t, cmd, func() {
		select {
		case <-asked:
		case <-time.After(30 * time.Second):
			t.Error("the CLI never asked the model")
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	if end.exit != 143 || end.result != nil {
		t.Errorf("the turn ended with exit code %d and result %v, want 143 and none", end.exit, end.result)
	}
}
