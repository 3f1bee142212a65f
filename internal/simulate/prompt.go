package simulate

import (
	"bytes"
	"encoding/json"
	"strings"
)

// prompt is what the stand-in takes from a prompt.
type prompt struct {
	requestID, baseURL, signature string
	endpoint                      string
	schema, input                 map[string]any
}

func readPrompt(text string) prompt {
	p := prompt{
		requestID: setting(text, "REQUEST_ID"), baseURL: setting(text, "CALLBACK_BASE_URL"),
		signature: setting(text, "HMAC_SIGNATURE"), endpoint: "result",
	}
	if strings.Contains(text, p.baseURL+"/api/claude/suggestions -H") {
		p.endpoint = "suggestions"
	}
	for _, block := range fenced(text) {
		object, err := decodeObject([]byte(block))
		if err != nil {
			continue
		}
		if p.schema == nil && strings.Contains(text, "JSON Schema") {
			p.schema = object
			continue
		}
		p.input = object
	}
	return p
}

// setting finds "- NAME: value" in the callback configuration.
func setting(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "- "+name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// fenced returns the blocks between ```json and ```.
func fenced(text string) []string {
	var blocks []string
	for {
		_, after, ok := strings.Cut(text, "```json\n")
		if !ok {
			return blocks
		}
		block, rest, ok := strings.Cut(after, "\n```")
		if !ok {
			return blocks
		}
		blocks = append(blocks, block)
		text = rest
	}
}

func decodeObject(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var object map[string]any
	err := dec.Decode(&object)
	return object, err
}
