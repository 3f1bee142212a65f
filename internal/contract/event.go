package contract

import (
	"encoding/json"
	"regexp"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

func (s *schemas) events(rows []lifecycle.EventRow) {
	s.answer(job.Event{})
	frame := s.resolved(s.all["Event"])
	var each []object
	for _, row := range rows {
		name := eventName(row.Type)
		s.all[name] = job.MustJSON(s.joined(s.event(row), job.MustJSON(frame)))
		each = append(each, ref(name))
	}
	frame["x-events"] = each // not as alternatives: a prefix keeps generators of clients from telling them apart
	s.all["Event"] = job.MustJSON(frame)
}

// event returns what is particular to one event: the suffix of its name, and its data.
func (s *schemas) event(row lifecycle.EventRow) json.RawMessage {
	return job.MustJSON(object{
		"description": capital(row.When) + ".",
		"properties": object{
			"event": eventPattern(string(row.Type)),
			"data":  s.answer(row.Data),
		},
	})
}

// eventName returns the name of the schema of an event, such as ActivityEvent.
func eventName(t job.EventType) string {
	return camelCase(string(t), ":") + "Event"
}

// eventPattern returns the schema of an event's name; any prefix is accepted.
func eventPattern(name string) object {
	return object{
		"type": "string", "pattern": ":" + regexp.QuoteMeta(name) + "$",
		"description": "The prefix of the job's kind, a colon, and `" + name + "`.",
	}
}
