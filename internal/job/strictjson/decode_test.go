package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/test/must"
)

func TestDecodeRefusesWhatOthersLetPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, says string }{
		"duplicate key":        {`{"a": {"b": 1, "b": 2}}`, "/a/b"},
		"duplicate by escape":  {`{"ab": 1, "a\u0062": 2}`, "/ab"},
		"duplicate in a list":  {`{"a": [{}, {"b": 1, "b": 2}]}`, `"/a/1/b"`},
		"invalid UTF-8":        {"{\"a\": \"\xc3\x28\"}", "byte 7"},
		"too deep":             {strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "64 levels"},
		"second value":         {`{} 1`, "after the JSON object"},
		"an array":             {`[1]`, "an array"},
		"encoded twice":        {`"{\"a\": 1}"`, "found a string (it was encoded twice: send the JSON itself"},
		"nothing":              {" \n", "empty"},
		"cut off":              {`{"a": [1, `, "ends too early"},
		"comment, with a line": {"{\n// no\n}", "line 2"},
		"single quotes":        {`{'a': 1}`, "line 1, column"},
		"half a character":     {`{"to": "a\udbff"}`, `\\udbff is half of a character (line 1, column 10)`},
		"its other half":       {`{"to": "\uDE00"}`, "half of a character"},
		"halves swapped":       {`{"to": "\uDE00\uD83D"}`, "half of a character"},
		"half, then another":   {`{"to": "\ud83d\u0041"}`, "half of a character"},
		"half of a key":        {`{"\ud83d": 1}`, "half of a character"},
		"half, cut off":        {`{"to": "\ud83d\ud`, "half of a character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := strictjson.Decode([]byte(c.body))
			var e *job.Error
			if !errors.As(err, &e) || e.Kind != job.Invalid {
				t.Fatalf("error is %v", err)
			}
			text, _ := json.Marshal(e)
			must.Contain(t, string(text), c.says)
		})
	}
}

// Two escapes can form one character, and a backslash may precede a "u".
func TestDecodeTakesWholeCharacters(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a": "\uD83D\uDE00"}`: "😀", `{"a": "\\ud83d"}`: `\ud83d`, `{"a": "\u00e9\""}`: `é"`, `{"a": "\ufffd"}`: "\ufffd", `{"a": "\\\uD83D\uDE00"}`: `\😀`,
	} {
		object, err := strictjson.Decode([]byte(body))
		if err != nil || object["a"] != want {
			t.Errorf("%s is read as %q, %v", body, object["a"], err)
		}
	}
}

// All that is wrong is named at once.
func TestIntoNamesEachWrongField(t *testing.T) {
	t.Parallel()
	type target struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	object := must.Get(strictjson.Decode([]byte(`{"nam": "x", "tags": ["a", 7, null], "zeal": 1}`)))(t)
	var e *job.Error
	if err := strictjson.Into(object, new(target)); !errors.As(err, &e) {
		t.Fatalf("error is %v", err)
	}
	want := []job.Detail{
		{Path: "/nam", Message: "is not a known field; did you mean name? allowed: name, tags"},
		{Path: "/tags/1", Message: "found a number; expected a string"},
		{Path: "/tags/2", Message: "found null; expected a string"},
		{Path: "/zeal", Message: "is not a known field; allowed: name, tags"},
	}
	must.Equal(t, want, e.Details)
}

