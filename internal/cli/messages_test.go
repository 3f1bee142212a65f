package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"ringback/test/must"
)

// page returns a page of the chat s1, of messages that contain their ids.
func page(next string, ids ...int) string {
	var messages []string
	for _, id := range ids {
		messages = append(messages, fmt.Sprintf(`{"id":%d,"createdAt":"2026-03-01T10:00:0%dZ","sessionId":"s1","userId":"u1","sender":"user","content":"message %d","parts":[]}`, id, id, id))
	}
	return `{"sessionId":"s1","messages":[` + strings.Join(messages, ",") + `]` + next + `}`
}

// added returns the event of a message.
func added(event, message int, session string) string {
	return happened(event, "message", fmt.Sprintf(`{"action":"NEW_MESSAGE","sessionId":%q,"message":{"id":%d,"sessionId":%q}}`, session, message, session))
}

func chatting(t *testing.T) *stub {
	t.Helper()
	f := newStub(t)
	f.answers["GET /api/sessions/s1/messages?after=0&limit=200"] = page(`,"nextAfter":2`, 1, 2)
	f.answers["GET /api/sessions/s1/messages?after=2&limit=200&userId=u1"] = page("", 3)
	f.answers["GET /api/sessions/s1/messages?after=3&limit=200&userId=u1"] = page("", 4, 5)
	f.answers["GET /api/sessions/s1/messages?after=5&limit=200&userId=u1"] = page("", 6)
	f.events = []string{
		added(1, 3, "s1"), added(2, 9, "other"), happened(3, "activity", `{"message":"x"}`),
		added(4, 4, "s1"), added(5, 5, "s1"), added(6, 6, "s1"),
	}
	return f
}

func TestFollowingAChatShowsEachMessageOnce(t *testing.T) {
	t.Parallel()
	f := chatting(t)
	got := leaveAt(t, f, "message 6\n", "messages", "s1", "--follow")
	var want strings.Builder
	for id := range 6 {
		fmt.Fprintf(&want, "10:00:0%d User u1  message %d\n", id+1, id+1)
	}
	if got.code != 0 || got.stdout != want.String() || got.stderr != "" {
		t.Errorf("exit code %d, says %q, prints %s", got.code, got.stderr, got.stdout)
	}
	if !f.was("GET /ws?since=0&userId=u1") {
		t.Errorf("asked %v", f.asked)
	}
}

func TestFollowingAChatForPrograms(t *testing.T) {
	t.Parallel()
	got := leaveAt(t, chatting(t), `"message 6"`, "messages", "s1", "-f", "-o", "json")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[5], `{"id":6,"createdAt"`) {
		t.Errorf("prints %s", got.stdout)
	}
}

func TestFollowingAChatAfterEventsWereForgotten(t *testing.T) {
	t.Parallel()
	f := chatting(t)
	f.answers["GET /api/sessions/s1/messages?after=2&limit=1&userId=u1"] = page("", 3)
	f.answers["GET /api/sessions/s1/messages?after=4&limit=1&userId=u1"] = page("", 5)
	f.events = []string{`{"event":"resync"}`, `{"event":"resync"}`}
	got := leaveAt(t, f, "message 6\n", "messages", "s1", "--follow")
	if strings.Count(got.stdout, "message") != 6 || got.stderr != "" {
		t.Errorf("says %q, prints %s", got.stderr, got.stdout)
	}
}

// Message ids are a counter, so the ids of lost messages are assigned again.
func TestFollowingAChatThatHasLostItsLatestMessages(t *testing.T) {
	t.Parallel()
	f := chatting(t)
	f.answers["GET /api/sessions/s1/messages?after=2&limit=1&userId=u1"] = strings.Replace(page("", 3), "T10", "T11", 1)
	f.answers["GET /api/sessions/s1/messages?after=0&limit=200&userId=u1"] = page("", 7)
	f.events = []string{`{"event":"resync"}`}
	got := leaveAt(t, f, "message 7\n", "messages", "s1", "--follow")
	must.Equal(t, "The store has lost the latest messages. The chat as it is now:\n", got.stderr)
}

func TestMessagesOfAnUnknownChat(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	for _, follow := range []string{"--follow=false", "--follow"} {
		if got := newConsole(t, f.URL).run(t, "messages", "s9", follow); got.code != 1 || got.stdout != "" {
			t.Errorf("%s: exit code %d, prints %q", follow, got.code, got.stdout)
		}
	}
}

// A message of a system outside Ringback is not shown as Claude's.
func TestMessagesShowTheirAuthors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, want string }{
		"of Claude":         {`"requestId":"` + jobID + `"`, " Claude  message 1"},
		"of a system":       {`"messageType":"text"`, "From outside Ringback  message 1"},
		"asked by a system": {`"messageType":"hitl_checkpoint"`, "From outside Ringback asks  message 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/sessions/s1/messages"] = strings.Replace(page("", 1), `"sender":"user"`, `"sender":"assistant",`+c.fields, 1)
			got := newConsole(t, f.URL).run(t, "messages", "s1")
			must.Contain(t, got.stdout, c.want)
		})
	}
}
