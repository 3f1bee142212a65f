package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/test/harness"
	"ringback/test/must"
)

// nasty are texts that browsers, HTML or pages of ours change.
var nasty = []string{
	"\u200fשלום\u200e", "a\u00adb", "\ufeffa\ufeff", "\u202ea\u2066b", "a\u200bb\u2060", "a\u2028b\u2029c\u0085d", "\U000e0041x\ufe0f\u3164", "e" + strings.Repeat("\u0301", 9),
	"a\r\nb", "a\rb", "a\nb", "\n\na", "a\n\n", "\r\n", "\n", " a ", "\ta\t", "\u00a0a\u3000", " ", "a\x00b", "\x1b[1ma\x7f\x01", "\ufffd", "a\ufffeb\uffff",
	`"<b>&amp;&#8206;&quot;'`, "</textarea><script>document.title='x'</script>", "<!-- -->", `a" onfocus="x`, "⟨U+202E⟩", `\u202e`, `"a"`, "null", "1.0", "[]", "😀\u200d👩", "", "𝔞ａ①",
}

// nastyForm returns the schema of a form with a field for each nasty text, of each sort that people write into,
// and its values.
func nastyForm(t *testing.T) (schema, values json.RawMessage) {
	t.Helper()
	properties, filled := map[string]any{}, map[string]any{}
	add := func(name string, value any, schema harness.Object) {
		properties[name], filled[name] = schema, value
	}
	for i, text := range nasty {
		add(fmt.Sprintf("line%02d", i), text, harness.Object{"type": "string", "maxLength": 200})
		add(fmt.Sprintf("lines%02d", i), text, harness.Object{"type": "string", "maxLength": 3000})
		add(fmt.Sprintf("choice%02d", i), text, harness.Object{"type": "string", "enum": append([]string{"z"}, nasty...)})
	}
	for i, number := range []string{"1.0", "-0", "1e3", "1E+3", "12345678901234567890.123456789012345678901", "0.10", "9007199254740993", "1e308", "123456789e99"} {
		add(fmt.Sprintf("number%02d", i), json.Number(number), harness.Object{"type": "number"})
	}
	for i, number := range []string{"1.0", "12345678901234567890", "-0", "1e2"} {
		add(fmt.Sprintf("integer%02d", i), json.Number(number), harness.Object{"type": "integer"})
	}
	add("date", "2026-03-02", harness.Object{"type": "string", "format": "date"})
	add("zoned", "2026-03-02T18:00:00.10+01:00", harness.Object{"type": "string", "format": "date-time"})
	add("email", "a@b.example", harness.Object{"type": "string", "format": "email"})
	add("address", "https://a.example/?a=%20b&c=%E2%80%8E", harness.Object{"type": "string", "format": "uri"})
	add("no", false, harness.Object{"type": "boolean"})
	return job.MustJSON(harness.Object{"type": "object", "properties": properties}), job.MustJSON(filled)
}

// exactly reports a difference of two JSON values, in characters or digits.
func exactly(t *testing.T, want, got json.RawMessage, args ...any) {
	t.Helper()
	var left, right any
	must.OK(t, job.UnmarshalExact(want, &left))
	must.OK(t, job.UnmarshalExact(got, &right))
	if diff := cmp.Diff(left, right); diff != "" {
		t.Errorf("%v: -asked about +sent\n%s", args, diff)
	}
}

// What a person does not touch is sent exactly as it was, whatever characters it has: in the answer to a
// question, and in a job that is asked for again, with and without scripts.
func TestWhatIsNotTouchedIsSentAsItWas(t *testing.T) {
	t.Parallel()
	schema, values := nastyForm(t)
	nested := job.MustJSON(harness.Object{"type": "object", "properties": harness.Object{
		"deep": json.RawMessage(schema), "list": harness.Object{"type": "array", "items": harness.Object{"type": []string{"string", "null"}}},
		"days": harness.Object{"type": "array", "uniqueItems": true, "items": harness.Object{"enum": nasty}}, "any": harness.Object{},
		"pay": harness.Object{"oneOf": []any{
			harness.Object{"title": "Card", "required": []string{"number"}, "properties": harness.Object{"number": harness.Object{"type": "string"}}, "additionalProperties": false},
			harness.Object{"title": "Invoice", "required": []string{"days"}, "properties": harness.Object{"days": harness.Object{"type": "integer"}}, "additionalProperties": false},
		}},
	}})
	input := job.MustJSON(harness.Object{
		"deep": json.RawMessage(values), "list": append([]any{nil}, toAny(nasty)...), "days": []string{nasty[3], nasty[0], "a\r\nb"},
		"any": harness.Object{"a\u200eb": json.Number("1.0"), "c": nasty}, "pay": harness.Object{"days": json.Number("30")}, "more": "\u200e",
	})
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{"nasty.md": "---\ndescription: Takes anything\n---\nDo nothing.\n"}), "SCHEMAS_DIR": kinds(t, map[string]string{"nasty.input.json": string(nested)})})
	asked := create(t, s, harness.Object{"kind": "nasty", "userId": "u1", "input": input, "options": harness.Object{"simulate": "manual"}})
	for name, options := range map[string][]action{"with scripts": nil, "without": {noScript()}} {
		s.Want(t, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{
			"sessionId": "s " + name, "userId": "u9", "content": "Is this right?", "messageType": "hitl_checkpoint",
			"props": harness.Object{"checkpoint_type": "form_requirements", "schema": schema, "current_values": values},
		}})
		question := oneOf(t, s)
		b := open(t, s, "/inbox/"+question, options...)
		b.sees("⟨U+202E⟩", `\u202e`)
		b.press("Send")
		b.sees("Answered: ")
		var closed struct {
			Reply struct{ Values json.RawMessage }
		}
		must.OK(t, json.Unmarshal([]byte(harness.Text(t, s.URL+"/api/checkpoints/"+question)), &closed))
		exactly(t, values, closed.Reply.Values, name, "a question")

		b.visit("/jobs/new/nasty?from=" + asked)
		b.press("Start")
		b.sees("What was asked for")
		var again struct{ Input json.RawMessage }
		must.OK(t, json.Unmarshal([]byte(harness.Text(t, s.URL+"/api/jobs/"+b.address()[strings.LastIndexByte(b.address(), '/')+1:])), &again))
		exactly(t, input, again.Input, name, "a job")
	}
}

func toAny(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// oneOf returns the id of the only open question.
func oneOf(t *testing.T, s *harness.Server) string {
	t.Helper()
	open, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints?status=open&userId=u9"})["checkpoints"].([]any)
	must.Equal(t, 1, len(open), "open are")
	id, _ := open[0].(map[string]any)["id"].(string)
	return id
}
