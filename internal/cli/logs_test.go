package cli_test

import (
	"strings"
	"testing"

	"ringback/test/must"
)

const transcript = `{"type":"system","subtype":"init","model":"sonnet"}
{"type":"user","message":{"role":"user","content":"the prompt"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look around.\nThen I write.\u001b[31m"},{"type":"tool_use","name":"Bash","input":{"command":"curl -sS http://localhost"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"{\"error\":\n\"x\"}"}],"is_error":true}]}}
{"type":"command_lifecycle","anything":1}
not JSON
{"type":"stderr","text":"warning: old\n"}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","duration_ms":1530,"total_cost_usd":0.0123}
{"type":"system","subtype":"init"}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":"a.json","content":"{}"}}]}}
{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529","duration_ms":10}
`

func TestLogsTellTheStoryOfTheTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns int
		args    []string
		logs    string
	}{
		{"logs-story", 0, nil, `409 {"error":"Jobs of the kind work on no repositories"}`},
		{"logs-story-terminal", 80, nil, `409 {"error":"Jobs of the kind work on no repositories"}`},
		{"logs-change", 0, nil, logs},
		{"logs-follow", 0, []string{"--follow"}, logs},
	} {
		f := newStub(t)
		f.answers["GET /api/jobs/"+jobID+"/transcript"] = transcript
		f.answers["GET /api/jobs/"+jobID+"/logs"] = c.logs
		got := newConsole(t, f.URL).onTerminal(c.columns).run(t, append([]string{"logs", jobID}, c.args...)...)
		if got.code != 0 || got.stderr != "" {
			t.Errorf("%s: exit code %d, says %q", c.name, got.code, got.stderr)
		}
		matches(t, "output/"+c.name, got.stdout)
	}
}

func TestFollowedLogsGoOn(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	first, _, _ := strings.Cut(transcript, "not JSON")
	f.answers["GET /api/jobs/"+jobID] = running
	f.answers["GET /api/jobs/"+jobID+"/transcript"] = first + `{"type":"assistant","mess`
	got := leaveAt(t, f, "← ", "logs", "-f", jobID)
	if got.code != 0 || strings.Contains(got.stdout, "mess") || !strings.Contains(got.stdout, "I look around.") {
		t.Errorf("exit code %d, prints %q", got.code, got.stdout)
	}
}

func TestLogsOfOneVerifier(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	for name, want := range map[string]struct {
		code int
		says string
	}{
		"lint":         {0, "[FAIL] service:lint"},
		"service:test": {0, "[PASS] service:test"},
		"nosuch":       {2, "No verifier is called nosuch; there are: service:test, service:lint"},
		"a b":          {2, "No verifier is called 'a b'"},
	} {
		got := newConsole(t, f.URL).run(t, "logs", jobID, "--verifier", name)
		if got.code != want.code || !strings.Contains(got.stdout+got.stderr, want.says) || strings.Count(got.stdout, "[") > 1 {
			t.Errorf("%s: exit code %d, prints %q, says %q", name, got.code, got.stdout, got.stderr)
		}
	}
}

func TestLogsWhereNothingRan(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs/"+jobID+"/transcript"] = "200 "
	f.answers["GET /api/jobs/"+jobID+"/logs"] = "[]"
	s := newConsole(t, f.URL)
	must.Equal(t, "No turn has printed anything yet.\n", s.run(t, "logs", jobID).stdout)
	must.Equal(t, "No verifier has run.\n", s.run(t, "logs", jobID, "--verifier", "test").stdout)
	for _, args := range [][]string{{"-o", "json"}, {"--verifier", "test"}} {
		s.run(t, append([]string{"logs", jobID, "-f"}, args...)...).exits(t, 2, "", args)
	}
	newConsole(t, "http://127.0.0.1:1").run(t, "logs", jobID, "-f").exits(t, 1, "", "without a server:")
}
