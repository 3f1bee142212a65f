package simulated

import (
	"bytes"
	"encoding/json"
	"strings"
)

// prompt is what the stand-in takes from a prompt.
type prompt struct {
	requestID, baseURL, signature string
	// endpoint is where the result goes: "suggestions" or "result".
	endpoint string
	// schema is the result's.
	schema  json.RawMessage
	input   map[string]any
	actions []action
	answers []said
	// repositories are the directories of a workspace, wish what a reviewer wants.
	repositories []string
	wish         string
}

func readPrompt(text string) prompt {
	values := section(text, "## Callback Configuration")
	p := prompt{
		requestID: setting(values, "REQUEST_ID"), baseURL: setting(values, "CALLBACK_BASE_URL"),
		signature: setting(values, "HMAC_SIGNATURE"), endpoint: "result",
	}
	if p.baseURL != "" && strings.Contains(text, " "+p.baseURL+"/api/claude/suggestions -H") {
		p.endpoint = "suggestions"
	}
	p.schema, p.input = schemaAndInput(fencedJSON(text))
	p.actions, p.answers = readActions(text), readAnswers(text)
	p.repositories, p.wish = readWorkspace(text)
	return p
}

// schemaAndInput tells the two blocks that matter from examples that a kind's
// prompt may hold: the input comes last, and the schema is the last one
// announced as such.
func schemaAndInput(blocks []block) (schema json.RawMessage, input map[string]any) {
	for i, b := range blocks {
		announced := strings.Contains(b.before, "JSON Schema")
		switch {
		case announced && (i < len(blocks)-1 || schema == nil):
			schema = b.text
		case i == len(blocks)-1:
			input = b.object
		}
	}
	return schema, input
}

// section returns what stands below the last such heading, up to the next one.
func section(text, heading string) string {
	i := strings.LastIndex("\n"+text, "\n"+heading+"\n")
	if i < 0 {
		return ""
	}
	below, _, _ := strings.Cut(text[i+len(heading):], "\n## ")
	return below
}

// setting finds the line "- NAME: value".
func setting(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "- "+name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// block is a JSON object between ```json and ```.
type block struct {
	before string // the text since the block before
	text   json.RawMessage
	object map[string]any
}

func fencedJSON(text string) []block {
	var blocks []block
	for {
		before, after, ok := strings.Cut(text, "```json\n")
		if !ok {
			return blocks
		}
		inside, rest, ok := strings.Cut(after, "\n```")
		if !ok {
			return blocks
		}
		if object, err := decodeObject([]byte(inside)); err == nil {
			blocks = append(blocks, block{before, json.RawMessage(inside), object})
		}
		text = rest
	}
}

// decodeObject keeps numbers as they are written.
func decodeObject(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var object map[string]any
	err := dec.Decode(&object)
	return object, err
}
