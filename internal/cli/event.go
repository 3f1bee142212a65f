package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

// decoded decodes JSON. The result is zero if the JSON describes something else.
func decoded[T any](text json.RawMessage) T {
	var v, none T
	if json.Unmarshal(text, &v) != nil {
		return none
	}
	return v
}

func listIn(object json.RawMessage, name string) []json.RawMessage {
	return decoded[[]json.RawMessage](decoded[map[string]json.RawMessage](object)[name])
}

// messageOf returns the chat message of an event; zero if there is none.
func messageOf(e client.Event) job.Message {
	if e.Type() != job.EventMessage {
		return job.Message{}
	}
	return decoded[job.Message](e.Contents().Message)
}

func inWords(e client.Event) string {
	d := e.Contents()
	switch e.Type() {
	case job.EventActivity:
		return fmt.Sprintf("%3.0f%%  %s", d.Progress, oneLine(d.Text()))
	case job.EventMessage:
		return messageInWords(messageOf(e))
	case job.EventCheckpoint, job.EventResolved:
		return checkpointInWords(decoded[job.Checkpoint](e.Data))
	case job.EventReceived:
		made := ""
		if e.Simulated {
			made = " (simulated: true)"
		}
		return d.Words(job.EventReceived) + made + ": ringback status " + e.RequestID.Short()
	default:
	}
	return oneLine(d.Words(e.Type()))
}

// messageInWords formats a chat message in one line: sender and content.
func messageInWords(m job.Message) string {
	said := []string{oneLine(m.Content)}
	if said[0] == "" {
		said = nil
	}
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			said = append(said, line)
		}
	}
	return speaker(m) + ": " + strings.Join(said, "  ")
}

// checkpointInWords formats a question in one line, with how to answer it or its outcome.
func checkpointInWords(c job.Checkpoint) string {
	if !c.Status.Waits() {
		words := string(c.Status)
		if c.Reply != nil {
			words += ": " + oneLine(strings.TrimSpace(string(c.Reply.Decision)+" "+c.Reply.Text))
		}
		return strings.TrimSpace(words + " " + c.OutcomeWords())
	}
	if c.Type == job.Review {
		return "waits for review: ringback diff | logs | steer -p … | approve | reject " + c.RequestID.Short()
	}
	words := "asks (ringback reply " + c.ID.Short() + " <text>): " + headed(c) // ours first, which the question cannot pose as
	if replies := suggested(c.Props); replies != "" {
		words += " [" + replies + "]"
	}
	return words
}
