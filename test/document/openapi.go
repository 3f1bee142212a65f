package document

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/web/contract"
)

const mediaJSON = "application/json"

// OpenAPI returns the HTTP endpoints as an OpenAPI document, version 3.1, without kinds.
func OpenAPI(c Contract) ([]byte, error) {
	s := newSchemas()
	s.events(c.Events)
	d := openAPI{schemas: s, paths: map[string]object{}, names: map[string]bool{}, bodies: contract.Schemas{}}
	for _, r := range c.Routes {
		d.route(completed(r))
	}
	responses := object{}
	for _, row := range Errors {
		responses[responseName(row.Kind)] = d.failure(row)
	}
	s.prune(d.paths, responses, d.bodies)
	maps.Copy(s.all, d.bodies)
	var tags []object
	for _, tag := range contract.Tags {
		tags = append(tags, object{"name": tag.Name, "description": tag.Text})
	}
	made := contract.Document{
		OpenAPI: "3.1.0", Info: text(object{"title": "Ringback", "version": Version, "description": aboutHTTP}),
		Servers: text([]object{{"url": "/", "description": "The server that serves this document."}}),
		Tags:    text(tags), Kinds: []any{}, Paths: text(d.paths),
	}
	made.Components.Schemas, made.Components.Responses = s.all, text(responses)
	made.Components.SecuritySchemes = text(security)
	return s.written(made)
}

const aboutHTTP = "Jobs for the Claude CLI, which calls back. JSON in and out, in UTF-8; times are RFC 3339 in UTC. Unknown fields of a request are refused, and a field that is null counts as absent, except in what the schemas of kinds describe. Ignore unknown fields of a response. " +
	"`x-kinds` lists the kinds of jobs, with the schemas of their inputs and results. Events come over a WebSocket, which /asyncapi.json describes."

var security = object{
	"bearer": object{
		"type": "http", "scheme": "bearer",
		"description": "An API key of a back end, or a user's token: a JWT signed by HS256 with `sub` and `exp`. A server without keys and tokens asks for none.",
	},
	"webhook": object{
		"type": "apiKey", "in": "header", "name": "webhook-signature",
		"description": "A Standard Webhooks signature by the secret of `INBOUND_WEBHOOK_SECRET`, together with `webhook-id` and `webhook-timestamp`.",
	},
}

// openAPI is the document under construction.
type openAPI struct {
	schemas *schemas
	paths   map[string]object
	// bodies are the schemas that contract.WithKinds completes, by their names.
	bodies contract.Schemas
	// names are the names of the routes so far.
	names map[string]bool
}

func (d *openAPI) route(r contract.Route) {
	path, parameters, err := readPath(r.Path)
	if err != nil {
		d.schemas.fault("%v", err)
		return
	}
	for _, p := range r.Query {
		parameters = append(parameters, object{"name": p.Name, "in": "query", "description": p.Text, "schema": p.Type})
	}
	if r.Idempotent {
		parameters = append(parameters, object{
			"name": IdempotencyKey, "in": "header", "schema": contract.Type{"type": "string", "minLength": 1, "maxLength": 258},
			"description": "Same as `idempotencyKey` in the body: 1 to 256 characters, plain or in double quotes. The same key of the same user returns the same job.",
		})
	}
	summary, more, _ := strings.Cut(r.Summary, ". ")
	operation := object{
		"operationId": r.Name, "tags": []contract.Tag{r.Tag}, "summary": capital(summary), "responses": d.responses(r),
		"security": securityOf(r),
	}
	if more != "" {
		operation["description"] = more + "."
	}
	if len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	if r.Body != nil {
		operation["requestBody"] = d.body(*r.Body, recorded().Operations[r.Name].Request)
	}
	if d.names[r.Name] {
		d.schemas.fault("two routes are called %s", r.Name)
	}
	d.names[r.Name] = true
	if d.paths[path] == nil {
		d.paths[path] = object{}
	}
	d.paths[path][strings.ToLower(r.Method)] = operation
}

