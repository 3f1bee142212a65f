package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// play plays a turn: progress, then the steps of the flow, then the result.
func (p *player) play() error {
	p.hear()
	p.reports()
	if rand.IntN(12) == 0 {
		return nil // forgets to submit
	}
	var value string
	var err error
	switch p.input.Flow {
	case flowQuestion, flowForm:
		value, err = p.question()
	case flowAction:
		value, err = p.action()
	case flowTool:
		value, err = p.tool()
	case flowChange, flowShip:
		return p.change()
	case flowCancel:
		pause(1500)
		value = "result of " + p.run
	default:
		value = "result of " + p.run
	}
	if err != nil {
		return err
	}
	return p.result(object{"value": value})
}

// hear records what the user has written since the last turn.
func (p *player) hear() {
	var written []struct {
		Content string `json:"content"`
	}
	for _, told := range [][]byte{p.prompt.written, p.prompt.history} {
		if json.Unmarshal(told, &written) != nil {
			continue
		}
		for _, m := range written {
			if strings.HasPrefix(m.Content, "follow ") {
				p.note(heardMessage, m.Content)
			}
		}
	}
}

// reports sends several concurrently, so that their order is random, and some of them
// twice.
func (p *player) reports() {
	var sending sync.WaitGroup
	for i := range 1 + rand.IntN(3) {
		message := fmt.Sprintf("report %d of %s", i, p.run)
		for range 1 + rand.IntN(2) {
			sending.Go(func() {
				pause(300)
				if status, _ := p.send("progress", p.envelope(object{"message": message}), nil); status == http.StatusOK {
					p.note(acceptedProgress, message)
				}
			})
		}
	}
	sending.Wait()
}

// result submits, sometimes twice at once.
func (p *player) result(fields object) error {
	value, _ := json.Marshal(fields)
	var sending sync.WaitGroup
	for range 1 + rand.IntN(2) {
		sending.Go(func() {
			if status, _ := p.send("result", p.envelope(fields), nil); status == http.StatusOK {
				p.note(acceptedResult, string(value))
			}
		})
	}
	sending.Wait()
	return nil
}

// question asks the user for one value, or for two in a form, unless they were already
// given. It returns the answer.
func (p *player) question() (string, error) {
	id := p.prompt.callback.RequestID
	text, fields, kind := "Which colour for "+id+"?", []string{"colour"}, "information_request"
	if p.input.Flow == flowForm {
		text, fields, kind = "Which colour and size for "+id+"?", []string{"colour", "size"}, "form_requirements"
	}
	var values map[string]any
	for _, a := range p.answers {
		if a.Question == text {
			values = a.Reply.Values
		}
	}
	if values == nil {
		properties := object{}
		for _, f := range fields {
			properties[f] = object{"type": "string"}
		}
		answer, err := p.ask("checkpoints", object{
			"type": kind, "message": text, "props": object{"schema": object{"type": "object", "required": fields, "properties": properties}},
		})
		if err != nil {
			return "", err
		}
		if answer["status"] != "answered" {
			return "", errStop
		}
		reply, _ := answer["reply"].(object)
		values, _ = reply["values"].(object)
	}
	return replyText(values), nil
}

// replyText returns the values of a reply as one text.
func replyText(values map[string]any) string {
	text, _ := json.Marshal(values)
	return string(text)
}

// action makes the server run an action that a person must approve.
func (p *player) action() (string, error) {
	confirmed := false
	for _, a := range slices.Backward(p.answers) {
		if a.Props.Action == "deploy" {
			if a.Reply.Decision == "deny" {
				return "denied", nil
			}
			confirmed = a.Note == ""
			break
		}
	}
	for range 20 {
		payload := object{"input": object{"name": p.prompt.callback.RequestID}}
		if confirmed {
			payload["confirmed"] = true
		}
		answer, err := p.ask("actions/deploy", payload)
		if err != nil {
			return "", err
		}
		switch answer["status"] {
		case "success":
			return "ran", nil
		case "denied":
			return "denied", nil
		case "pending_confirmation":
			if confirmed = answer["decision"] == "approve"; !confirmed {
				return "", errStop
			}
		case "running":
		default: // whether it ran is unknown
			return "unknown", nil
		}
	}
	return "", errors.New("the action never ended")
}

// tool does what the CLI does before it runs a command: it calls its hook. If allowed, it
// records the command.
func (p *player) tool() (string, error) {
	id := p.prompt.callback.RequestID
	header := map[string]string{"X-Ringback-Request-Id": id, "X-Ringback-Signature": p.prompt.callback.Signature}
	dir, _ := os.Getwd()
	status, answer := p.send("tool-calls", object{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_" + id, "cwd": dir,
		"tool_input": object{"command": "touch " + id},
	}, header)
	output, _ := answer["hookSpecificOutput"].(object)
	p.note(answered, fmt.Sprint("tool-calls: ", status, " ", output))
	switch {
	case output["permissionDecision"] == "allow":
		p.note(toolRan, p.run)
		return "ran", nil
	case output["permissionDecision"] == "deny":
		return "denied", nil
	case status == http.StatusOK && output["permissionDecision"] != "defer":
		return "", fmt.Errorf("the hook was answered %v", answer)
	}
	return "", errStop
}

// change writes this round's file to the workspace, and submits.
func (p *player) change() error {
	wish := p.prompt.steerRequest
	if wish == "" {
		wish = p.input.Wish
	}
	if p.input.Flow == flowShip { // another process makes another change
		wish += " by " + p.run
	}
	repositories, err := filepath.Glob("*/.git")
	if err != nil || len(repositories) != 1 {
		return fmt.Errorf("the workspace holds %v", repositories)
	}
	file := filepath.Join(filepath.Dir(repositories[0]), "change.txt")
	if err := os.WriteFile(file, []byte(wish+"\n"), 0o600); err != nil {
		return err
	}
	return p.result(object{"summary": wish})
}
