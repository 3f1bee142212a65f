package callback

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
	"ringback/test/must"
)

// The schema of a tool refers to its own parts only, wherever its author's references led to.
func TestAToolsReferencesHold(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"by pointer":       `{"type":"object","properties":{"a":{"$ref":"#/$defs/text"}},"$defs":{"text":{"type":"string"}}}`,
		"by anchor":        `{"type":"object","properties":{"a":{"$ref":"#text"}},"$defs":{"text":{"$anchor":"text","type":"string"}}}`,
		"by its own $id":   `{"$id":"https://example.com/in","type":"object","properties":{"a":{"$ref":"https://example.com/in#/$defs/text"}},"$defs":{"text":{"type":"string"}}}`,
		"by $id and #":     `{"$id":"https://example.com/in#","type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"https://example.com/in"}}}`,
		"by another's $id": `{"type":"object","properties":{"a":{"$ref":"https://example.com/text"}},"$defs":{"text":{"$id":"https://example.com/text","type":"string"}}}`,
		"to all of it":     `{"type":"object","properties":{"a":{"type":"string"},"child":{"$ref":"#"}}}`,
	} {
		s := must.Get(schema.New(name, []byte(input)))(t)
		text := must.Get(json.Marshal(actionArguments(s.ForClaude())))(t)
		tool, err := schema.New(name, text)
		must.OK(t, err, string(text))
		must.Equal(t, []job.Detail{{Path: "/input/a", Message: "found the number 1; expected a string"}}, tool.Validate(map[string]any{"input": map[string]any{"a": json.Number("1")}}), name)
	}
}
