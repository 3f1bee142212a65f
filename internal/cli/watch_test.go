package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringback/test/must"
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
		matches(t, "output/"+c.name, got.stdout)
	}
}

// A script that goes on after the last event that it has seen gets each event once.
func TestWatchGoesOnAfterAnEvent(t *testing.T) {
	t.Parallel()
	failed := strings.NewReplacer(`"status":"expired"`, `"status":"failed"`, "note", "meal-suggestions").Replace(expired)
	for name, c := range map[string]struct {
		args    []string
		records []string // none: it has been received
		ids     string
		code    int
	}{
		"all of a job that has ended":                {nil, nil, "1 2 3 4 5 6", 0},
		"the rest of a job that has ended":           {[]string{"--since", "3"}, nil, "4 5 6", 0},
		"what has come after its end":                {[]string{"--since", "5"}, nil, "6", 0},
		"nothing of a job that has ended":            {[]string{"--since", "6"}, nil, "", 0},
		"an event that is not kept":                  {[]string{"--since", "999"}, nil, "", 0},
		"the rest of a job that ends then":           {[]string{"--since", "3"}, []string{running}, "4 5", 0},
		"all that is kept":                           {[]string{"--since", "0"}, []string{running}, "1 2 3 4 5", 0},
		"a job that has failed":                      {nil, []string{failed}, "1 2 3 4 5 6", 1},
		"nothing of a job that has failed":           {[]string{"--since", "6"}, []string{failed}, "", 1},
		"a job that fails then":                      {nil, []string{running, failed}, "1 2 3 4 5", 1},
		"a job that has ended, in time":              {[]string{"--timeout", "1m"}, nil, "1 2 3 4 5 6", 0},
		"a job that was retried after it had failed": {[]string{"--since", "4"}, []string{running, failed}, "5", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.events = append(f.events, happened(6, "message", `{"message":{"id":1,"content":"After the end"}}`))
			f.records = c.records
			got := newConsole(t, f.URL).run(t, append([]string{"watch", jobID, "-o", "json"}, c.args...)...)
			var ids []string
			for line := range strings.Lines(got.stdout) {
				var e struct{ ID string }
				must.OK(t, json.Unmarshal([]byte(line), &e))
				ids = append(ids, e.ID)
			}
			must.Equal(t, c.ids, strings.Join(ids, " "), "ids")
			got.exits(t, c.code, "")
		})
	}
}

func TestWatchOfAllGoesOnAfterAnEvent(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	got := leaveAt(t, f, "suggestions:received", "watch", "--all", "--since", "3", "-o", "json")
	if !f.was("GET /ws?since=0000000000000003") && !f.was("GET /ws?since=3") || strings.Contains(got.stdout, `"id":"3"`) || !strings.Contains(got.stdout, `"id":"4"`) {
		t.Errorf("asked %v, prints %q", f.asked, got.stdout)
	}
}

// A command that has waited long enough has an exit code of its own, leaves the job alone, and shows how to go on.
func TestWaitingEndsInTime(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"watch " + jobID:                     "Left after 2s. Continue with: ringback watch " + jobID + " --since 2\n",
		"watch " + jobID + " -o json":        "Left after 2s. Continue with: ringback watch " + jobID + " --since 2\n",
		"watch --all":                        "Left after 2s. Continue with: ringback watch --all --since 2\n",
		"watch --all --since 2":              "Left after 2s. Continue with: ringback watch --all --since 2\n",
		"run note":                           "The job continues. Follow it with: ringback watch " + jobID,
		"run note -o json":                   "The job continues. Follow it with: ringback watch " + jobID,
		"steer " + jobID + " -p More --wait": "The job continues. Follow it with: ringback watch " + jobID,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.events = f.events[:2]
			f.answers["GET /api/jobs/"+jobID] = running
			got := newConsole(t, f.URL).run(t, append(strings.Fields(line), "--timeout", "2s")...)
			got.exits(t, 124, says)
			must.NotContain(t, got.stderr, "Error")
			if f.was("POST /api/jobs/" + jobID + "/cancel") {
				t.Error("the job was cancelled")
			}
		})
	}
	for _, args := range []string{"--timeout 0s", "--timeout -5s", "--timeout soon", "--timeout 5", "--since now", "--since -1", "--since 1.5", "--timeout=", "--since="} {
		wrong, _, _ := strings.Cut(strings.Fields(args)[0], "=")
		newConsole(t, newStub(t).URL).run(t, append([]string{"watch", jobID}, strings.Fields(args)...)...).exits(t, 2, wrong, args)
	}
}

// A job that waits for review has not ended, whatever is missing of its events.
func TestWatchOutlastsAReview(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.events = []string{`{"event":"resync"}`, happened(5, "checkpoint:resolved", question), happened(6, "received", `{}`)}
	f.records = []string{underReview, underReview}
	got := newConsole(t, f.URL).run(t, "watch", jobID)
	got.exits(t, 0, "")
	must.Contain(t, got.stdout, "recipes:suggestions:received")
}
