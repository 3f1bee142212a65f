package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ringback/internal/claude"
)

// prompt holds the parts of this turn's prompt, completed with those of the first one.
type prompt struct {
	claude.Parts
	input   map[string]any
	answers []answered
}

// answered is a question that the user has answered.
type answered struct {
	Props struct {
		Action string `json:"action"`
	} `json:"props"`
	Reply struct {
		Decision string         `json:"decision"`
		Values   map[string]any `json:"values"`
	} `json:"reply"`
}

// newPrompt decodes the input and the user's answers.
func newPrompt(parts claude.Parts) (p prompt, err error) {
	p.Parts = parts
	if len(parts.Input) > 0 {
		if p.input, err = decodeObject(parts.Input); err != nil {
			return p, fmt.Errorf("reading the input: %w", err)
		}
	}
	if len(parts.Answers) > 0 {
		if err = json.Unmarshal(parts.Answers, &p.answers); err != nil {
			return p, fmt.Errorf("reading the user's answers: %w", err)
		}
	}
	return p, nil
}

// decodeObject preserves numbers as written.
func decodeObject(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var object map[string]any
	err := dec.Decode(&object)
	return object, err
}
