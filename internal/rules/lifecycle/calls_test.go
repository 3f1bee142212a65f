package lifecycle_test

import (
	"encoding/json"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The output of a turn is read late: its results for a call that a person has denied by then are
// not shown again.
func TestLateOutputOfADeniedCall(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := startedJob(t, s, "")
		call := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{"command":"id"}`)}
		chat := job.Text(job.FromAssistant, "Allow it?")
		chat.Parts = append(chat.Parts, call)
		_, id, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: "q", ApprovalKey: "tool:Bash:1", ToolCallID: "toolu_1",
		})
		must.OK(t, err)
		c := must.Get(s.Checkpoints.Get(t.Context(), id))(t)
		must.Get(s.Answer(t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Deny}}))(t)
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
		must.OK(t, err)
		messages, _, err := s.Chats.Messages(t.Context(), "u", j.SessionID, 0, 100)
		must.OK(t, err)
		parts := toolParts(messages)
		want := []string{
			"toolu_1 tool-call output-denied", "toolu_1 tool-result output-denied",
			"toolu_2 tool-call output-available", "toolu_2 tool-result output-available",
		}
		must.Equal(t, want, parts)
	})
}

// A call that the chat shows before the question about it moves to the question.
func TestACallMovesToItsQuestion(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := startedJob(t, s, "")
		call := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{"command":"id"}`)}
		printed := job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: []job.Part{call}}
		talking := printed
		talking.Parts = []job.Part{{Type: job.TextPart, Text: "I look."}, {Type: job.ToolCallPart, ToolCallID: "toolu_2", ToolName: "Bash", State: job.InputAvailable}}
		must.OK(t, s.AppendAssistantMessages(t.Context(), j.ID, j.Turn, []lifecycle.AssistantMessage{{End: 10, Body: talking}, {End: 20, Body: printed}}))
		chat := job.Text(job.FromAssistant, "Allow it?")
		chat.Parts = append(chat.Parts, call)
		_, id, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: "q", ApprovalKey: "tool:Bash:1", ToolCallID: "toolu_1",
		})
		must.OK(t, err)
		messages, _, err := s.Chats.Messages(t.Context(), "u", j.SessionID, 0, 100)
		must.OK(t, err)
		want := []string{"toolu_2 tool-call input-available", "toolu_1 tool-call input-available"}
		must.Equal(t, want, toolParts(messages))
		must.Equal(t, id, messages[len(messages)-1].CheckpointID, "the call is shown in the message of")
		for _, m := range messages {
			if len(m.Parts) == 0 {
				t.Errorf("an empty message is left: %+v", m)
			}
		}
		if page, _, err := s.Chats.Messages(t.Context(), "u", j.SessionID, messages[len(messages)-2].ID, 1); err != nil || len(page) != 1 || page[0].CheckpointID != id {
			t.Errorf("a page of one message behind it holds %+v, %v", page, err)
		}
	})
}

// What a job prints changes nothing about a call of another job in the same chat that has the same id.
func TestAJobCannotMoveAnothersCall(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		asking := startedJob(t, s, "")
		call := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{"command":"id"}`)}
		chat := job.Text(job.FromAssistant, "Allow it?")
		chat.Parts = append(chat.Parts, call)
		if _, _, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: asking.ID, UserID: "u", SessionID: asking.SessionID, Type: job.ToolApproval, Message: "Allow it?", Chat: chat, Digest: "q", ApprovalKey: "tool:Bash:1", ToolCallID: "toolu_1",
		}); err != nil {
			t.Fatal(err)
		}
		other := startedJob(t, s, asking.SessionID)
		result := job.Part{Type: job.ToolResultPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.OutputAvailable, Output: json.RawMessage(`"done"`)}
		printed := job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: []job.Part{call}}
		ended := printed
		ended.Parts = []job.Part{result}
		must.OK(t, s.AppendAssistantMessages(t.Context(), other.ID, other.Turn, []lifecycle.AssistantMessage{{End: 10, Body: printed}, {End: 20, Body: ended}}))
		messages, _, err := s.Chats.Messages(t.Context(), "u", asking.SessionID, 0, 100)
		must.OK(t, err)
		want := []string{"toolu_1 tool-call input-available", "toolu_1 tool-call output-available", "toolu_1 tool-result output-available"}
		must.Equal(t, want, toolParts(messages))
	})
}

// The exit of the process that asked with a tool of the CLI may be recorded after the reply. The next
// turn continues the call, so it does not end there.
func TestAnAnsweredCallOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := startedJob(t, s, "")
		chat := job.Text(job.FromAssistant, "Which?")
		chat.Parts = append(chat.Parts, job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "AskUserQuestion", State: job.InputAvailable, Input: json.RawMessage(`{}`)})
		_, id, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.InformationRequest, Message: "Which?", Chat: chat, Digest: "q", ToolCallID: "toolu_1",
			Props: json.RawMessage(`{"tool_name":"AskUserQuestion"}`),
		})
		must.OK(t, err)
		c := must.Get(s.Checkpoints.Get(t.Context(), id))(t)
		must.Get(s.Answer(t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Values: map[string]any{"answer": "this"}}}))(t)
		must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: j.ID, Turn: 1, Node: "n", Begun: true, Code: job.CodeCrashed}))(t)
		turn := must.Get(s.Claim(t.Context(), store.PartitionOf(j.ID), lifecycle.Worker{Node: "n"}))(t)
		must.OK(t, s.AppendAssistantMessages(t.Context(), j.ID, turn.Job.Turn, []lifecycle.AssistantMessage{{End: 10, Body: job.MessageBody{
			Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage,
			Parts: []job.Part{{Type: job.ToolResultPart, ToolCallID: "toolu_1", ToolName: "AskUserQuestion", State: job.OutputAvailable, Output: json.RawMessage(`"this"`)}},
		}}}))
		messages, _, err := s.Chats.Messages(t.Context(), "u", j.SessionID, 0, 100)
		must.OK(t, err)
		must.Equal(t, []string{"toolu_1 tool-call output-available", "toolu_1 tool-result output-available"}, toolParts(messages))
	})
}

// startedJob returns a job with a running turn. An empty session begins a new one.
func startedJob(t *testing.T, s *storetest.Service, session string) job.Job {
	t.Helper()
	n := newJob("u")
	n.SessionID = session
	must.Get(s.Start(t.Context(), n))(t)
	return s.Next(t, "n").Job
}

// toolParts returns the tool calls in messages, and their results.
func toolParts(messages []job.Message) (parts []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.ToolCallID != "" {
				parts = append(parts, p.ToolCallID+" "+string(p.Type)+" "+string(p.State))
			}
		}
	}
	return parts
}
