package form_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/web/console/form"
	"ringback/test/must"
)

const everything = `{
	"type": "object", "required": ["name", "addresses", "payment"],
	"properties": {
		"name": {"type": "string", "title": "Your name", "maxLength": 50},
		"age": {"type": "integer", "minimum": 0},
		"big": {"type": "number"},
		"agree": {"type": "boolean"},
		"size": {"enum": ["s", "m", 3]},
		"days": {"type": "array", "uniqueItems": true, "items": {"enum": ["mon", "tue", "wed"]}},
		"addresses": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/Address"}},
		"payment": {"oneOf": [
			{"title": "Card", "type": "object", "required": ["type", "number"], "properties": {"type": {"const": "card"}, "number": {"type": "string"}}},
			{"title": "Invoice", "type": "object", "required": ["type", "days"], "properties": {"type": {"const": "invoice"}, "days": {"type": "integer"}}}
		]},
		"color": {"oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
		"note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
		"when": {"type": ["string", "null"], "format": "date"},
		"free": {}
	},
	"$defs": {"Address": {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}, "a/b~c": {"type": "string"}}}}
}`

func parse(t *testing.T, schema string) *form.Schema {
	t.Helper()
	return must.Get(form.Parse(json.RawMessage(schema)))(t)
}

func TestWhatIsFilledInBecomesJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values string
		want   string
	}{
		"nothing": {"", `{"addresses":[{}],"payment":{"type":"card"}}`},
		"all of it": {
			"v/name=Ada&v/age=036&v/big=12345678901234567890.10&v/agree=false&v/size=3&v/days=mon&v/days=wed&n/addresses=2&v/addresses/0/street=A&v/addresses/1/street=B&v/addresses/1/a~1b~0c=C" +
				"&u/payment=1&v/payment/days=30&v/color=g&v/note=hi%0D%0Athere&v/when=2026-03-02&v/free=[1,+2.50]",
			`{"name":"Ada","age":"036","big":12345678901234567890.10,"agree":false,"size":3,"days":["mon","wed"],"addresses":[{"street":"A"},{"street":"B","a/b~c":"C"}],` +
				`"payment":{"type":"invoice","days":30},"color":"g","note":"hi\nthere","when":"2026-03-02","free":[1, 2.50]}`,
		},
		"what is no value of the schema": {"v/size=x&v/age=many&u/payment=7&v/agree=perhaps", `{"age":"many","agree":"perhaps","size":"x","addresses":[{}],"payment":{"type":"card"}}`},
		"what is not asked for":          {"v/other=1&v=2&n/name=3", `{"addresses":[{}],"payment":{"type":"card"}}`},
		"more rows than there can be":    {"n/addresses=999999999", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := must.Get(url.ParseQuery(c.values))(t)
			text, faults := parse(t, everything).Decode(values)
			if len(faults) > 0 || !json.Valid(text) {
				t.Fatalf("%s, faults %v", text, faults)
			}
			if c.want != "" && string(text) != c.want {
				t.Errorf("it is %s\nwant  %s", text, c.want)
			}
		})
	}
}

func TestWhatIsNoJSONIsAFaultOfItsField(t *testing.T) {
	t.Parallel()
	_, faults := parse(t, everything).Decode(url.Values{"v/free": {"{1"}})
	if len(faults) != 1 || faults[0].Path != "/free" {
		t.Errorf("the faults are %v", faults)
	}
}

// same reports whether two texts are the same JSON value, with all digits.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	var left, right any
	must.OK(t, job.UnmarshalExact([]byte(a), &left), a)
	must.OK(t, job.UnmarshalExact([]byte(b), &right), b)
	return cmp.Equal(left, right)
}

