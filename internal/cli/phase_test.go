package cli_test

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// inPhase returns the record of a job in a state and a phase.
func inPhase(record, status, members string) string {
	return strings.Replace(record, `"status":"`+status+`"`, `"status":"`+status+`",`+members, 1)
}

func TestListAndStatusSayWhatGoesOn(t *testing.T) {
	t.Parallel()
	pending := strings.Replace(running, `"status":"running"`, `"status":"pending"`, 1)
	failed := strings.Replace(pending, `"turn":1`, `"turn":1,"attempt":1,"maxAttempts":3,"lastFailure":{"turn":1,"errorCode":"cli_failed","error":"The CLI exited"}`, 1)
	for _, c := range []struct{ name, record, list, status string }{
		{"for a worker", inPhase(pending, "pending", `"phase":"queued"`), "waiting for a worker", "waiting for a worker"},
		{"for the user's other job", inPhase(pending, "pending", `"phase":"waiting_for_limit"`), "waiting for another job of the user", "waiting for another job of the user"},
		{
			"for the end of a limit", inPhase(strings.Replace(failed, "cli_failed", "usage_limit", 1), "pending", `"phase":"waiting_for_limit","phaseUntil":"2026-03-01T10:03:09Z"`),
			"waiting for the end of a limit; turn 1 was cut off: The CLI exited (usage_limit)", "waiting for the end of a limit",
		},
		{"for a process", inPhase(pending, "pending", `"phase":"waiting_for_exit"`), "waiting for the previous process to exit", "waiting for the previous process to exit"},
		{
			"for the next attempt", inPhase(failed, "pending", `"phase":"queued","phaseUntil":"2026-03-01T10:03:09Z"`),
			"waiting for the next attempt; attempt 1 of 3 failed: The CLI exited (cli_failed)", "waiting for the next attempt",
		},
		{"Claude has said something", inPhase(running, "running", `"phase":"claude"`), "40% Browsing", "40% Browsing"},
		{"Claude has said nothing", strings.Replace(inPhase(running, "running", `"phase":"claude"`), `"activity"`, `"x"`, 1), "Claude is on it", "Claude is on it"},
		{"what Claude said is past", inPhase(running, "running", `"phase":"verifying"`), "verifying", "verifying"},
		{"publishing", inPhase(running, "running", `"phase":"publishing"`), "publishing", "publishing"},
		{"a phase of a newer server", inPhase(running, "running", `"phase":"added\n\u0007later"`), "added \ufffdlater", "added \ufffdlater"},
		{"an older server", running, "40% Browsing", "40% Browsing"},
		{"the question goes first", inPhase(waiting, "awaiting_input", `"phase":"held"`), "The ratio 5:3\ufffd[31m is not supported. Available options are: 16:9, 1:1.", "Claude waits for the reply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/jobs"], f.answers["GET /api/jobs/"+jobID] = `{"jobs":[`+c.record+`]}`, c.record
			list := strings.Split(newConsole(t, f.URL).run(t, "list").stdout, "\n")[1]
			must.Equal(t, c.list, list[strings.LastIndexByte(list, '\t')+1:], "list says")
			status := newConsole(t, f.URL).run(t, "status", jobID).stdout
			_, rest, _ := strings.Cut(status, "Doing:")
			if line, _, _ := strings.Cut(rest, "\n"); strings.TrimSpace(line) != c.status {
				t.Errorf("status says %q, want %q", status, c.status)
			}
			if strings.Contains(c.record, "phaseUntil") && !strings.Contains(status, "Until:  2026-03-01 10:03:09") {
				t.Errorf("status does not say until when: %q", status)
			}
		})
	}
}

func TestEveryPhaseHasWords(t *testing.T) {
	t.Parallel()
	for _, row := range job.Phases {
		if row.Words == "" || row.Phase.Words() != row.Words {
			t.Errorf("%s: %q", row.Phase, row.Phase.Words())
		}
	}
}
