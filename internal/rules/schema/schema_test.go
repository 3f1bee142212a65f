package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
	"ringback/test/must"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("decoding %.100s: %v", text, err)
	}
	return v
}

func newSchema(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.New("test.json", []byte(text))
	must.OK(t, err)
	return s
}

func TestValidateSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	one := func(path, message string) []job.Detail { return []job.Detail{{Path: path, Message: message}} }
	for _, tc := range []struct {
		name, schema, value string
		want                []job.Detail
	}{
		{"valid", `{"type":"object"}`, `{}`, nil},
		{
			"missing", `{"properties":{"date":{"type":"string","format":"date"}},"required":["date"]}`, `{}`,
			one("/date", `is required but missing; expected a string (format date, such as 2026-01-31)`),
		},
		{
			"missing behind a reference", `{"$defs":{"R":{"type":"object","required":["name"]}},"properties":{"r":{"$ref":"#/$defs/R"}},"required":["r"]}`, `{}`,
			one("/r", `is required but missing; expected an object with name`),
		},
		{
			"missing with an anchor", `{"$defs":{"R":{"$anchor":"r","type":"integer"}},"properties":{"r":{"$ref":"#r"}},"required":["r"]}`, `{}`,
			one("/r", `is required but missing; expected an integer`),
		},
		{
			"enum", `{"enum":["breakfast","lunch","dinner","snack"]}`, `"brunch"`,
			one("", `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`),
		},
		{"const", `{"const":true}`, `false`, one("", `found false; allowed: true`)},
		{"type", `{"type":"string"}`, `5`, one("", `found the number 5; expected a string`)},
		{"type number as text", `{"type":"integer"}`, `"5"`, one("", `found the string "5"; expected an integer`)},
		{"type fraction", `{"type":"integer"}`, `2.5`, one("", `found the number 2.5; expected an integer`)},
		{"type nullable", `{"type":["boolean","null"]}`, `[1]`, one("", `found the array [1]; expected a boolean or null`)},
		{"type null", `{"type":"string"}`, `null`, one("", `found null; expected a string`)},
		{
			"unknown field", `{"properties":{"date":{},"mealType":{},"recipe":{},"accepted":{"readOnly":true}},"additionalProperties":false}`, `{"dat":1}`,
			one("/dat", `is not a known field; did you mean date? allowed: date, mealType, recipe`),
		},
		{"no fields", `{"additionalProperties":false}`, `{"a":1}`, one("/a", `is not a known field; no fields are allowed here`)},
		{
			"unknown beside patterns", `{"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"x-a":1,"b":1}`,
			one("/b", `is not a known field; no fields are allowed here`),
		},
		{
			"unevaluated", `{"allOf":[{"properties":{"a":{}}}],"properties":{"b":{}},"unevaluatedProperties":false}`, `{"c":1}`,
			one("/c", `is not a known field; allowed: a, b`),
		},
		{"minimum", `{"minimum":1,"maximum":50}`, `0`, one("", `found the number 0; expected at least 1 and at most 50`)},
		{"exclusive", `{"exclusiveMinimum":0}`, `0`, one("", `found the number 0; expected more than 0`)},
		{"multiple", `{"multipleOf":5}`, `7`, one("", `found the number 7; expected a multiple of 5`)},
		{"minItems", `{"minItems":1,"maxItems":3}`, `[]`, one("", `found 0 items; expected at least 1 and at most 3`)},
		{"maxLength", `{"maxLength":3}`, `"Käse"`, one("", `found 4 characters; expected at most 3`)},
		{"minProperties", `{"minProperties":2}`, `{"a":1}`, one("", `found 1 field; expected at least 2`)},
		{"pattern", `{"pattern":"^a+$"}`, `"b"`, one("", `found the string "b"; expected text that matches ^a+$`)},
		{"pattern with an example", `{"pattern":"^a+$","examples":["aa"]}`, `"b"`, one("", `found the string "b"; expected text that matches ^a+$, such as "aa"`)},
		{"format", `{"format":"date"}`, `"2026-13-01"`, one("", `found the string "2026-13-01"; expected the format date, such as 2026-01-31`)},
		{"unique", `{"uniqueItems":true}`, `["a","b","a"]`, one("", `items at index 0 and 2 are equal; every item must be different`)},
		{"not", `{"not":{"const":"x"}}`, `"x"`, one("", `found the string "x", which is not allowed here: "x"`)},
		{"contains", `{"contains":{"const":1}}`, `[2,3]`, one("", `found 2 items; expected at least 1 that are 1`)},
		{"false schema", `{"properties":{"a":false}}`, `{"a":1}`, one("/a", `found the number 1; nothing is allowed here: leave it out`)},
		{
			"field names", `{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`,
			one("/b", `found the name "b"; expected text that matches ^a`),
		},
		{
			"dependent", `{"dependentRequired":{"amount":["unit"]},"properties":{"unit":{"type":"string"}}}`, `{"amount":1}`,
			one("/unit", `is required together with amount but missing; expected a string`),
		},
		{
			"anyOf by type", `{"anyOf":[{"type":"null"},{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}]}`, `{"n":"x"}`,
			one("/n", `found the string "x"; expected an integer`),
		},
		{"anyOf none", `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `true`, one("", `found true; expected a string or an integer`)},
		{
			"oneOf by constant",
			`{"oneOf":[{"properties":{"t":{"const":"a"}},"required":["t"]},{"properties":{"t":{"const":"b"},"s":{"type":"string"}},"required":["t","s"]}]}`,
			`{"t":"b"}`,
			one("/s", `is required but missing; expected a string`),
		},
		{
			"oneOf unclear",
			`{"oneOf":[{"properties":{"t":{"const":"a"}},"required":["t"]},{"properties":{"t":{"const":"b"}},"required":["t"]}]}`,
			`{"t":"c"}`,
			one("", `found the object {"t":"c"}; expected an object with t "a" or an object with t "b"`),
		},
		{"oneOf both", `{"oneOf":[{"minimum":1},{"minimum":2}]}`, `3`, one("", `found the number 3, which fits more than one of the allowed forms; it must fit exactly one`)},
		{
			"field called like a keyword", `{"properties":{"anyOf":{"type":"object","required":["x"],"minProperties":1}}}`, `{"anyOf":{}}`,
			[]job.Detail{{Path: "/anyOf", Message: `found 0 fields; expected at least 1`}, {Path: "/anyOf/x", Message: `is required but missing; expected a value`}},
		},
		{"pointer is escaped", `{"properties":{"a/b ~c%":{"type":"string"}}}`, `{"a/b ~c%":5}`, one("/a~1b ~0c%", `found the number 5; expected a string`)},
		{
			"items by number", `{"items":{"type":"string"}}`, `["a",1,"b","c","d","e","f","g","h","i",2]`,
			[]job.Detail{{Path: "/1", Message: `found the number 1; expected a string`}, {Path: "/10", Message: `found the number 2; expected a string`}},
		},
		{
			"told once", `{"allOf":[{"type":"string"},{"type":"string"}]}`, `1`,
			one("", `found the number 1; expected a string`),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := newSchema(t, tc.schema).Validate(decode(t, tc.value))
			must.Equal(t, tc.want, got)
		})
	}
}

func TestValidateShortensWhatItFound(t *testing.T) {
	t.Parallel()
	got := newSchema(t, `{"type":"integer"}`).Validate(strings.Repeat("ä", 5000))
	want := `found the string "` + strings.Repeat("ä", 79) + `…"; expected an integer`
	if len(got) != 1 || got[0].Message != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestValidateTellsTheFirstTwentyInTheSameOrder(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{"additionalProperties":false,"patternProperties":{"^n":{"type":"string"},"1$":{"maxLength":0}}}`)
	object := map[string]any{}
	for i := range 30 {
		object[fmt.Sprintf("n%d", i)] = json.Number("1")
		object[fmt.Sprintf("u%d", i)] = true
	}
	first := s.Validate(object)
	must.Equal(t, schema.MaxDetails, len(first), "details")
	for range 20 {
		must.Equal(t, first, s.Validate(object))
	}
}