// A value that is filled in is sent back exactly, in the controls of its fields, or as JSON where they
// cannot hold it.
func TestAFilledInValueIsSentBackExactly(t *testing.T) {
	t.Parallel()
	const rest, card = `"name":"Ada","addresses":[{"street":"x"}]`, `,"payment":{"type":"card","number":"1"}`
	for name, c := range map[string]struct {
		value  string
		asJSON string // the names of the controls with JSON in place of others
	}{
		"what all controls show": {`{"name":"Ada","age":36,"big":12345678901234567890.10,"agree":true,"size":3,"days":["tue"],"addresses":[{"street":"A","a/b~c":"x"},{"street":"B"}]` +
			card + `,"color":"r","note":"n","when":"2026-03-02","free":[1]}`, "j/free"},
		"another branch than the first":        {`{` + rest + `,"payment":{"type":"invoice","days":3}}`, ""},
		"a field that no schema names":         {`{` + rest + card + `,"locale":"de"}`, "j"},
		"such a field further in":              {`{"name":"Ada","addresses":[{"street":"x","zip":7},{"street":"y"}]` + card + `}`, "j/addresses/0"},
		"a choice without its required field":  {`{` + rest + `,"payment":{"number":"1"}}`, "j/payment"},
		"empty values":                         {`{"name":"","addresses":[{}],"note":null,"days":[],"free":{}` + card + `}`, ""},
		"an empty row":                         {`{"name":"Ada","addresses":[{"street":""},{"street":"b"}]` + card + `}`, ""},
		"an empty list that must not be":       {`{"name":"Ada","addresses":[]` + card + `}`, "j/addresses"},
		"a number with all of its digits":      {`{` + rest + card + `,"big":10000000000000000001}`, ""},
		"numbers in other forms":               {`{` + rest + card + `,"age":1.0,"big":-1.5E+9}`, ""},
		"a number that no browser keeps":       {`{` + rest + card + `,"big":1e400}`, ""},
		"a text that looks like a number":      {`{` + rest + card + `,"age":"36"}`, "j/age"},
		"a text where the schema has none":     {`{` + rest + card + `,"age":"old"}`, ""},
		"a number where the schema has a text": {`{"name":7,"addresses":[{"street":"x"}]` + card + `}`, "j/name"},
		"a list where the schema has a text":   {`{"name":["a"],"addresses":[{"street":"x"}]` + card + `}`, "j/name"},
		"a value that is not in the list":      {`{` + rest + card + `,"size":"xl","agree":"perhaps"}`, ""},
		"a text that looks like a listed one":  {`{` + rest + card + `,"size":"3"}`, "j/size"},
		"choices in another order":             {`{` + rest + card + `,"days":["wed","mon"]}`, ""},
		"a choice made twice":                  {`{` + rest + card + `,"days":["mon","mon"]}`, "j/days"},
		"a date that no browser keeps":         {`{` + rest + card + `,"when":"2026-02-30"}`, ""},
		"lines":                                {`{"name":"a\nb ","addresses":[{"street":"\n x"}],"note":"\n\n"` + card + `}`, ""},
		"carriage returns":                     {`{"name":"a\r\nb","addresses":[{"street":"a\rb"}]` + card + `}`, "j/addresses/0/street j/name"},
		"control characters":                   {`{"name":"a\u0000","addresses":[{"street":"\u001b\u0085"}]` + card + `}`, "j/name"},
		"what cannot be seen":                  {`{"name":"\u200e\u202ea\u00ad\ufeff\u2028","addresses":[{"street":"\ufffd \u00a0"}]` + card + `}`, ""},
		"a list of more rows than a form has":  {`{"name":"Ada","addresses":[` + strings.Repeat(`{"street":"x"},`, 300) + `{}]` + card + `}`, "j/addresses"},
		"a form that is a text":                {`"x"`, "j"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, everything)
			values := s.Fill(json.RawMessage(c.value))
			asJSON := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool { return name[0] != 'j' })
			must.Equal(t, c.asJSON, strings.Join(asJSON, " "), "shown as JSON are")
			text, faults := s.Decode(values)
			if !same(t, c.value, string(text)) || len(faults) > 0 {
				t.Errorf("it is sent back as %s, faults %v", text, faults)
			}
		})
	}
	must.Equal(t, 0, len(parse(t, everything).Fill(nil)), "of no value, the form has")
}

