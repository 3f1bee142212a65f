package api_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/test/must"
)

// What a back end sends in a user's name is marked as such: in the chat, in the answer and in what Claude
// reads. A user's own messages are not.
func TestWhatAKeySendsIsNotTheUsers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ credential, by string }{
		"by its key":        {apiKey, "the key " + keyName(t) + " for u1"},
		"by the user's own": {tokenOf(t, "u1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, locked)
			id := s.create(row.credential, "careful", "u1")
			session := must.Get(s.store.Get(t.Context(), id))(t).SessionID
			say := func(text string) {
				t.Helper()
				s.wants(200, row.credential, "POST", "/to-llm", object{"sessionId": session, "userId": "u1", "content": text})
			}
			say("And quickly.")
			asked := s.ask(id, checkpoint.Request{Type: job.InformationRequest, Message: "Which colour?"})
			say("blue")
			messages, _ := s.as(row.credential, "GET", "/api/sessions/"+session+"/messages?userId=u1", nil).Body["messages"].([]any)
			mine := 0
			for _, m := range messages {
				if m := m.(object); m["sender"] == "user" {
					by, _ := m["by"].(string)
					must.Equal(t, row.by, by, m["content"])
					mine++
				}
			}
			must.Equal(t, 3, mine, "messages of the user: the request, and two")
			reply := must.Get(s.store.Checkpoint(t.Context(), asked))(t).Reply
			must.Equal(t, row.by, reply.By, "the reply is")
		})
	}
}

// keyName returns the name of the key of these tests, as the audit log has it.
func keyName(t *testing.T) string {
	t.Helper()
	key, known, err := locked.Keys.Find(apiKey)
	must.OK(t, err)
	must.Equal(t, true, known)
	return key.Name
}
