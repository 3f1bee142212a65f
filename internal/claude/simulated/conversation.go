package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// memory is what later turns of a conversation need and their prompts do not
// repeat.
type memory struct {
	Conversation string
	Endpoint     string
	Schema       json.RawMessage
	Input        map[string]any
	Actions      []action
	Repositories []string
}

// recall notes what a first prompt says, or adds it to a later one. As with the
// real CLI, a conversation that nobody began cannot be resumed.
func recall(dir string, args arguments, p prompt) (prompt, error) {
	file := filepath.Join(dir, ".conversation.json")
	if p.schema != nil || p.input != nil || !args.resume {
		text, err := json.Marshal(memory{args.conversation, p.endpoint, p.schema, p.input, p.actions, p.repositories})
		if err != nil {
			return p, err
		}
		return p, os.WriteFile(file, text, 0o600)
	}
	unknown := fmt.Errorf("No conversation found with session ID: %s", args.conversation) //nolint:staticcheck // the CLI's own words
	text, err := os.ReadFile(file)
	if err != nil {
		return p, unknown
	}
	var m memory
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&m) != nil || m.Conversation != args.conversation {
		return p, unknown
	}
	p.schema, p.input, p.endpoint, p.actions = m.Schema, m.Input, m.Endpoint, m.Actions
	p.repositories = m.Repositories
	return p, nil
}