// A default is filled in where the form is new, and so it is sent. It is not where its object need not be
// sent, and not among the values of an earlier job.
func TestDefaultsAreFilledIn(t *testing.T) {
	t.Parallel()
	s := parse(t, `{"required":["trip"],"properties":{
		"size":{"enum":["s","m"],"default":"m"},"nights":{"type":"integer","default":2},"sound":{"type":"boolean","default":false},"note":{"type":"string","default":"a\r\n\u200eb"},
		"days":{"type":"array","uniqueItems":true,"items":{"enum":["mon","tue"]},"default":["tue"]},"tags":{"type":"array","items":{"type":"string","default":"x"},"default":["a","b"]},
		"trip":{"type":"object","properties":{"city":{"type":"string","default":"Rome"}}},"extra":{"type":"object","properties":{"c":{"default":1}}},
		"pay":{"oneOf":[{"title":"a","properties":{"x":{"type":"string","default":"1"}}},{"title":"b","properties":{"y":{"type":"string","default":"2"}}}]}}}`)
	sent := func(values url.Values) string {
		text, faults := s.Decode(values)
		must.Equal(t, 0, len(faults))
		return string(text)
	}
	const all = `"size":"m","nights":2,"sound":false,"note":"a\r\n\u200eb","days":["tue"],"tags":["a","b"]`
	for name, c := range map[string]struct{ got, want string }{
		"a new form":               {sent(s.Initial(nil)), `{` + all + `,"trip":{"city":"Rome"}}`},
		"next to what is known":    {sent(s.Initial(map[string]any{"nights": json.Number("3"), "trip": map[string]any{}, "size": nil, "other": "x"})), `{"size":null,"nights":3,` + all[len(`"size":"m","nights":2,`):] + `,"trip":{}}`},
		"the input of another job": {sent(s.Fill(json.RawMessage(`{"trip":{}}`))), `{"trip":{}}`},
		"what was cleared":         {sent(url.Values{"v/nights": {""}}), `{"trip":{}}`},
	} {
		if !same(t, c.want, c.got) {
			t.Errorf("%s sends %s", name, c.got)
		}
	}
	edit := func(sent string) url.Values {
		edited, _ := s.Edit(must.Get(url.ParseQuery(sent))(t))
		return edited
	}
	must.Equal(t, `{"tags":["q","x"],"trip":{}}`, sent(edit("add=/tags&n/tags=1&v/tags/0=q")), "with a row that was added, it is")
	must.Equal(t, `{"trip":{},"pay":{"y":"2"}}`, sent(edit("choose=/pay&u/pay=1")), "with a branch that was chosen, it is")
	must.Equal(t, `{"trip":{},"pay":{"x":"q"}}`, sent(edit("choose=/pay&u/pay=0&v/pay/x=q")), "with a branch that was filled in, it is")
}

func TestRowsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	values := url.Values{"n/a": {"3"}, "v/a/0/x": {"0"}, "v/a/1/x": {"1"}, "v/a/2/x": {"2"}, "v/ab": {"keep"}, "v/a/2/n/0": {"deep"}, "n/a/2/n": {"1"}, "": {"odd"}, "x/v/a/2": {"odd"}}
	values.Set("remove", "/a/1")
	got, again := parse(t, everything).Edit(values)
	want := url.Values{"n/a": {"2"}, "v/a/0/x": {"0"}, "v/a/1/x": {"2"}, "v/ab": {"keep"}, "v/a/1/n/0": {"deep"}, "n/a/1/n": {"1"}, "": {"odd"}, "x/v/a/2": {"odd"}}
	if diff := cmp.Diff(want, got); !again || diff != "" {
		t.Errorf("after removing, want - got +:\n%s", diff)
	}
	got.Set("add", "/a")
	if got, _ = parse(t, everything).Edit(got); got.Get("n/a") != "3" || got.Has("add") {
		t.Errorf("after adding: %v", got)
	}
	for _, odd := range []string{"", "/", "a", "/a/9", "/a/-1", "/a/x", "//"} {
		values.Set("remove", odd)
		parse(t, everything).Edit(values)
	}
	if _, again := parse(t, everything).Edit(url.Values{"v/a": {"1"}}); again {
		t.Error("a form that is sent is taken for one to edit")
	}
}

// A control shows a value as it is, so that it is sent back unchanged if nobody changes it.
func TestAValueOfSeveralLinesGetsSeveralLines(t *testing.T) {
	t.Parallel()
	s := parse(t, `{"properties": {"name": {"type": "string", "maxLength": 50}}}`)
	for text, want := range map[string]form.Control{"Ada": form.Input, "Ada\nLovelace": form.Area} {
		must.Equal(t, want, s.Form(url.Values{"v/name": {text}}, nil).Fields[0].Control, text)
	}
}

func TestFaultsStandAtTheirFields(t *testing.T) {
	t.Parallel()
	f := parse(t, everything).Form(url.Values{"n/addresses": {"2"}}, []job.Detail{
		{Path: "/addresses/1/street", Message: "is required but missing"}, {Path: "/payment", Message: "wrong"}, {Path: "/elsewhere", Message: "odd"},
	})
	var told []string
	var walk func(form.Field)
	walk = func(f form.Field) {
		for _, fault := range f.Faults {
			told = append(told, f.Pointer+" "+fault)
		}
		for _, below := range f.Fields {
			walk(below)
		}
	}
	walk(f)
	must.Equal(t, " /elsewhere: odd; /addresses/1/street is required but missing; /payment wrong", strings.Join(told, "; "), "it is told")
}