// securityOf returns the credentials that a route requires, or none: a server in open mode
// requires none.
func securityOf(r contract.Route) []object {
	switch {
	case r.Signed:
		return []object{{"bearer": []string{}}, {"webhook": []string{}}, {}}
	case r.Access == contract.Caller || r.Access == contract.BackEnd:
		return []object{{"bearer": []string{}}, {}}
	}
	return []object{}
}

func (d *openAPI) body(b contract.Body, example json.RawMessage) object {
	media := cmp.Or(b.Media, mediaJSON)
	entry := object{"schema": d.bodySchema(b)}
	if example != nil && media == mediaJSON {
		entry["example"] = example
	}
	return object{"required": !b.Optional, "content": object{media: entry}}
}

func (d *openAPI) bodySchema(b contract.Body) any {
	own := d.schemas.request(b.Type)
	switch {
	case b.Schema != nil:
		all := d.schemas.joined(own, b.Schema)
		delete(all, "description")
		if closed, said := d.schemas.resolved(b.Schema)["additionalProperties"]; said {
			all["additionalProperties"] = closed
		} else {
			delete(all, "additionalProperties")
		}
		return all
	case b.WithInput:
		d.bodies[contract.WithInput] = text(d.schemas.resolved(own))
		return contract.WithInput
	case b.Open:
		open := d.schemas.resolved(own)
		open["additionalProperties"] = true
		delete(open, "description")
		return open
	case b.ByKind:
		d.bodies[contract.ByKind] = own
		return contract.ByKind
	}
	return own
}

func (d *openAPI) responses(r contract.Route) object {
	all := object{}
	for _, a := range r.Answers {
		all[strconv.Itoa(a.Status)] = d.answer(a, recorded().Operations[r.Name])
	}
	for _, kind := range errorsOf(r) {
		if status := strconv.Itoa(job.HTTPStatus(kind)); all[status] == nil { // else the route answers it differently
			all[status] = object{"$ref": "#/components/responses/" + responseName(kind)}
		}
	}
	return all
}

func (d *openAPI) answer(a contract.Answer, seen exchange) object {
	response := object{"description": a.Text}
	if schema := d.answerSchema(a); schema != nil {
		media := cmp.Or(a.Media, mediaJSON)
		entry := object{"schema": schema}
		if seen.Answer != nil && seen.Status == a.Status && media == mediaJSON {
			entry["example"] = seen.Answer
		}
		response["content"] = object{media: entry}
	}
	if len(a.Headers) > 0 {
		response["headers"] = headersOf(a.Headers)
	}
	return response
}

func (d *openAPI) answerSchema(a contract.Answer) any {
	switch {
	case a.Type != nil:
		return d.schemas.answer(a.Type)
	case a.OneOf != nil:
		var each []json.RawMessage
		for _, v := range a.OneOf {
			each = append(each, d.schemas.answer(v))
		}
		return object{"oneOf": each}
	case a.Lines != nil:
		return object{
			"type": "string", "contentMediaType": a.Media, "description": "One JSON value per line.",
			"contentSchema": object{"type": "array", "items": d.schemas.answer(a.Lines)},
		}
	case strings.HasPrefix(a.Media, "text/"), strings.HasPrefix(a.Media, "application/"):
		return object{"type": "string"}
	case a.Media != "":
		return object{}
	}
	return nil
}

func headersOf(list []contract.Header) object {
	all := object{}
	for _, h := range list {
		all[h.Name] = object{"description": h.Text, "schema": contract.Text()}
	}
	return all
}

func (d *openAPI) failure(row ErrorRow) object {
	response := object{
		"description": capital(row.When) + ".",
		"content":     object{mediaJSON: object{"schema": d.schemas.answer(job.Error{})}},
	}
	if headers := errorHeaders[row.Kind]; headers != nil {
		response["headers"] = headersOf(headers)
	}
	return response
}

func responseName(kind job.ErrorKind) string { return camelCase(string(kind), "_") }
