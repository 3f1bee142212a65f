package schema_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
	"ringback/test/must"
)

func TestImpossibleWith(t *testing.T) {
	t.Parallel()
	before := []schema.Batch{{Index: 1, Items: []any{"a", "b"}}, {Index: 4, Items: []any{"c"}}}
	at := func(path, message string) []job.Detail { return []job.Detail{{Path: path, Message: message}} }
	for name, c := range map[string]struct {
		list  string // the schema of the list
		items []any
		want  []job.Detail
	}{
		"no limit":               {`{}`, []any{"d"}, nil},
		"too few so far":         {`{"minItems": 9}`, []any{"d"}, nil},
		"as many as there may":   {`{"maxItems": 4}`, []any{"d"}, nil},
		"one too many":           {`{"maxItems": 3}`, []any{"d"}, at("/list", "found 1 item, after 3 in earlier batches; all batches together may hold at most 3: send the final batch, with none")},
		"by reference":           {`{"$ref": "#/$defs/short"}`, []any{"d"}, at("/list", "found 1 item, after 3 in earlier batches; all batches together may hold at most 3: send the final batch, with none")},
		"in parts":               {`{"allOf": [{"maxItems": 9}, {"maxItems": 4}]}`, []any{"d", "e"}, at("/list", "found 2 items, after 3 in earlier batches; all batches together may hold at most 4: send 1 at most, then the final batch")},
		"known from a batch":     {`{"uniqueItems": true}`, []any{"d", "c"}, at("/list/1", "is the same as item 0 of batch 4; every item of all batches must be different: leave it out")},
		"known from this batch":  {`{"uniqueItems": true}`, []any{"d", "d"}, at("/list/1", "is the same as item 0 of this batch; every item of all batches must be different: leave it out")},
		"numbers and texts":      {`{"uniqueItems": true}`, []any{json.Number("1"), "1", []any{json.Number("1")}, json.Number("1.0")}, at("/list/3", "is the same as item 0 of this batch; every item of all batches must be different: leave it out")},
		"contains none so far":   {`{"contains": {"const": "z"}}`, []any{"d"}, nil},
		"one form is still open": {`{"anyOf": [{"maxItems": 3}, {"maxItems": 4}]}`, []any{"d"}, nil},
		"depends on what comes":  {`{"if": {"minItems": 9}, "else": {"maxItems": 3}}`, []any{"d"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.New("s.json", []byte(`{"type": "object", "required": ["list", "why"], "properties": {"list": `+c.list+`},
				"$defs": {"short": {"maxItems": 3}}}`))
			must.OK(t, err)
			must.Equal(t, c.want, s.ImpossibleWith("list", before, c.items))
		})
	}
}

func TestItemsThatDifferByPlaceComeInOnePiece(t *testing.T) {
	t.Parallel()
	s, err := schema.New("s.json", []byte(`{"properties": {"list": {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}}}`))
	must.OK(t, err)
	if _, ok := s.Items("list"); ok {
		t.Error("its items can be checked without their place")
	}
}