// The form of a schema that contains itself ends, and the value of an empty schema, or of what is none, is
// entered as JSON.
func TestOddSchemas(t *testing.T) {
	t.Parallel()
	loop := parse(t, `{"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "all": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/A"}}}, "required": ["a", "all"]}}}`)
	loop.Form(nil, nil)
	if text, _ := loop.Decode(nil); !json.Valid(text) {
		t.Errorf("it is %s", text)
	}
	self := parse(t, `{"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}`)
	self.Form(nil, nil)
	optional := parse(t, `{"properties": {"shop": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "x"}}}}}`)
	text, _ := optional.Decode(nil)
	must.Equal(t, `{}`, string(text), "an optional object with nothing filled in")
	for _, schema := range []string{"", "{}", `{"type":"object"}`, `{"type":["object","string"]}`, `{"type":1}`, `1`} {
		must.Equal(t, form.JSON, parse(t, schema).Form(nil, nil).Control, schema, "is asked for by")
	}
}

// The values of short schemas that would make endless forms are entered as JSON as a whole.
func TestAFormIsBounded(t *testing.T) {
	t.Parallel()
	ref := `{"$ref":"#/$defs/a"}`
	nested := `{"type":"array","minItems":200,"items":{"type":"array","minItems":200,"items":{"type":"array","minItems":200,"items":{"type":"string"}}}}`
	long := strings.Repeat("x", 50_000)
	for name, schema := range map[string]string{
		"lists of lists":           `{"type":"object","required":["a"],"properties":{"a":` + nested + `}}`,
		"a union of itself":        `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[` + ref + `,` + ref + `]}}}`,
		"fields of itself":         `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"a":` + ref + `,"b":` + ref + `,"c":` + ref + `,"d":` + ref + `,"e":` + ref + `,"f":` + ref + `,"g":` + ref + `,"h":` + ref + `,"i":` + ref + `,"j":` + ref + `}}}}`,
		"a description many times": `{"type":"array","minItems":200,"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"description":"` + long + `","type":"string"}}}`,
		"a name many times":        `{"properties":{"` + long + `":{"type":"array","minItems":200,"items":{"type":"string"}}},"required":["` + long + `"]}`,
	} {
		s := must.Get(form.Parse(json.RawMessage(schema)))(t)
		if f := s.Form(s.Fill(json.RawMessage(`{}`)), nil); f.Control != form.JSON || len(f.Fields) > 0 {
			t.Errorf("%s: the form is a %s of %d fields", name, f.Control, len(f.Fields))
			continue
		}
		text, faults := s.Decode(url.Values{"j": {`{"a":[1]}`}})
		if string(text) != `{"a":[1]}` || len(faults) > 0 {
			t.Errorf("%s: read as %s, %v", name, text, faults)
		}
		_, faults = s.Decode(url.Values{"j": {`{`}})
		must.Equal(t, 1, len(faults), name, "no JSON")
	}
}

// No schema and nothing that is sent makes a form fail, whatever is empty in it.
func TestFormsOfWhatIsEmpty(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"properties":{"":{"type":"string"},"a":{"type":"array","items":{"type":"string"}}},"required":[""]}`,
		`{"properties":{"":{"properties":{"":{"type":"array"}}}}}`, `{"type":"array","items":{}}`, `{"type":"array","items":null}`,
		`{"properties":{"":{"const":null},"b":null}}`, `{"properties":{"\\ud800":{"type":"string"}}}`, `{"properties":null,"type":"object"}`,
		`{"enum":[]}`, `{"enum":[null,""]}`, `{"oneOf":[{"const":1},{}]}`, `{"oneOf":[{"type":"null"}]}`, `{"oneOf":[null,{}]}`, `{"anyOf":[]}`, `{"allOf":[null]}`,
		`{"anyOf":[{"title":""},{"properties":{"":{}}}]}`, `{"$ref":"#/$defs/","$defs":{"":null}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{}`, ``,
	} {
		for _, sent := range []string{
			"", "=x", "v=&v/=x&=y", "add=", "remove=", "remove=/", "choose=&=1", "add=/a&n/a=1&v/a/0=", "remove=/a/0&n/a=1&v/a/=", "n=3&remove=/0&n/0=1&=x",
			"n/a=99999999999999&n=1", "n/a=2&remove=/a/1&/a/=1", "u=1&u/=1", "u=-1", "j=", "j=x&=1", "e=null", "e/=x", "n=1&remove=/0&v/=1&n/=2",
		} {
			s := must.Get(form.Parse(json.RawMessage(schema)))(t)
			values := must.Get(url.ParseQuery(sent))(t)
			edited, _ := s.Edit(values)
			s.Form(edited, nil)
			s.Decode(edited)
			form.Typed(edited, values)
			s.Fill(json.RawMessage(`{"":"x","a":[""],"b":null}`))
		}
	}
}
