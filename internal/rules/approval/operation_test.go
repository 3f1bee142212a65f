package approval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// inputOf reads an input as a callback brings it.
func inputOf(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var input map[string]any
	must.OK(t, dec.Decode(&input))
	return input
}

func actionWith(t *testing.T, input string) job.Operation {
	t.Helper()
	return must.Get(approval.OfAction("deploy", inputOf(t, input)))(t)
}

// What one yes permits is all that has the same key.
func TestWhichInputsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		one, other string
		same       bool
		because    string
	}{
		{`{"a": 1, "b": 2}`, `{"b":2,"a":1}`, true, "keys have no order"},
		{`{"a": {"c": 1, "b": 2}}`, `{"a":{"b":2,"c":1}}`, true, "keys have no order, however deep"},
		{`{"a": "é"}`, `{"a": "\u00e9"}`, true, "a letter can be written in two ways"},
		{`{"a": "<b>"}`, `{"a": "\u003cb\u003e"}`, true, "a letter can be written in two ways"},
		{`{"a": 3}`, `{"a": 3.0}`, true, "a number can be written in many ways"},
		{`{"a": 100}`, `{"a": 1e2}`, true, "a number can be written in many ways"},
		{`{"a": 0}`, `{"a": -0.0}`, true, "a number can be written in many ways"},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740993.0}`, true, "a number can be written in many ways, however long"},
		{`{"a": 1e400}`, `{"a": 10e399}`, true, "a number can be written in many ways, however large"},

		{`{"a": 1}`, `{"a": 2}`, false, "the value differs"},
		{`{"a": 1}`, `{"b": 1}`, false, "the name differs"},
		{`{"a": 1}`, `{"a": 1, "b": null}`, false, "null is a value"},
		{`{"a": 1}`, `{"a": "1"}`, false, "text is not a number"},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false, "lists have an order"},
		{`{"a": "x"}`, `{"a": "x "}`, false, "a space is a letter"},
		{`{"a": "e\u0301"}`, `{"a": "é"}`, false, "what only looks the same is not"},
		{`{"account": 9007199254740993}`, `{"account": 9007199254740992}`, false, "a double cannot tell these apart, a person can"},
		{`{"a": 0.10000000000000000001}`, `{"a": 0.1}`, false, "a double cannot tell these apart, a person can"},
		{`{"a": 1e400}`, `{"a": 1e401}`, false, "no double holds these, a program may"},
		{`{"a": 1e-400}`, `{"a": 0}`, false, "no double holds this, a program may"},
		{`{"a": 1e99999999999999999999}`, `{"a": 2e99999999999999999999}`, false, "no double holds these, a program may"},
		{`{"a": 9007199254740993}`, `{"a": "9007199254740993"}`, false, "text is not a number, however long"},
		{`{"a": 9007199254740993}`, `{"a": null}`, false, "a long number is not nothing"},
		{`{"a": [9007199254740993, null]}`, `{"a": [null, 9007199254740993]}`, false, "lists have an order"},
		{`{"a": -9007199254740993}`, `{"a": 9007199254740993}`, false, "the sign differs"},
	} {
		t.Run(row.one+" and "+row.other, func(t *testing.T) {
			t.Parallel()
			one, other := approval.Key(actionWith(t, row.one)), approval.Key(actionWith(t, row.other))
			must.Equal(t, row.same, one == other, "the same", row.because)
		})
	}
}

func TestKeyNamesWhatIsDone(t *testing.T) {
	t.Parallel()
	input := inputOf(t, `{"command": "ls"}`)
	action := must.Get(approval.OfAction("Bash", input))(t)
	tool := must.Get(approval.OfTool("Bash", input, ""))(t)
	another := must.Get(approval.OfTool("Write", input, ""))(t)
	keys := []string{approval.Key(action), approval.Key(tool), approval.Key(another)}
	if keys[0] == keys[1] || keys[1] == keys[2] {
		t.Errorf("an action and two tools of one input share a key: %v", keys)
	}
	must.Equal(t, "", approval.Key(job.Operation{}), "nothing has the key")
}

// The digest is in the audit log: others can compute it, too.
func TestDigestIsThatOfTheCanonicalJSON(t *testing.T) {
	t.Parallel()
	op := actionWith(t, `{"size": 3.0, "name": "shop"}`)
	must.Equal(t, job.Digest([]byte(`{"name":"shop","size":3}`)), op.InputDigest)
	must.Equal(t, `{"name":"shop","size":3.0}`, string(op.Input), "the input is shown as")
}

func TestWhichCallsAreForOneDirectory(t *testing.T) {
	t.Parallel()
	for call, depends := range map[string]bool{
		`Bash: {"command": "make"}`: true, `Monitor: {"command": "make"}`: true, `NewTool: {"a": 1}`: true,
		`Read: {"file_path": "/etc/hosts"}`: false, `Read: {"file_path": "notes.md"}`: true, `Grep: {"pattern": "x"}`: true, `Grep: {"pattern": "x", "path": "/work"}`: false,
		`WebFetch: {"url": "https://example.com"}`: false, `mcp__shop__pay: {"amount": 1}`: false,
	} {
		c := must.Get(approval.ParseToolCall(call))(t)
		here, there := must.Get(approval.OfTool(c.Name, c.Input, "sub"))(t), must.Get(approval.OfTool(c.Name, c.Input, ""))(t)
		must.Equal(t, depends, approval.Key(here) != approval.Key(there), call)
		rules := approval.ToolRules{Ask: []string{"*"}, Deny: []string{"Bash(rm *)"}}
		_, elsewhere := verdictOf(rules, c)
		c.Place = "sub"
		_, exact := verdictOf(rules, c)
		if _, known := c.Input["command"]; known { // what it runs cannot be seen
			must.Equal(t, depends, exact != elsewhere, "a yes for always to "+call)
		}
	}
}