// A number such as 1e9999999 makes the schema library fail, and 1e1000000 makes it compute
// for as long as the sender likes.
func TestValidateRefusesNumbersNobodyCanRead(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{"type":"object","properties":{"n":{"type":"array","items":{"type":"integer","minimum":0}}}}`)
	for _, number := range []string{"1e9999999", "1e1000000", "-1E+999", "1e-1000000", "1e99999999999999999999", strings.Repeat("9", 100)} {
		value := `{"n":[1,` + strings.TrimSuffix(strings.Repeat(number+",", 1000), ",") + `]}`
		begin := time.Now()
		got := s.Validate(decode(t, value))
		if len(got) != schema.MaxDetails || got[0].Path != "/n/1" || !strings.Contains(got[0].Message, "64-bit float") {
			t.Errorf("%.20s: got %.200v", number, got)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%.20s: took %s", number, took)
		}
	}
	for _, number := range []string{"0", "-1.5", "1e3", "9007199254740993", "1.7976931348623157e308", "1e-300"} {
		must.Equal(t, nil, newSchema(t, `{"type":"number"}`).Validate(decode(t, number)), number)
	}
}

func TestValidateTellsAHugeArrayByItsLength(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{"$defs":{"L":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"string"}}},"properties":{"list":{"$ref":"#/$defs/L"}},"required":["why"]}`)
	huge := decode(t, `{"list":[`+strings.TrimSuffix(strings.Repeat("1,", 500_000), ",")+`]}`)
	want := []job.Detail{{Path: "/list", Message: "found 500000 items; expected at least 1 and at most 100"}}
	must.Equal(t, want, s.Validate(huge))
	little := decode(t, `{"list":["a"`+strings.Repeat(`,"a"`, 100)+`]}`)
	must.Equal(t, 2, len(s.Validate(little)), "with one item too many, not all is told")
}

func TestValidateManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{"properties":{"list":{"type":"array","items":{"type":"object","required":["a"],"properties":{"b":{"readOnly":true,"default":null}}}}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				items, _ := s.Items("list")
				must.Equal(t, 1, len(items.Validate(map[string]any{})), "details")
				s.ApplyDefaults(map[string]any{"list": []any{map[string]any{}}})
				s.ForClaude()
			}
		})
	}
	wg.Wait()
}

func TestItems(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{
		"properties": {"list": {"$ref": "#/$defs/List"}, "plain": {"type": "string"}},
		"$defs": {
			"List": {"type": "array", "minItems": 3, "items": {"$ref": "#/$defs/Item"}},
			"Item": {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/N"}, "own": {"readOnly": true, "default": 7}}},
			"N": {"type": "integer"}
		}
	}`)
	items, ok := s.Items("list")
	if !ok {
		t.Fatal("the array was not found")
	}
	want := []job.Detail{{Path: "/n", Message: "is required but missing; expected an integer"}}
	must.Equal(t, want, items.Validate(map[string]any{}))
	must.Equal(t, any(map[string]any{"own": json.Number("7")}), items.ApplyDefaults(map[string]any{}))
	for _, name := range []string{"plain", "absent"} {
		if _, ok := s.Items(name); ok {
			t.Errorf("%s is no array", name)
		}
	}
}

func TestNewSchemaRefusesWithTheLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"empty", " \n", `x.json:1: is empty`},
		{"syntax", "{\n\"type\": \"object\",\n}", `x.json:3: is not valid JSON: invalid character '}'`},
		{"cut off", "{\n\"type\":\n", `x.json:3: is not valid JSON`},
		{"something after it", "{}\n{}", `x.json:2: is not valid JSON`},
		{"no object", "[]", `x.json:1: is not a JSON Schema: found the array []; expected an object`},
		{"twice", "{\n\"type\": \"object\",\n\"type\": \"array\"\n}", `x.json:3: "type" is in the same object twice`},
		{"unknown type", "{\n\"properties\": {\n\"a\": {\n\"type\": \"strin\"\n}}}", `x.json:4: is not a JSON Schema: at /properties/a/type: value must be one of "array"`},
		{"misspelt type", "{\"properties\": {\"a\": {\"type\": \"sting\"}}}", `x.json:1: is not a JSON Schema: at /properties/a/type: value must be one of "array", "boolean", "integer", "null", "number", "object", "string", or expected array, but got string (Found the string "sting". Did you mean "string"?)`},
		{"bad pattern", "{\n\n\"pattern\": \"(\"}", `x.json:3: is not a JSON Schema: at /pattern`},
		{"old draft", "{\n\"$schema\": \"http://json-schema.org/draft-07/schema#\"}", `x.json:2: $schema is "http://json-schema.org/draft-07/schema#"; only draft 2020-12 is understood`},
		{"nowhere", "{\n\"$ref\": \"#/$defs/No\"}", `x.json:2: $ref "#/$defs/No" cannot be resolved`},
		{"http", "{\n\"items\": {\n\"$ref\": \"http://127.0.0.1:1/a.json\"}}", `x.json:3: $ref "http://127.0.0.1:1/a.json" refers to another file`},
		{"file", "{\n\"$ref\": \"file:///etc/hostname\"}", `x.json:2: $ref "file:///etc/hostname" refers to another file`},
		{"neighbour", "{\n\"$ref\": \"other.json#/a\"}", `x.json:2: $ref "other.json#/a" refers to another file`},
		{"circle", `{"$ref":"#"}`, `x.json:1: is not a usable JSON Schema: infinite loop`},
		{"its own $id, nowhere", "{\n\"$id\": \"https://example.com/x\",\n\"$ref\": \"https://example.com/x#/$defs/No\"}", `x.json:3: $ref "https://example.com/x#/$defs/No" cannot be resolved`},
		{"what Claude is not shown", "{\"properties\": {\n\"a\": {\"readOnly\": true},\n\"b\": {\"items\": {\"$ref\": \"#/properties/a\"}}}}", `x.json:3: $ref "#/properties/a" cannot be resolved (Claude is not shown`},
		{"dynamic", `{"$dynamicRef":"http://127.0.0.1:1/a.json"}`, `x.json:1: is not a usable JSON Schema: http://127.0.0.1:1/a.json is outside of this file`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.New("x.json", []byte(tc.text))
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestNewSchemaAllowsReferencesToItself(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"pointer":        `{"$defs":{"a b":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a%20b"}}}`,
		"anchor":         `{"$defs":{"a":{"$anchor":"it","type":"string"}},"properties":{"x":{"$ref":"#it"}}}`,
		"embedded $id":   `{"$defs":{"a":{"$id":"https://example.com/a","type":"string"}},"properties":{"x":{"$ref":"https://example.com/a"}}}`,
		"its own $id":    `{"$id":"https://example.com/x","$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"https://example.com/x#/$defs/a"}}}`,
		"recursive":      `{"properties":{"x":{"type":"string"},"child":{"$ref":"#"}}}`,
		"data with $ref": `{"properties":{"x":{"type":"string"}},"examples":[{"$ref":"http://example.com"}]}`,
	} {
		got := newSchema(t, text).Validate(map[string]any{"x": true})
		want := []job.Detail{{Path: "/x", Message: "found true; expected a string"}}
		must.Equal(t, want, got, name)
	}
}
