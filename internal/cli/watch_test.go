package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// story returns a job's events, one of each type.
func story() []string {
	review := underReview[strings.Index(underReview, `{"id"`):strings.Index(underReview, `,"turn":1`)]
	return []string{
		happened(1, "pending", `{"status":"pending","phase":"queued"}`),
		happened(2, "running", `{"status":"running","phase":"claude"}`),
		happened(3, "activity", `{"message":"Browsing\nrecipes\u001b[31m","type":"querying","progress":30}`),
		happened(4, "message", `{"action":"NEW_MESSAGE","status":"processing","sessionId":"s1","message":{"id":1,"sender":"user","content":"A lake,\nplease","parts":[{"type":"text","text":"A lake"}]}}`),
		happened(5, "message", `{"action":"NEW_MESSAGE","status":"processing","sessionId":"s1","message":{"id":2,"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","sender":"assistant","content":"","parts":[{"type":"tool-call","toolName":"Bash","input":{"command":"ls"}}]}}`),
		happened(6, "checkpoint", question),
		happened(7, "checkpoint:resolved", strings.Replace(question, `"open"`, `"answered","reply":{"text":"Use 16:9"}`, 1)),
		happened(8, "checkpoint", review),
		happened(9, "checkpoint:resolved", strings.Replace(review, `"open"`, `"answered","reply":{"decision":"approve"}`, 1)),
		happened(9, "pending", `{"status":"pending","phase":"queued","turn":2,"attempt":1,"maxAttempts":3,"lastFailure":{"turn":2,"errorCode":"cli_failed","error":"The CLI exited\nwith 1"}}`),
		happened(9, "pending", `{"status":"pending","phase":"queued","phaseUntil":"2026-03-01T10:00:12Z","turn":2,"attempt":1,"maxAttempts":3,"lastFailure":{"turn":2,"errorCode":"cli_failed","error":"The CLI exited"}}`),
		happened(9, "pending", `{"status":"pending","phase":"waiting_for_limit"}`),
		happened(9, "running", `{"status":"running","phase":"preparing"}`),
		happened(9, "running", `{"status":"running","phase":"verifying"}`),
		happened(9, "running", `{"status":"running","phase":"added_later"}`),
		happened(9, "later", `{"phase":"verifying","unknown":{"a":[1]}}`),
		happened(9, "error", `{"suggestionId":"req","error":"No recipe fits","errorCode":"claude_failed"}`),
		happened(9, "cancelled", `{"status":"cancelled"}`),
		happened(9, "rejected", `{"status":"rejected"}`),
		happened(9, "partial", `[]`),
		happened(9, "received", `{"suggestionId":"req"}`),
	}
}

func TestWatchTellsEveryEventInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns int
	}{{"watch-story", 0}, {"watch-story-terminal", 100}} {
		f := newStub(t)
		f.events = story()
		for i, frame := range f.events { // ids increase
			f.events[i] = strings.Replace(frame, `{"id":"9"`, fmt.Sprintf(`{"id":"%d"`, 100+i), 1)
		}
		f.records = []string{running, running, running, running}
		s := newConsole(t, f.URL).onTerminal(c.columns)
		s.defaults.NoColor = true
		got := s.run(t, "watch", jobID)
		if strings.ContainsAny(got.stdout, "{}\a") {
			t.Errorf("shows JSON: %q", got.stdout)
		}
		matches(t, c.name, got.stdout)
	}
}
