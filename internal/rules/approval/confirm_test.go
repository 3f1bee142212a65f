package approval_test

import (
	"encoding/json"
	"slices"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

func TestWhenAnActionMustBeConfirmed(t *testing.T) {
	t.Parallel()
	const large, live = "when: input.amount > 100", `when: input.mode == "live"`
	for _, row := range []struct {
		confirm, input string
		want           bool
		because        string
	}{
		{"always", `{}`, true, "it always is"},
		{"never", `{}`, false, "it never is"},
		{large, `{"amount": 101}`, true, "the condition holds"},
		{large, `{"amount": 100.5}`, true, "the condition holds"},
		{large, `{"amount": 1e3}`, true, "the condition holds"},
		{large, `{"amount": 100}`, false, "the condition does not hold"},
		{large, `{}`, true, "a field that is missing decides nothing"},
		{large, `{"amount": null}`, true, "a field that is null decides nothing"},
		{large, `{"amount": "5"}`, true, "a field of another type decides nothing"},
		{large, `{"amount": 1e999}`, true, "a number out of range decides nothing"},
		{`when: input.to not in ["staging"]`, `{"to": "production"}`, true, "the condition holds"},
		{`when: input.to not in ["staging"]`, `{"to": "staging"}`, false, "the condition does not hold"},
		{"when: len(input.files) > 1", `{"files": ["a", "b"]}`, true, "the condition holds"},
		{"when: input.urgent", `{"urgent": true}`, true, "the condition holds"},
		{"when: input.urgent", `{"urgent": false}`, false, "the condition does not hold"},
		{"when: input.urgent", `{"urgent": "no"}`, true, "a field of another type decides nothing"},
		{"when: input.a.b == 1", `{"a": {"b": 1}}`, true, "the condition holds, however deep the field"},
		{"when: input.a.b == 1", `{"a": {"b": 2}}`, false, "the condition does not hold"},
		{live, `{"mode": "dry"}`, false, "the condition does not hold"},
		{live, `{}`, true, "a field that is missing does not equal anything"},
		{live, `{"mode": null}`, true, "a field that is null does not equal anything"},
		{"when: input.a.b == 1", `{"a": {}}`, true, "a field is missing below another"},
		{"when: input.a.b == 1", `{"a": "b"}`, true, "a field is missing below a text"},
		{"when: input?.a?.b == 1", `{}`, true, "a field is missing, though the condition says that it may be"},
		{`when: (input.mode ?? "dry") == "live"`, `{}`, true, "a field is missing, though the condition replaces it"},
		{`when: input.sum > 9 or input.mode == "live"`, `{"sum": 1}`, true, "one of the fields is missing"},
		{`when: input.sum > 9 and input.mode == "live"`, `{"sum": 1}`, true, "a field is missing, though the other one decides"},
		{`when: input.mode matches "^l"`, `{}`, true, "a field that is missing matches nothing"},
		{`when: input.mode in ["live"]`, `{}`, true, "a field that is missing is in no list"},
		{`when: "admin" in input.groups`, `{}`, true, "a list that is missing contains nothing"},
		{"when: any(input.items, .vip == true)", `{"items": [{"vip": false}]}`, false, "the condition does not hold"},
		{"when: any(input.items, .vip == true)", `{"items": [{"vip": false}, {}]}`, true, "an item lacks the field"},
		{"when: count(input.items, #.vip == true) > 0", `{"items": [{"vip": null}]}`, true, "the field of an item is null"},
		{`when: len(filter(input.items, .a.b == "x")) > 0`, `{"items": [{"a": {}}]}`, true, "an item lacks the field below another"},
		{`when: input.items[0].vip == true`, `{"items": [{}]}`, true, "the item lacks the field"},
		{`when: get(input, "mode") == "live"`, `{}`, true, "a field is missing, however it is read"},
		{`when: (input | get("mode")) == "live"`, `{}`, true, "a field is missing, however it is read"},
		{`when: input["mo" + "de"] == "live"`, `{}`, true, "a field is missing, however it is named"},
		{`when: let i = input; i.mode == "live"`, `{}`, true, "a field is missing, whatever the variable"},
		{`when: $env["input"].mode == "live"`, `{}`, true, "a field is missing, whatever the variable"},
	} {
		t.Run(row.confirm+" of "+row.input, func(t *testing.T) {
			t.Parallel()
			confirm := must.Get(approval.ParseConfirm(row.confirm))(t)
			must.Equal(t, row.want, confirm.Asks(inputOf(t, row.input)), row.because)
		})
	}
	must.Equal(t, true, (approval.Confirm{}).Asks(nil), "where nothing is said, a person is asked")
}

func TestConditionsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sometimes":                              `found "sometimes"; allowed: always, never, "when: <expression over input>"`,
		"when: input.amount >":                   "unexpected token EOF (1:14)",
		"when: output.amount > 100":              "unknown name output (1:1)",
		"when:":                                  "unexpected token EOF",
		"when: input.amount != 9007199254740993": "found 9007199254740993, which a 64-bit float rounds to another number; expected one of at most 9007199254740992",
		"when: input.amount in [1, 1234567890123456789]": "found 1234567890123456789, which a 64-bit float rounds to another number; expected one of at most 9007199254740992",
		"when: not (input.a.b > -9007199254740993)":      "found 9007199254740993, which a 64-bit float rounds to another number; expected one of at most 9007199254740992",
	} {
		if _, err := approval.ParseConfirm(text); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, want %s", text, err, want)
		}
	}
}

func TestFieldsThatAConditionNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"always":                         nil,
		"never":                          nil,
		"when: input.amount > 100":       {"amount"},
		"when: input.a.b > input?.c":     {"a", "a.b", "c"},
		`when: input["a"].b == 1`:        {"a", "a.b"},
		"when: len(input.files) > 1":     {"files"},
		`when: "input.amount" == "else"`: nil,
	} {
		confirm := must.Get(approval.ParseConfirm(text))(t)
		got := slices.Sorted(slices.Values(confirm.Fields()))
		if !slices.Equal(got, want) {
			t.Errorf("%s names %v, want %v", text, got, want)
		}
	}
}

// A number that a float would round is not compared as the one that it would be rounded
// to: a person is asked.
func TestConditionsDoNotRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition, amount string
		want              bool
	}{
		{"input.amount > 100", "100", false},
		{"input.amount > 100", "100.0", false},
		{"input.amount > 100", "1e2", false},
		{"input.amount > 100", "-0", false},
		{"input.amount > 100", "99.5", false},
		{"input.amount > 100", "100.1", true},
		{"input.amount > 100", "100.00000000000000000001", true},
		{"input.amount in [5, 7]", "5", true},
		{"input.amount in [5, 7]", "5.0", true},
		{"input.amount in 1..7", "5", true},
		{"input.amount not in [5, 7]", "5.000000000000000000001", true},
		{"input.amount > 1234567890123456800", "1234567890123456801", true},
		{"input.amount > 9007199254740992", "9007199254740993", true},
		{"input.amount > 9007199254740992", "9007199254740992.5", true},
		{"input.amount == 9007199254740992", "9007199254740993", true},
		{"input.amount != 9007199254740992", "9007199254740993", true},
		{"not (input.amount == 9007199254740992)", "9007199254740993", true},
		{"input.amount > 100", "1e400", true},
		{"input.amount > 100", "-1e400", true},
		{"input.amount < 0.1", "0.09999999999999999999999", true},
	} {
		confirm := must.Get(approval.ParseConfirm("when: " + c.condition))(t)
		must.Equal(t, c.want, confirm.Asks(map[string]any{"amount": json.Number(c.amount)}), c.condition, c.amount)
	}
}
