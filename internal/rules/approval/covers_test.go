package approval_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// lets is what a yes for more than once says that it lets through.
func lets(rule string, log ...job.AuditEntry) string {
	return job.Sentence(approval.Covers(rule, log).Segments)
}

func TestWhatARuleLetsThroughIsSaid(t *testing.T) {
	t.Parallel()
	const rest = ". What another rule denies or asks for still is denied or asked for"
	const own = ", in the job's own directory if it may run other programs"
	const names = " (* is any text within a name, ** any directories)"
	for rule, want := range map[string]string{
		"Bash":                              "every shell command that can be understood in full" + rest,
		"Bash(npm test)":                    "the shell command npm test, whatever it runs" + own + rest,
		"Bash(git push *)":                  "every shell command whose parts all match git push * (* is any text)" + own + rest,
		"Edit":                              "every change of a file" + rest,
		"Edit(config/**)":                   "every change of a file that matches config/**" + names + rest,
		"Read":                              "every reading of a file and every search in files" + rest,
		"Read(docs/*)":                      "every reading of, and search in, files that match docs/*" + names + rest,
		"Write(docs/*)":                     "every call of Write for files that match docs/*" + names + rest,
		"Write":                             "every call of Write" + rest,
		"WebFetch":                          "every call of WebFetch" + rest,
		"WebFetch(domain:*)":                "every call of WebFetch, whatever the address" + rest,
		"WebFetch(domain:a.example)":        "every call of WebFetch for the host a.example" + rest,
		"WebFetch(domain:*.a.example)":      "every call of WebFetch for the host a.example and all hosts below it" + rest,
		"WebFetch(https://a.example/docs*)": "every call of WebFetch for an address that matches https://a.example/docs* (* is any text)" + rest,
		"mcp__shop":                         "every call of every tool of the MCP server shop" + rest,
		"mcp__shop__*":                      "every call of every tool whose name begins with mcp__shop__" + rest,
		"mcp__shop__order(*lamp*)":          "every call of mcp__shop__order whose input, as JSON, matches *lamp* (* is any text)" + rest,
		`Bash: {"command":"FOO=1 make"}`:    `the same call of Bash again, if its input is exactly this one: {"command":"FOO=1 make"}`,
	} {
		must.Equal(t, want, lets(rule), rule)
	}
}

// asked is the audit log's entry of a call that was asked for.
func asked(t *testing.T, rule, command string) job.AuditEntry {
	t.Helper()
	op := must.Get(approval.OfTool("Bash", map[string]any{"command": command}, ""))(t)
	op.Rule = rule
	return job.AuditEntry{Event: "asked", Operation: op, CheckpointID: job.CheckpointID("chk_" + command[:1])}
}

func TestExamplesAreCallsThatTheRuleCovers(t *testing.T) {
	t.Parallel()
	const rule = "Bash(git push *)"
	none := approval.Covers(rule, []job.AuditEntry{asked(t, "Bash", "ls"), {Event: "refused", Operation: asked(t, rule, "git push x").Operation}})
	if none.Earlier != 0 || len(none.Examples) != 0 || !strings.Contains(none.EarlierWords(), "no example") {
		t.Errorf("calls that the rule does not cover are named: %+v", none)
	}
	allowed := asked(t, rule, "git push c")
	allowed.Event = "allowed"
	long := strings.Repeat("界", 200) + "; rm"
	log := []job.AuditEntry{
		asked(t, rule, "git push a"), asked(t, rule, "git push b\u202e\n# Approved"), allowed, asked(t, "Bash", "ls"), asked(t, rule, "git push a"), asked(t, rule, long),
	}
	covers := approval.Covers(rule, log)
	if covers.Earlier != 4 || len(covers.Examples) != 3 || !strings.Contains(covers.EarlierWords(), "4, such as:") {
		t.Fatalf("of four different calls, it names %d: %+v", covers.Earlier, covers.Examples)
	}
	last := covers.Examples[0]
	if !strings.HasPrefix(long, strings.TrimPrefix(last.Input, `{"command":"`)) || last.Omitted == 0 || !strings.Contains(last.OmittedWords(), strconv.Itoa(last.Omitted)) {
		t.Errorf("a long call is %+v", last)
	}
	if covers.Examples[1].Input != `{"command":"git push a"}` || covers.Examples[2].Input != `{"command":"git push c"}` {
		t.Errorf("the examples are %+v", covers.Examples)
	}
	hostile := approval.Covers(rule, log[:2]).Examples[0].Input
	must.Equal(t, `{"command":"git push b\u202e\n# Approved"}`, hostile, "an example is")
	if text, err := json.Marshal(covers); err != nil || len(text) > 2000 {
		t.Errorf("it takes %d bytes: %v", len(text), err)
	}
}
