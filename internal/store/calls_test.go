package store_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/store"
)

// The output of a turn is read late: what it says of a call that a person has
// denied by then is not shown once more.
func TestLateOutputOfADeniedCall(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{}, func(t *testing.T, s *store.Store, _ redis.UniversalClient) {
		if _, err := s.Create(t.Context(), newJob("u")); err != nil {
			t.Fatal(err)
		}
		var j job.Job
		for p := range store.Partition(store.Partitions) {
			if turn, err := s.Claim(t.Context(), p, store.Worker{Node: "n"}, false); err != nil {
				t.Fatal(err)
			} else if turn != nil {
				j = turn.Job
			}
		}
		call := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{"command":"id"}`)}
		chat := job.Text(job.FromAssistant, "Allow it?")
		chat.Parts = append(chat.Parts, call)
		_, id, _, err := s.Ask(t.Context(), store.Question{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: "q", Subject: "tool:Bash:1", Call: "toolu_1",
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reply(t.Context(), c, store.Answer{To: job.Answered, Reply: job.Reply{Decision: job.Deny}}); err != nil {
			t.Fatal(err)
		}
		body := func(parts ...job.Part) job.MessageBody {
			return job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: parts}
		}
		other := call
		other.ToolCallID = "toolu_2"
		err = s.Say(t.Context(), j, []store.Said{
			{End: 10, Body: body(call)},
			{End: 20, Body: body(job.Part{Type: job.ToolResultPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.OutputDenied, Output: json.RawMessage(`"denied"`)})},
			{End: 30, Body: body(other)},
			{End: 30, Body: body(job.Part{Type: job.ToolResultPart, ToolCallID: "toolu_2", ToolName: "Bash", State: job.OutputAvailable, Output: json.RawMessage(`"ok"`)})},
		})
		if err != nil {
			t.Fatal(err)
		}
		messages, _, err := s.Messages(t.Context(), "u", j.SessionID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, m := range messages {
			for _, p := range m.Parts {
				if p.ToolCallID != "" {
					parts = append(parts, p.ToolCallID+" "+string(p.Type)+" "+string(p.State))
				}
			}
		}
		want := []string{
			"toolu_1 tool-call input-available", "toolu_1 tool-result output-denied",
			"toolu_2 tool-call input-available", "toolu_2 tool-result output-available",
		}
		if diff := cmp.Diff(want, parts); diff != "" {
			t.Error(diff)
		}
	})
}
