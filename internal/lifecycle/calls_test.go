package lifecycle_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
)

// The output of a turn is read late: what it says of a call that a person has
// denied by then is not shown once more.
func TestLateOutputOfADeniedCall(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		if _, err := s.Start(t.Context(), newJob("u")); err != nil {
			t.Fatal(err)
		}
		var j job.Job
		for p := range store.Partition(store.Partitions) {
			if turn, err := s.Claim(t.Context(), p, lifecycle.Worker{Node: "n"}); err != nil {
				t.Fatal(err)
			} else if turn != nil {
				j = turn.Job
			}
		}
		call := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{"command":"id"}`)}
		chat := job.Text(job.FromAssistant, "Allow it?")
		chat.Parts = append(chat.Parts, call)
		_, id, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: "q", ApprovalKey: "tool:Bash:1", ToolCallID: "toolu_1",
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Answer(t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Deny}}); err != nil {
			t.Fatal(err)
		}
		body := func(parts ...job.Part) job.MessageBody {
			return job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: parts}
		}
		other := call
		other.ToolCallID = "toolu_2"
		err = s.AppendAssistantMessages(t.Context(), j.ID, j.Turn, []lifecycle.AssistantMessage{
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
