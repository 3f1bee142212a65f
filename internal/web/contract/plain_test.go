package contract

import (
	"encoding/json"
	"testing"

	"ringback/test/must"
)

// What generators of clients do not know is written as something that means the same.
func TestSchemasArePlain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ given, want string }{
		"anything":                      {`true`, `{}`},
		"nothing":                       {`false`, `{"not":{}}`},
		"a field of any type":           {`{"properties":{"a":true}}`, `{"properties":{"a":{}}}`},
		"a field called default":        {`{"properties":{"default":true,"type":true,"enum":false}}`, `{"properties":{"default":{},"enum":{"not":{}},"type":{}}}`},
		"an item, an alternative":       {`{"items":true,"anyOf":[true,{"items":false}]}`, `{"anyOf":[{},{"items":{"not":{}}}],"items":{}}`},
		"no other fields":               {`{"additionalProperties":false,"uniqueItems":true}`, `{"additionalProperties":false,"uniqueItems":true}`},
		"data that looks like a schema": {`{"const":{"type":["a","b"]},"examples":[true],"default":true}`, `{"const":{"type":["a","b"]},"default":true,"examples":[true]}`},
		"a type or null":                {`{"type":["string","null"]}`, `{"type":["string","null"]}`},
		"two types":                     {`{"type":["string","object"],"minLength":1,"required":["a"]}`, `{"oneOf":[{"minLength":1,"type":"string"},{"required":["a"],"type":"object"}]}`},
		"two types in a definition":     {`{"$defs":{"x":{"type":["array","string","null"],"items":true}}}`, `{"$defs":{"x":{"oneOf":[{"items":{},"type":"array"},{"type":"string"},{"type":"null"}]}}}`},
		"types that overlap":            {`{"type":["number","integer","string"]}`, `{"anyOf":[{"type":"number"},{"type":"integer"},{"type":"string"}]}`},
		"types and other alternatives":  {`{"type":["string","object"],"oneOf":[true]}`, `{"allOf":[{"oneOf":[{"type":"string"},{"type":"object"}]}],"oneOf":[{}]}`},
		"texts without a type":          {`{"enum":["a","b"],"default":"a"}`, `{"default":"a","enum":["a","b"],"type":"string"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given any
			must.OK(t, json.Unmarshal([]byte(row.given), &given))
			must.Equal(t, row.want, string(must.Get(json.Marshal(Plain(given)))(t)))
		})
	}
}
