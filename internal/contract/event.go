package contract

import (
	"encoding/json"
	"regexp"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// events adds the schema of each event, and of Event, which is any of them.
func (s *schemas) events(rows []lifecycle.EventRow) {
	s.answer(job.Event{})
	frame := s.resolved(s.all["Event"])
	var each []object
	for _, row := range rows {
		name := eventName(row.Type)
		s.all[name] = s.event(frame, row)
		each = append(each, ref(name))
	}
	s.put("Event", object{"anyOf": each, "description": frame["description"]})
}

// event returns the schema of one event: the frame with the suffix of its name and its
// data.
func (s *schemas) event(frame object, row lifecycle.EventRow) json.RawMessage {
	own, err := json.Marshal(object{
		"description": capital(row.When) + ".",
		"properties": object{
			"event": eventPattern(string(row.Type)),
			"data":  s.answer(row.Data),
		},
	})
	if err != nil {
		s.fault("%v", err)
	}
	base, err := json.Marshal(frame)
	if err != nil {
		s.fault("%v", err)
	}
	text, err := json.Marshal(s.joined(own, base))
	if err != nil {
		s.fault("%v", err)
	}
	return text
}

// put adds a schema under a name.
func (s *schemas) put(name string, schema any) {
	text, err := json.Marshal(schema)
	if err != nil {
		s.fault("%s: %v", name, err)
	}
	s.all[name] = text
}

// eventName returns the name of the schema of an event, such as ActivityEvent.
func eventName(t job.EventType) string {
	var name strings.Builder
	for word := range strings.SplitSeq(string(t), ":") {
		name.WriteString(capital(word))
	}
	return name.String() + "Event"
}

// eventPattern returns the schema of an event's name; any prefix is accepted.
func eventPattern(name string) object {
	return object{
		"type": "string", "pattern": ":" + regexp.QuoteMeta(name) + "$",
		"description": "The prefix of the job's kind, a colon, and `" + name + "`.",
	}
}
