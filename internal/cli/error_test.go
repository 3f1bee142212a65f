package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/internal/cli"
	"ringback/internal/job"
	"ringback/test/must"
)

func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":"Invalid input","details":[{"path":"/input/a","message":"is <required>"}],"hint":"ringback kinds note shows its input schema."}`
	for _, c := range []struct {
		name, line string
		code       int
		want       string
	}{
		{"of the server", "run note -o json", 1, refusal},
		{"of the server, the flag first", "run --output=json note", 1, refusal},
		{"of the command line", "list -o json --status done", 2, `{"error":"--status does not allow done; allowed: pending, running, awaiting_approval, awaiting_input, received, cancelled, rejected, expired, failed"}`},
		{"of a flag, before -o was read", "list --limit many -o json", 2, `{"error":"--limit must be a whole number from 1 to 500, not many","hint":"ringback list --help shows the flags"}`},
		{"of an unknown flag", "list --nope -ojson", 2, `{"error":"unknown flag: --nope","hint":"ringback list --help shows the flags"}`},
		{"of a misspelt flag", "list --statsu failed -ojson", 2, `{"error":"unknown flag: --statsu","hint":"did you mean --status? ringback list --help shows the flags"}`},
		{"of an unknown flag, the format in two words", "list --nope --output json", 2, `{"error":"unknown flag: --nope","hint":"ringback list --help shows the flags"}`},
		{"of no server", "list -o json --server http://127.0.0.1:1", 1, `{"error":"No server is running at http://127.0.0.1:1","hint":"Start one with: ringback serve. Is the address right? It comes from --server or RINGBACK_URL."}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["POST /api/jobs"] = `400 {"error":"Invalid input","details":[{"path":"/input/a","message":"is <required>"}],"hint":"GET /api/kinds/note shows its input schema."}`
			got := newConsole(t, f.URL).run(t, strings.Fields(c.line)...)
			got.exits(t, c.code, "")
			must.Equal(t, c.want+"\n", got.stderr)
			must.Equal(t, "", got.stdout)
			if !json.Valid([]byte(got.stderr)) {
				t.Error("this is no JSON")
			}
		})
	}
}

// The record of a job that ended without a result explains why; no error is added.
func TestNoErrorBesideARecord(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs/"+jobID] = expired
	got := newConsole(t, f.URL).run(t, "run", "note", "-o", "json")
	if got.code != 1 || strings.Contains(got.stderr, "error") || !json.Valid([]byte(got.stdout)) {
		t.Errorf("exit code %d, prints %q, says %q", got.code, got.stdout, got.stderr)
	}
}

// Every hint in the server's source is rewritten as commands.
func TestHintsNameCommands(t *testing.T) {
	t.Parallel()
	found := 0
	endpoint := regexp.MustCompile(`(?:GET|POST|DELETE) /[^\s"]*`)
	for _, hint := range serverHints(t) {
		var out strings.Builder
		cli.PrintError(&out, job.Errorf(job.Invalid, "x").WithHint("%s", hint))
		if endpoint.MatchString(hint) {
			found++
		}
		if endpoint.MatchString(out.String()) || strings.Contains(out.String(), "/api/") {
			t.Errorf("%q is told as %q", hint, out.String())
		}
	}
	if found < 3 {
		t.Errorf("only %d hints with endpoints were found: is the pattern still right?", found)
	}
}

// serverHints returns the hints in the server's source.
func serverHints(t *testing.T) []string {
	t.Helper()
	files := slices.Concat(must.Get(filepath.Glob("../*/*.go"))(t), must.Get(filepath.Glob("../*/*/*.go"))(t))
	pattern := regexp.MustCompile("(?s)WithHint\\(\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|`([^`]*)`)")
	var hints []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "../web/callback/") || strings.HasPrefix(file, "../cli/") {
			continue // responses to callbacks are for Claude
		}
		text, err := os.ReadFile(file)
		must.OK(t, err)
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			if hint := match[1] + match[2]; !strings.Contains(hint, "/files lists") { // no command fetches files
				hints = append(hints, hint)
			}
		}
	}
	return hints
}

func TestHintsInCommands(t *testing.T) {
	t.Parallel()
	for hint, want := range map[string]string{
		"GET /api/jobs lists the jobs there are.":                                      "ringback list lists the jobs there are.",
		"GET /api/checkpoints?status=open lists those that wait.":                      "ringback inbox lists those that wait.",
		"See GET /api/jobs/req_1/diff?file=a.go&from=1000.":                            "See ringback diff req_1.",
		"POST /api/jobs/:id/approve, or GET /api/jobs/:id/events":                      "ringback approve <id>, or ringback watch <id>",
		"GET /api/jobs/req_1":                                                          "ringback status req_1",
		"Try GET /api/sessions/s1/messages or POST /to-llm":                            "Try ringback messages s1 or ringback say",
		"Select one with ?userId=.":                                                    "Select one with --user.",
		"GET /readyz tells more":                                                       "GET /readyz tells more",
		`Only jobs created with "options": {"simulate": "manual"} are played by hand.`: "Only jobs created with --simulate manual are played by hand.",
		"Send Authorization: Bearer with an API key or a user's token; WebSockets may pass the token as ?token=.": "Give an API key or a user's token as RINGBACK_TOKEN or with --token.",
	} {
		var out strings.Builder
		cli.PrintError(&out, job.Errorf(job.Invalid, "x").WithHint("%s", hint))
		must.Equal(t, want+"\n", strings.TrimPrefix(out.String(), "Error: x\n"), hint)
	}
}

func TestHelpNamesNoGoTypes(t *testing.T) {
	t.Parallel()
	s := newConsole(t, newStub(t).URL)
	for _, command := range []string{
		"run", "status", "watch", "list", "cancel", "interrupt", "retry", "move", "kinds", "callback", "inbox", "reply", "messages", "say", "diff", "logs",
		"steer", "approve", "reject", "audit", "approvals", "revoke", "transcript",
	} {
		got := s.run(t, command, "--help")
		if match := regexp.MustCompile(`(?m)^.*--\S+ (string|stringArray|strings|int|int64|duration) .*$`).FindString(got.stdout); match != "" || got.code != 0 {
			t.Errorf("%s --help: exit code %d, %q", command, got.code, match)
		}
	}
}
