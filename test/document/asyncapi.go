package document

import (
	"maps"
	"regexp"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
)

// AsyncAPI returns the WebSocket as an AsyncAPI document, version 3.0, without kinds. It describes the
// server's point of view: it sends events and receives frames.
func AsyncAPI(c Contract) ([]byte, error) {
	s := newSchemas()
	s.events(c.Events)
	messages, sends, receives := object{}, []object{}, []object{}
	for _, row := range c.Events {
		name := strings.TrimSuffix(eventName(row.Type), "Event")
		messages[name] = message(name, string(row.Type), capital(row.When)+".", ref(eventName(row.Type)))
		sends = append(sends, channelMessage(name))
	}
	for _, f := range Frames {
		name := "Frame" + capital(f.Name)
		messages[name] = message(name, f.Name, f.Text, s.frame(f))
		if f.ByClient {
			receives = append(receives, channelMessage(name))
		} else {
			sends = append(sends, channelMessage(name))
		}
	}
	closes := object{}
	for _, one := range Closes {
		closes[strconv.Itoa(one.Code)] = object{"when": one.When, "then": one.Then}
	}
	s.prune(messages)
	channel := object{
		"address": "/ws", "title": "Events",
		"description": "The events of one user's jobs, or with `userId=*` of all users' jobs.",
		"messages":    messages, "bindings": object{"ws": object{"method": "GET", "query": c.query(), "bindingVersion": "0.1.0"}},
		"x-close-codes": closes,
	}
	made := contract.Document{
		AsyncAPI: "3.0.0", Info: text(object{"title": "Ringback", "version": Version, "description": aboutEvents}),
		Servers: text(object{"ringback": object{
			"host": "{host}", "protocol": "ws", "description": "The server that serves this document; wss if it is behind TLS.",
			"variables": object{"host": object{"default": "localhost:3001"}},
		}}),
		Kinds: []any{}, Channels: text(object{"events": channel}),
		Operations: text(object{
			"sendEvents": object{
				"action": "send", "channel": object{"$ref": "#/channels/events"}, "messages": sends,
				"summary": "The server sends events to a client.",
			},
			"receiveFrames": object{
				"action": "receive", "channel": object{"$ref": "#/channels/events"}, "messages": receives,
				"summary": "A client sends frames to the server.",
			},
		}),
	}
	made.Components.Schemas = s.all
	return s.written(made)
}

const aboutEvents = "Events of jobs, each in one JSON text frame. The name of an event is the prefix of its job's kind (see `x-kinds`), a colon, and its type. " +
	"The ids of a user's events increase: connect again with `since`, and no event is missed or repeated. `x-close-codes` lists why the server closes a connection. /openapi.json describes the HTTP API."

func message(name, title, summary string, payload object) object {
	m := object{"name": name, "title": title, "summary": summary, "contentType": mediaJSON, "payload": payload}
	if example := recorded().Messages[name]; example != nil {
		m["examples"] = []object{{"payload": example}}
	}
	return m
}

func channelMessage(name string) object { return object{"$ref": "#/channels/events/messages/" + name} }

// frame returns the schema of a frame, which is identified by the name of its type.
func (s *schemas) frame(f Frame) object {
	schema := s.resolved(s.answer(f.Type))
	properties, _ := schema["properties"].(object)
	field := "type"
	if _, typed := properties[field]; !typed {
		field = "event"
	}
	if properties[field] == nil {
		s.fault("the frame %s has no field that names it", f.Name)
		return schema
	}
	if f.Prefixed {
		properties[field] = eventPattern(f.Name)
	} else {
		properties[field] = object{"const": f.Name, "description": "The type of the frame."}
	}
	return schema
}

func (c Contract) query() object {
	properties := object{}
	for _, r := range c.Routes {
		if r.Path != "/ws" {
			continue
		}
		for _, p := range r.Query {
			schema := object{"description": p.Text}
			maps.Copy(schema, p.Type)
			properties[p.Name] = schema
		}
	}
	return object{"type": "object", "properties": properties}
}

func (s *schemas) events(rows []lifecycle.EventRow) {
	s.answer(job.Event{})
	frame := s.resolved(s.all["Event"])
	var each []object
	for _, row := range rows {
		name := eventName(row.Type)
		own := job.MustJSON(object{
			"description": capital(row.When) + ".",
			"properties":  object{"event": eventPattern(string(row.Type)), "data": s.answer(row.Data)},
		})
		s.all[name] = job.MustJSON(s.joined(own, job.MustJSON(frame)))
		each = append(each, ref(name))
	}
	frame["x-events"] = each // not as alternatives: a prefix keeps generators of clients from telling them apart
	s.all["Event"] = job.MustJSON(frame)
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
