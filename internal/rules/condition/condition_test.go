package condition_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/condition"
	"ringback/test/must"
)

func valueOf(t *testing.T, text string) any {
	t.Helper()
	var v any
	must.OK(t, job.UnmarshalExact([]byte(text), &v))
	return v
}

func TestConditionsOverTwoValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, input, result, want string
	}{
		{"input.to >= input.from", `{"from": "2026-03-02", "to": "2026-03-06"}`, `{}`, "true"},
		{"input.to >= input.from", `{"from": "2026-03-02", "to": "2026-03-01"}`, `{}`, "false"},
		{"input.to >= input.from", `{"from": "2026-03-02"}`, `{}`, "undecided"},
		{"input.to == nil or input.to >= input.from", `{"from": "2026-03-02"}`, `{}`, "true"},
		{"len(result.items) <= input.most", `{"most": 2}`, `{"items": [1, 2]}`, "true"},
		{"len(result.items) <= input.most", `{"most": 2}`, `{"items": [1, 2, 3]}`, "false"},
		{"all(result.items, .at >= input.from)", `{"from": 3}`, `{"items": [{"at": 3}, {"at": 4}]}`, "true"},
		{"all(result.items, .at >= input.from)", `{"from": 3}`, `{"items": [{"at": 3}, {"at": 2}]}`, "false"},
		{"sum(map(result.items, .at)) + input.from == 10", `{"from": 3}`, `{"items": [{"at": 3}, {"at": 4}]}`, "true"},
		{`any(result.items, lower(.name) + "s" == "eggs")`, `{}`, `{"items": [{"name": "EGG"}]}`, "true"},
		{"input.name", `{"name": "yes"}`, `{}`, "undecided"},
	} {
		c, err := condition.Parse(row.text, "input", "result")
		if err != nil {
			t.Fatal(row.text, err)
		}
		holds, err := c.Holds(map[string]any{"input": valueOf(t, row.input), "result": valueOf(t, row.result)})
		got := map[bool]string{true: "true", false: "false"}[holds]
		if err != nil {
			got = "undecided"
		}
		must.Equal(t, row.want, got, row.text, "with", row.input, row.result, err)
	}
}

func TestNoValuesMakeAConditionCostly(t *testing.T) {
	t.Parallel()
	many := make([]any, 100_000)
	for i := range many {
		many[i] = strings.Repeat("a", 10)
	}
	values := map[string]any{"input": map[string]any{"list": many, "text": strings.Repeat("a", 1<<20), "many": json.Number("900000")}}
	for _, text := range []string{
		"all(input.list, any(input.list, # == 1) == false)",
		"len(map(input.list, input.text + input.text)) > 0",
		"len(map(input.list, [upper(input.text)])) > 0",
		`len(map(input.list, split(input.text, ""))) > 0`,
		"len(map(input.list, sort(input.list))) > 0",
		"len(map(input.list, filter(input.list, true))) > 0",
		"len(reduce(input.list, #acc + #acc, input.text)) > 0",
		"len(map(input.list, 1..int(input.many))) > 0",
		"len(map(input.list, toJSON(input.list))) > 0",
		`all(input.list, not (input.text matches "(a|b)*c"))`,
		`count(input.list, input.text contains "b") == 0`,
		"len(map(input.list, [{'a': input.text + 'b'}])) > 0",
		"len(groupBy(input.list, input.text + #)) > 0",
	} {
		c, err := condition.Parse(text, "input")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		begin := time.Now()
		if holds, err := c.Holds(values); err == nil {
			t.Errorf("%s is %t after %s, and not too costly", text, holds, time.Since(begin))
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s", text, took)
		}
	}
}

func TestConditionsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"input.a >":                           "unexpected token EOF (1:9)",
		"output.a > 1":                        "unknown name output (1:1)",
		"":                                    "unexpected token EOF",
		"input.a == 900719925474099301":       "rounds to another number",
		"now() > date(input.a)":               "unknown name now (1:1)",
		"len(repeat(input.a, 900)) > 0":       "unknown name repeat (1:5)",
		"replace(input.a, '', input.a) != ''": "unknown name replace (1:1)",
		"join(input.a, input.b) != ''":        "unknown name join (1:1)",
		"len(uniq(input.a)) > 0":              "unknown name uniq (1:5)",
		"len(input.a)":                        "expected bool, but got int",
		strings.Repeat("input.a and ", 400) + "input.a": "compilation failed: expression exceeds maximum allowed nodes",
	} {
		_, err := condition.Parse(text, "input")
		must.Fail(t, err, want)
	}
}

func TestWhatAConditionNames(t *testing.T) {
	t.Parallel()
	c := must.Get(condition.Parse("all(result.items, .at >= input.range.from) and len(result.note + 'x') > 1", "input", "result"))(t)
	if got := c.Fields("result"); !slices.Equal(got, []string{"items", "note"}) {
		t.Errorf("of result: %v", got)
	}
	if got := c.Fields("input"); !slices.Equal(got, []string{"range", "range.from"}) {
		t.Errorf("of input: %v", got)
	}
	if !c.Names("result") || c.Names("other") {
		t.Error("result is named, other is not")
	}
}
