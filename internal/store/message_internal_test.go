package store

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// A message is read as it was written, and stored without saying anything twice.
func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1767323045678).UTC()
	tool := job.Part{Type: job.ToolCallPart, ToolCallID: "toolu_1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{}`)}
	for name, body := range map[string]job.MessageBody{
		"a text":            job.Text(job.FromUser, "Go on, please"),
		"without text":      job.Text(job.FromUser, ""),
		"a tool's output":   {Sender: job.FromAssistant, Role: job.FromTool, Content: "done", Parts: []job.Part{{Type: job.TextPart, Text: "done"}}},
		"other text":        {Sender: job.FromUser, Role: job.FromUser, Content: "in short", Parts: []job.Part{{Type: job.TextPart, Text: "at length"}}},
		"two texts":         {Sender: job.FromUser, Role: job.FromUser, Content: "a", Parts: []job.Part{{Type: job.TextPart, Text: "a"}, {Type: job.TextPart, Text: "a"}}},
		"no parts":          {Sender: job.FromUser, Role: job.FromUser, Content: "a", Parts: []job.Part{}},
		"a call":            {Sender: job.FromAssistant, Role: job.FromAssistant, Content: "a", Parts: []job.Part{tool}},
		"a call and a text": {Sender: job.FromAssistant, Role: job.FromAssistant, Content: "a", Parts: []job.Part{{Type: job.TextPart, Text: "a"}, tool}},
		"everything": {
			Sender: job.FromUser, Role: job.FromUser, Content: "a", Parts: []job.Part{{Type: job.TextPart, Text: "a"}}, MessageType: "own", Destination: "d",
			LogID: "l", RequestID: "req_00_a", CheckpointID: "chk_00_a", Props: json.RawMessage(`{"a":1}`), Hearing: &job.Hearing{Status: job.Heard, Turn: 2},
		},
	} {
		body.UserID, body.SessionID = "u1", "s1"
		m := job.Message{ID: 7, CreatedAt: at, UpdatedAt: at, MessageBody: body}
		stored := encodeMessage(m)
		read, ok := decodeMessage(stored, "u1", "s1", 7)
		if !ok {
			t.Fatalf("%s: %s cannot be read", name, stored)
		}
		must.Equal(t, m, read, name)
	}
	text := job.Message{MessageBody: job.Text(job.FromUser, "Go on, please")}
	must.Equal(t, 1, strings.Count(encodeMessage(text), "Go on, please"), "times that the text is stored")
}
