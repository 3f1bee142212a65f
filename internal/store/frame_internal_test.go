package store

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// An event is received as it was sent, and stored without what its origin says.
func TestEventsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1767323045678).UTC()
	message := job.Message{ID: 7, CreatedAt: at, UpdatedAt: at, MessageBody: job.Text(job.FromUser, "Go on, please")}
	message.UserID, message.SessionID, message.RequestID = `Ada "<&> \ é`, "s1", "req_00_a"
	own := message
	own.SessionID = "ses_00_a"
	other := message
	other.RequestID, other.MessageType, other.CreatedAt, other.UpdatedAt = "", "", at.Add(-time.Hour), at.Add(-time.Hour)
	for name, data := range map[string]any{
		"JSON":            json.RawMessage(`{"message":"line 1\nline 2"}`),
		"a message":       lifecycle.MessageData{Action: "NEW_MESSAGE", Status: "processing", SessionID: "s1", Message: message},
		"in its session":  lifecycle.MessageData{Action: "NEW_MESSAGE", Status: "processing", SessionID: "ses_00_a", Message: own},
		"another message": lifecycle.MessageData{Action: "HITL_CHECKPOINT", Status: "awaiting_human", SessionID: "s1", Message: other},
	} {
		for _, want := range []job.Event{
			{ID: 1767323045678001, RequestID: "req_00_a", KindVersion: "v", Time: at},
			{ID: 1767323045678001, RequestID: "req_00_a", KindVersion: "v", Time: at, Simulated: true},
			{ID: 1767323045678001, Time: at},
		} {
			event := job.EventMessage
			if name == "JSON" {
				event = job.EventHeard
			}
			want.Name, want.UserID, want.Data = "a:b:"+string(event), message.UserID, json.RawMessage(text(data))
			to := lifecycle.Recipient{UserID: want.UserID, EventPrefix: "a:b", JobID: want.RequestID, KindVersion: want.KindVersion, Simulated: want.Simulated}
			c := commit{}
			c.emit(lifecycle.Emit{To: to, Type: event, Time: at, Data: data})
			stored := c.events[0][2].(string)
			got, ok := parseEvent(want.ID, 3, want.UserID, stored)
			if !ok {
				t.Fatalf("%s: %s cannot be read", name, stored)
			}
			var received job.Event
			must.OK(t, json.Unmarshal([]byte(got.Frame()), &received))
			must.Equal(t, want, received, name)
			must.Equal(
				t, []any{want.ID, job.Seq(3), want.RequestID, want.UserID, event},
				[]any{got.Seq, got.After, got.RequestID, got.UserID, got.Type}, name,
			)
			if strings.Contains(stored, "Ada") || strings.Count(stored, "Go on, please") > 1 || strings.Count(stored, "00_a") > 1 && want.RequestID != "" {
				t.Errorf("%s is stored as %s", name, stored)
			}
		}
	}
}

func TestWhatIsNoEventIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{"", "a:message req v", "a:message req v 1\n", "a:message req v 1\n{", `{"id":"1","event":"a:pending"}`} {
		if e, ok := parseEvent(1, 0, "u", stored); ok {
			t.Errorf("%q is read as %+v", stored, e)
		}
	}
}
