package simulated

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"ringback/internal/claude"
)

// memory holds the contents of a conversation's first prompt, see firstParts.
type memory struct {
	Conversation string
	Parts        claude.Parts
}

// firstParts returns the parts that a later prompt does not repeat.
func firstParts(p claude.Parts) claude.Parts {
	return claude.Parts{Schema: p.Schema, Input: p.Input, Actions: p.Actions, Repositories: p.Repositories}
}

// recall stores the parts of a first prompt, or adds them to a later one. As with the
// real CLI, a conversation that was never started cannot be resumed.
func recall(dir string, args arguments, p claude.Parts) (claude.Parts, error) {
	file := filepath.Join(dir, ".conversation.json")
	if p.Input != nil || !args.resume {
		text, err := json.Marshal(memory{args.conversation, firstParts(p)})
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
	if json.Unmarshal(text, &m) != nil || m.Conversation != args.conversation {
		return p, unknown
	}
	p.Schema, p.Input, p.Actions, p.Repositories = m.Parts.Schema, m.Parts.Input, m.Parts.Actions, m.Parts.Repositories
	return p, nil
}
