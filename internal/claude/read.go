package claude

import (
	"encoding/json"
	"fmt"
)

// Parts are what a prompt says, for whoever plays Claude by reading it. A later turn
// does not repeat everything: what its prompt does not say is empty.
type Parts struct {
	// Callback and Endpoint are how to call back, and where the result goes; empty
	// where the result is structured output.
	Callback Callback
	Endpoint string
	// Schema is the result's JSON Schema, Input the request.
	Schema, Input json.RawMessage
	// Actions are what the server does for Claude.
	Actions []ActionPart
	// Repositories are the directories of the workspace, SteerRequest is what a reviewer
	// wants of this round.
	Repositories []string
	SteerRequest string
	// Answers are what the user has answered so far, Written what they have written
	// since the last turn, History what was said in a conversation that was lost: JSON.
	Answers, Written, History json.RawMessage
}

// ActionPart is an action as Claude is told of it.
type ActionPart struct {
	Name string
	// Input is the JSON Schema of its input.
	Input json.RawMessage
}

// ReadPrompt reads a prompt that a Prompt wrote, by the same template. It fails where
// the text is none, as when it was written by another version.
func ReadPrompt(text string) (Parts, error) { return form().read(text) }

func partsOf(v values) (Parts, error) {
	p := Parts{
		Callback: Callback{
			RequestID: v.text[".Callback.RequestID"], BaseURL: v.text[".Callback.BaseURL"], Signature: v.text[".Callback.Signature"],
		},
		Endpoint: v.text[".Endpoint"], SteerRequest: withoutEscapes(v.text[".Steering.Request"]),
	}
	for _, r := range v.lists[".Change.Repositories"] {
		p.Repositories = append(p.Repositories, r.text[".Name"])
	}
	for _, a := range v.lists[".Kind.Policy.Actions"] {
		if a.text[".Name"] == "" {
			continue // a later prompt repeats the commands alone
		}
		input, err := a.json("$.InputOf .")
		if err != nil {
			return Parts{}, err
		}
		p.Actions = append(p.Actions, ActionPart{a.text[".Name"], input})
	}
	for name, into := range map[string]*json.RawMessage{
		".Schema": &p.Schema, ".FencedInput": &p.Input, ".Replies": &p.Answers, ".Written": &p.Written, ".Past": &p.History,
	} {
		var err error
		if *into, err = v.json(name); err != nil {
			return Parts{}, err
		}
	}
	return p, nil
}

// json is a value that is JSON; nil where it is absent.
func (v values) json(name string) (json.RawMessage, error) {
	text, said := v.text[name]
	if !said {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("what stands in the prompt for %s is not JSON", name)
	}
	return json.RawMessage(text), nil
}
