package claude

import (
	"encoding/json"
	"fmt"
)

// Parts are the contents of a prompt, parsed for the simulated Claude. A later turn's
// prompt does not repeat everything; what it leaves out is empty.
type Parts struct {
	// Callback and Endpoint describe how to call back and the endpoint for the result;
	// empty if the result is structured output.
	Callback Callback
	Endpoint string
	// Schema is the result's JSON Schema, Input the request.
	Schema, Input json.RawMessage
	// Actions are the actions that the server performs for Claude.
	Actions []ActionPart
	// Repositories are the directories of the workspace; SteerRequest is a reviewer's
	// request for this round.
	Repositories []string
	SteerRequest string
	// Answers are the user's answers so far, Written the user's messages since the last
	// turn, and History the messages of a lost conversation, all as JSON.
	Answers, Written, History json.RawMessage
}

// ActionPart is an action as the prompt describes it.
type ActionPart struct {
	Name string
	// Input is the JSON Schema of its input.
	Input json.RawMessage
}

// ReadPrompt parses a prompt that a Prompt wrote, with the same template. It fails if
// the text is not a prompt or was written by another version.
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
			continue // a later prompt repeats only the commands
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

// json returns a JSON value; nil if it is absent.
func (v values) json(name string) (json.RawMessage, error) {
	text, said := v.text[name]
	if !said {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("the value of %s in the prompt is not JSON", name)
	}
	return json.RawMessage(text), nil
}
