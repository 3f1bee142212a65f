package simulated

import (
	"encoding/json"
	"maps"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
)

// acted is the outcome of the actions. stop is set if the turn must end here because it
// waits for a person.
type acted struct {
	fields map[string]any
	denied bool
	stop   bool
}

// act calls each of the actions, and asks the user for the values that they refuse.
func (a *actor) act() (acted, error) {
	all := acted{fields: map[string]any{}}
	known := maps.Clone(a.input)
	if known == nil {
		known = map[string]any{}
	}
	for _, answer := range a.turn.Answers {
		maps.Copy(known, answer.Reply.Values)
	}
	for _, act := range a.turn.Actions {
		one, err := a.perform(act, known)
		if err != nil || one.stop {
			return one, err
		}
		all.denied = all.denied || one.denied
		maps.Copy(all.fields, one.fields)
	}
	return all, nil
}

const mostCalls = 10

func (a *actor) perform(act Action, known map[string]any) (acted, error) {
	decision := a.lastDecision(act.Name)
	if decision == job.Deny {
		return acted{denied: true}, nil
	}
	confirmed := decision == job.Approve
	s, err := schema.New("the input's schema of "+act.Name, act.Input)
	if err != nil {
		return acted{}, err
	}
	for range mostCalls {
		input, err := inputOf(s, known)
		if err != nil {
			return acted{}, err
		}
		payload := map[string]any{"input": input, "confirmed": confirmed}
		if err := a.pause(); err != nil {
			return acted{}, err
		}
		answer, err := a.call(callback{act.Name, "actions/" + act.Name, "action.json"}, payload)
		if err != nil {
			return acted{}, err
		}
		switch answer["status"] {
		case "success":
			return acted{fields: answer}, nil
		case "denied":
			return acted{denied: true}, nil
		case "running":
		case "pending_confirmation":
			if confirmed = answer["decision"] == "approve"; !confirmed {
				a.stream.text("I wait for the user.")
				return acted{stop: true}, nil
			}
		default:
			values, stop, err := a.recover(answer)
			if err != nil || stop {
				return acted{stop: stop}, err
			}
			if values == nil {
				return acted{fields: answer}, nil
			}
			maps.Copy(known, values)
		}
	}
	return acted{}, nil
}

// recover asks the user for the value that an action refused; it returns nil if the
// refusal names no field.
func (a *actor) recover(refusal map[string]any) (values map[string]any, stop bool, err error) {
	field, _ := refusal["error_field"].(string)
	message, _ := refusal["message"].(string)
	if field == "" {
		return nil, false, nil
	}
	question := map[string]any{"type": "error_recovery", "message": message + " What would you like?", "props": map[string]any{
		"error_type": refusal["error_type"], "error_field": field, "current_value": refusal["current_value"],
		"valid_values": refusal["valid_values"],
	}}
	if refusal["valid_values"] == nil {
		question["type"] = "information_request"
		question["props"] = map[string]any{"schema": map[string]any{
			"type": "object", "required": []string{field}, "properties": map[string]any{field: map[string]any{"type": "string"}},
		}}
	}
	answer, err := a.call(callback{kind.AskUser, "checkpoints", "checkpoint.json"}, question)
	if err != nil {
		return nil, false, err
	}
	if answer["status"] != "answered" {
		a.stream.text("I wait for the user.")
		return nil, true, nil
	}
	reply, _ := answer["reply"].(map[string]any)
	values, _ = reply["values"].(map[string]any)
	return values, false, nil
}

func (a *actor) lastDecision(name string) job.Decision {
	for _, answer := range slices.Backward(a.turn.Answers) {
		var asked job.Props
		if json.Unmarshal(answer.Props, &asked) == nil && asked.Action == name {
			return answer.Reply.Decision
		}
	}
	return ""
}

func inputOf(s *schema.Schema, known map[string]any) (map[string]any, error) {
	made, err := s.LeastExample(word)
	if err != nil {
		return nil, err
	}
	input := map[string]any{}
	for _, f := range s.Fields() {
		if v, ok := known[f.Name]; ok && v != nil {
			input[f.Name] = v
		} else if v, ok := made[f.Name]; ok {
			input[f.Name] = v
		}
	}
	return input, nil
}

func withActions(s *schema.Schema, result map[string]any, done acted) {
	for _, f := range s.Fields() {
		if v, ok := done.fields[f.Name]; ok {
			result[f.Name] = v
		}
		if f.Type == "boolean" && done.denied {
			result[f.Name] = false
		}
		if f.Name == "message" && done.denied {
			result[f.Name] = "You did not want it, so it was not done."
		}
	}
}
