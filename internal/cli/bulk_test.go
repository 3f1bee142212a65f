package cli_test

import (
	"io"
	"strings"
	"testing"

	"ringback/test/must"
)

const matching = "GET /api/jobs?fields=-input%2C-result&limit=500&status=running&tag=nightly"

// --all shows the number of jobs first, and after confirmation changes exactly these jobs.
func TestAllJobsOfAFilterAreCancelled(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(running, jobID, otherID)
	line := []string{"cancel", "--all", "--tag", "nightly", "--status", "running"}
	stub := func() *stub {
		f := newStub(t)
		f.answers[matching] = `{"jobs":[` + running + `,` + other + `]}`
		f.answers["POST /api/jobs/bulk"] = `{"succeeded":1,"jobs":[{"requestId":"` + jobID + `"},{"requestId":"` + otherID + `","error":"The job is already received"}]}`
		return f
	}
	for name, c := range map[string]struct {
		stdin    string
		typed    bool
		args     []string
		code     int
		says     string
		cancels  bool
		printing string
	}{
		"after a yes":          {"y\n", true, nil, 1, "To cancel these 2 jobs? [y/N]", true, "1 job cancelled.\notheroth  The job is already received"},
		"not after a no":       {"\n", true, nil, 1, "nothing was done", false, ""},
		"not without a person": {"", false, nil, 2, "pass --yes", false, ""},
		"without being asked":  {"", false, []string{"--yes"}, 1, "2 jobs to cancel:", true, "1 job cancelled."},
		"in JSON":              {"", false, []string{"--yes", "-o", "json"}, 1, "", true, `"succeeded": 1`},
		"and none in a state that has none to cancel": {"", false, []string{"--yes", "--status", "failed,running"}, 1, "2 jobs to cancel:", true, ""},
		"and no job beside":                           {"", false, []string{"--yes", jobID}, 2, "--all takes no requestId", false, ""},
		"and nothing of a typo":                       {"", false, []string{"--yes", "--until", "x"}, 2, "--until must be", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stub()
			at := newConsole(t, f.URL)
			at.stdin = c.stdin
			if c.typed {
				at.defaults.TypedFunc = func(io.Reader) bool { return true }
			}
			got := at.run(t, append(line, c.args...)...)
			got.exits(t, c.code, c.says)
			must.Contain(t, got.stdout, c.printing)
			want := ""
			if c.cancels {
				want = `{"action":"cancel","requestIds":["` + jobID + `","` + otherID + `"]}`
			}
			must.Equal(t, want, strings.TrimSpace(f.sent("POST /api/jobs/bulk")), "sent")
		})
	}
}

// --all of reply shows each different question once, and answers exactly those questions.
func TestAllQuestionsOfAFilterAreAnswered(t *testing.T) {
	t.Parallel()
	const asks = `"status":"awaiting_input","checkpoint":{"id":"chk_03_questionsquestionsquestion","type":"information_request","status":"open","message":"Which time zone?\u001b[31m","props":{}}`
	first := strings.Replace(running, `"status":"running"`, asks, 1)
	other := strings.NewReplacer(jobID, otherID, "questionsquestionsquestion", "otherquestionotherquestion").Replace(first)
	f := newStub(t)
	f.answers["GET /api/jobs?fields=-input%2C-result&kind=meal-suggestions&limit=500&status=awaiting_input"] = `{"jobs":[` + first + `,` + other + `]}`
	f.answers["POST /api/jobs/bulk"] = `{"succeeded":2,"jobs":[{"requestId":"` + jobID + `"},{"requestId":"` + otherID + `"}]}`
	at := newConsole(t, f.URL)
	got := at.run(t, "reply", "--all", "--kind", "meal-suggestions", "--yes", "UTC", "please")
	if got.code != 0 || got.stdout != "2 jobs answered.\n" || strings.Count(got.stderr, "Which time zone?") != 3 || strings.Contains(got.stderr, "\x1b[31m") || !strings.Contains(got.stderr, "Asked by 2 jobs:") {
		t.Errorf("exit code %d, prints %q, says %q", got.code, got.stdout, got.stderr)
	}
	want := `{"action":"answer","requestIds":["` + jobID + `","` + otherID + `"],"checkpointIds":["chk_03_questionsquestionsquestion","chk_03_otherquestionotherquestion"],"text":"UTC please"}`
	must.Equal(t, want, strings.TrimSpace(f.sent("POST /api/jobs/bulk")), "sent")
	for _, wrong := range [][]string{{"chk_03_x", "UTC"}, {"--approve"}, {"--value", "a=1"}, {}} {
		at.run(t, append([]string{"reply", "--all"}, wrong...)...).exits(t, 2, "", wrong)
	}
}

func TestAllIsSaidForFilters(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	if got := newConsole(t, f.URL).run(t, "retry", "--status", "failed"); got.code != 2 || !strings.Contains(got.stderr, "add --all") || len(f.asked) > 0 {
		t.Errorf("exit code %d, says %q, asked %v", got.code, got.stderr, f.asked)
	}
	f.answers["GET /api/jobs"] = `{"jobs":[]}`
	if got := newConsole(t, f.URL).run(t, "retry", "--all"); got.code != 0 || got.stdout != "No job to retry.\n" || len(f.asked) != 1 {
		t.Errorf("exit code %d, prints %q, says %q, asked %v", got.code, got.stdout, got.stderr, f.asked)
	}
	// No job that has failed can be cancelled, so none is asked for: a list without states would be of all.
	if got := newConsole(t, f.URL).run(t, "cancel", "--all", "--yes", "--status", "failed,received"); got.stdout != "No job to cancel.\n" || len(f.asked) != 1 {
		t.Errorf("exit code %d, prints %q, says %q, asked %v", got.code, got.stdout, got.stderr, f.asked)
	}
}