func TestIntoNamesUnknownFieldsAndWrongTypes(t *testing.T) {
	t.Parallel()
	type deepest struct {
		Tags []string `json:"tags"`
	}
	type embedded struct {
		deepest
	}
	type target struct {
		embedded
		Name  string `json:"name"`
		Inner struct {
			Count    int          `json:"count"`
			Priority job.Priority `json:"priority"`
		} `json:"inner"`
		List []struct {
			Title string `json:"title"`
			embedded
		} `json:"list"`
	}
	for body, want := range map[string]job.Detail{
		`{"nam": "x"}`:          {Path: "/nam", Message: "is not a known field; did you mean name? allowed: inner, list, name, tags"},
		`{"inner": {"cnt": 1}}`: {Path: "/inner/cnt", Message: "is not a known field; allowed: count, priority"},
		`{"list": [{"title": "a"}, {"tilte": "x"}]}`: {Path: "/list/1/tilte", Message: "is not a known field; did you mean title? allowed: tags, title"},
		`{"colour": 1, "name": "x"}`:                 {Path: "/colour", Message: "is not a known field; allowed: inner, list, name, tags"},
		`{"inner": {"count": "x"}}`:                  {Path: "/inner/count", Message: "found a string; expected a whole number"},
		`{"tags": "a"}`:                              {Path: "/tags", Message: "found a string; expected an array"},
		`{"list": [{}, {"tags": [7]}]}`:              {Path: "/list/1/tags/0", Message: "found a number; expected a string"},
		`{"name": 5}`:                                {Path: "/name", Message: "found a number; expected a string"},
		`{"inner": {"count": 1.5}}`:                  {Path: "/inner/count", Message: "found the number 1.5; expected a whole number"},
		`{"tags": ["a", null]}`:                      {Path: "/tags/1", Message: "found null; expected a string"},
		`{"list": [null], "name": null}`:             {Path: "/list/0", Message: "found null; expected an object"},
		`{"inner": " {\"count\": 1}"}`:               {Path: "/inner", Message: "found a string; expected an object (it was encoded twice: send the JSON itself, not a string that contains it)"},
		`{"inner": "{count"}`:                        {Path: "/inner", Message: "found a string; expected an object"},
		`{"inner":{"priority":""}}`:                  {Path: "/inner/priority", Message: `found ""; give a value, or leave the field out`},
	} {
		object := must.Get(strictjson.Decode([]byte(body)))(t)
		var e *job.Error
		if err := strictjson.Into(object, new(target)); !errors.As(err, &e) || len(e.Details) != 1 || e.Details[0] != want {
			t.Errorf("%s: %+v, want %+v", body, e, want)
		}
	}
}

// encoding/json reads name and NAME as the same field; two parsers must not read a body
// differently.
func TestIntoTakesKeysAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	type target struct {
		RequestID string `json:"requestId"`
		Inner     *struct {
			Count int `json:"count"`
		} `json:"inner"`
		Free map[string]any `json:"free"`
	}
	for body, path := range map[string]string{
		`{"REQUESTID": "x"}`: "/REQUESTID", `{"requestid": "x"}`: "/requestid", `{"RequestId": "x"}`: "/RequestId", `{"requestID": "x"}`: "/requestID",
		`{"requestId": "x", "requestID": "y"}`: "/requestID", `{"inner": {"Count": 1}}`: "/inner/Count", `{"Inner": {}}`: "/Inner",
		"{\"reque\u017ftId\": \"x\"}": "/reque\u017ftId", "{\"inner\": {\"\u0043OUNT\": 1}}": "/inner/COUNT", `{"FREE": {}}`: "/FREE",
		`{"requestId": "x", "free": {"RequestID": 1, "requestid": 2}}`: "",
	} {
		object := must.Get(strictjson.Decode([]byte(body)))(t)
		var e *job.Error
		switch err := strictjson.Into(object, new(target)); {
		case path == "" && err != nil:
			t.Errorf("%s: %v", body, err)
		case path != "" && (!errors.As(err, &e) || len(e.Details) != 1 || e.Details[0].Path != path):
			t.Errorf("%s: %+v, want a detail at %s", body, e, path)
		}
	}
}

// FuzzDecode compares the strict parser with the lenient one: they must agree on what the
// strict one accepts.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, " {\n\"a\" : [ ] }\t", `{"a":[1,-2.5e3,0,null,true,false,{}],"b":{"c":"\"\\\/\b\u00e9"}}`, `{"a":"é😀"}`, `[`, `null`, ``,
		`{"a":1,"a":2}`, `{"ab":1,"a\u0062":2}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":truex}`, `{"a":1,}`, `{"a":[1,]}`, `{"a" 1}`, `{,}`, `{"a":1}}`,
		`{"a":"\ud800"}`, `{"a":"\ud83d\ude00"}`, "{\"a\":\"\x01\"}", "{\"\xff\":1}", "{\"a\":1}\x00", `{"a":"`, `{"a":"\`, `{"":1}`, `{"a":1e999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := strictjson.Decode(body)
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var want map[string]any
		lenient := dec.Decode(&want)
		if err == nil && (lenient != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("read %v, the standard library %v (%v)", got, want, lenient)
		}
		var e *job.Error
		if err != nil && (!errors.As(err, &e) || e.Hint == "") {
			t.Errorf("an error nobody can act on: %v", err)
		}
		if err != nil && strings.Contains(e.Hint, "something after") && json.Valid(body) {
			t.Errorf("refused, although nothing is wrong with it: %s", body)
		}
	})
}
