package callback_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/action"
	"ringback/internal/web/callback"
	"ringback/internal/web/httpjson"
	"ringback/test/must"
)

type object = map[string]any

// ownKinds are the kinds of these tests.
var ownKinds = kind.Source{
	Prompts: fstest.MapFS{
		"note.md": {Data: []byte("Write a note.")},
		"fix.md":  {Data: []byte("---\nworkspace: {repositories: [{url: /srv/service.git}]}\nreview: true\n---\nFix it.")},
		"release.md": {Data: []byte(`---
actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input: {type: object, required: [name], properties: {name: {type: string}}}
    webhook: https://deploy.example
  - name: look
    confirm: never
    webhook: https://look.example
  - name: write
    command: [printf, '%s', '{{input.text}}', '{{input.more.text}}']
  - name: switch
    input: {type: object, required: [file], properties: {file: {type: string}}}
    preview: {command: [cat, "{{input.file}}"]}
    webhook: https://switch.example
---
Release.`)},
		"errand.md": {Data: []byte(`---
callback: mcp
actions:
  - name: deploy
    input: {type: object, required: [name], properties: {name: {$ref: '#/$defs/name'}}, $defs: {name: {type: string, minLength: 2}}}
    webhook: https://deploy.example
  - name: look
    description: Looks around.
    confirm: never
    webhook: https://look.example
---
Run an errand.`)},
		"files.md":   {Data: []byte("---\ntools: {ask: [Write, Read], deny: ['Write(config/**)', 'Read(**/.env)']}\n---\nWrite files.")},
		"writing.md": {Data: []byte("---\ntools: {ask: ['Write(config/**)']}\n---\nWrite.")},
		"careful.md": {Data: []byte("---\ntools: {ask: [Bash], allow: ['Bash(ls *)'], deny: ['Bash(rm *)', 'Bash(*secret.json)']}\n---\nBe careful.")},
	},
	Schemas: fstest.MapFS{
		"fix.result.json": {Data: []byte(`{"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}}}`)},
		"errand.result.json": {Data: []byte(`{"required": ["suggestions"], "properties": {"suggestions": {"type": "array", "maxItems": 5, "items": {"type": "string"}},
			"reasoning": {"type": "string"}, "seen": {"type": "boolean", "readOnly": true, "default": false}}, "additionalProperties": false}`)},
		"note.result.json": {Data: []byte(`{"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}`)},
	},
}

// server is everything behind the callbacks, with its own store.
type server struct {
	t           *testing.T
	store       *store.Store
	redis       redis.UniversalClient
	jobs        *lifecycle.Service
	checkpoints *checkpoint.Service
	http        *echo.Echo
	// ran counts the runs of actions; webhook answers them.
	ran     atomic.Int32
	webhook func(url string) ([]byte, error)
	// input is the input of the latest run, as its webhook received it.
	input atomic.Pointer[json.RawMessage]
}

func startServer(t *testing.T, opts callback.Options) *server {
	t.Helper()
	return startAsking(t, opts, checkpoint.Options{})
}

// startAsking is startServer with options for how people are asked.
func startAsking(t *testing.T, opts callback.Options, people checkpoint.Options) *server {
	t.Helper()
	kinds := storetest.Kinds(t, kind.Builtin(), ownKinds)
	log := slog.New(slog.DiscardHandler)
	db, embedded := storetest.InProcess(t, store.Options{})
	s := &server{t: t, store: db, redis: embedded.Client}
	s.webhook = func(string) ([]byte, error) { return []byte(`{"message": "Done", "number": 7}`), nil }
	s.jobs = lifecycle.New(s.store, kinds, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 10})
	actions := action.New(s.store, s.jobs, action.Options{Dir: func(node string, _ job.ID) (string, bool) { return "", node == "" || node == "n" }, Environ: os.Environ(), Call: func(_ context.Context, url, _ string, body []byte) ([]byte, error) {
		var sent struct {
			Data struct{ Input json.RawMessage }
		}
		must.OK(t, json.Unmarshal(body, &sent))
		s.input.Store(&sent.Data.Input)
		s.ran.Add(1)
		return s.webhook(url)
	}}, log)
	t.Cleanup(actions.Stop)
	s.checkpoints = checkpoint.New(s.store, s.jobs, people, log)
	go s.store.Events.Subscribe(t.Context(), store.Subscriber{EventFunc: s.checkpoints.Event, ResubscribedFunc: s.checkpoints.Resubscribed})
	handler := must.Get(callback.New(s.store, s.jobs, s.checkpoints, actions, opts, log))(t)
	s.http = echo.New()
	s.http.HTTPErrorHandler = httpjson.ErrorHandler(log)
	handler.Register(s.http)
	return s
}

// turn is a job's turn in which the test plays Claude.
type turn struct {
	*server
	id        job.ID
	signature job.Signature
}

// start creates a job of a kind and starts its turn.
func (s *server) start(kindName string) *turn { return s.startJob(kindName, job.Options{}) }

func (s *server) startJob(kindName string, opts job.Options) *turn {
	s.t.Helper()
	j, err := s.jobs.Create(s.t.Context(), lifecycle.Request{
		UserID: "u1", ByBackEnd: true, Kind: kindName, SessionID: "s1", Input: inputFor(kindName), Options: opts,
	})
	must.OK(s.t, err)
	t := &turn{server: s, id: j.ID}
	t.take()
	return t
}

func inputFor(kindName string) object {
	if kindName == "meal-suggestions" {
		return object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-06"}
	}
	return object{}
}

// take starts the job's next turn, which has its own signature.
func (t *turn) take() { t.takeOn("n") }

func (t *turn) takeOn(node string) {
	t.t.Helper()
	if (&storetest.Service{Store: t.store, Service: t.jobs}).Next(t.t, node) == nil {
		t.t.Fatal("no turn waits")
	}
	t.signature = must.Get(t.store.Jobs.Signature(t.t.Context(), t.id))(t.t)
}

// resume ends the turn's process, and starts the next turn.
func (t *turn) resume() {
	t.t.Helper()
	t.exit()
	t.take()
}

// exit ends the turn's process.
func (t *turn) exit() {
	t.t.Helper()
	must.Get(t.jobs.EndTurn(t.t.Context(), lifecycle.TurnEnd{ID: t.id, Turn: t.job().Turn, Node: "n", Begun: true, Spoken: true}))(t.t)
}

func (t *turn) job() job.Job {
	t.t.Helper()
	return must.Get(t.store.Get(t.t.Context(), t.id))(t.t)
}

// signed returns a payload in the turn's envelope.
func (t *turn) signed(payload object) object {
	all := object{"requestId": t.id, "hmac": t.signature}
	maps.Copy(all, payload)
	return all
}

// answer is the answer to a callback.
type answer struct {
	Status int
	Body   object
}

// details returns the messages of a refusal by path.
func (a answer) details() map[string]string {
	texts := map[string]string{}
	list, _ := a.Body["details"].([]any)
	for _, d := range list {
		d, _ := d.(object)
		path, _ := d["path"].(string)
		texts[path], _ = d["message"].(string)
	}
	return texts
}

func (a answer) text(name string) string {
	text, _ := a.Body[name].(string)
	return text
}

// call calls back with a signed payload.
func (t *turn) call(endpoint string, payload object) answer {
	t.t.Helper()
	return t.post("/api/claude/"+endpoint, t.signed(payload))
}

// post sends a body unchanged.
func (s *server) post(path string, body any) answer {
	s.t.Helper()
	text := must.Get(json.Marshal(body))(s.t)
	return s.send(httptest.NewRecorder(), path, "application/json", text)
}

func (s *server) send(out *httptest.ResponseRecorder, path, contentType string, body []byte) answer {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	s.http.ServeHTTP(out, r)
	a := answer{Status: out.Code}
	if err := json.Unmarshal(out.Body.Bytes(), &a.Body); err != nil {
		s.t.Fatalf("%s was answered %d %q", path, out.Code, out.Body)
	}
	return a
}

// want fails the test unless a callback is answered with the status.
func (t *turn) want(status int, endpoint string, payload object) answer {
	t.t.Helper()
	a := t.call(endpoint, payload)
	if a.Status != status {
		t.t.Fatalf("%s was answered %d %v, want %d", endpoint, a.Status, a.Body, status)
	}
	return a
}

// reply answers the question at which the job waits.
func (t *turn) reply(given checkpoint.Reply) {
	t.t.Helper()
	j := t.job()
	if j.Checkpoint == nil {
		t.t.Fatalf("the job is %s and asks nothing", j.State)
	}
	given.By = job.Actor{UserID: "u1", Via: job.ViaAPI}
	must.Get(t.checkpoints.Reply(t.t.Context(), *j.Checkpoint, given))(t.t)
}

// audit returns the events of the job's audit log.
func (t *turn) audit() []string {
	t.t.Helper()
	var events []string
	for _, e := range t.auditEntries() {
		events = append(events, e.Event)
	}
	return events
}

func (t *turn) auditEntries() []job.AuditEntry {
	t.t.Helper()
	entries, _, err := t.store.Jobs.Audit(t.t.Context(), t.id)
	must.OK(t.t, err)
	list := make([]job.AuditEntry, len(entries))
	for i, text := range entries {
		must.OK(t.t, json.Unmarshal(text, &list[i]))
	}
	return list
}

// end ends the job.
func (t *turn) end(state job.State) {
	t.t.Helper()
	must.OK(t.t, t.jobs.End(t.t.Context(), t.id, state, job.CodeCrashed, "It broke.", lifecycle.Holder{}))
}

// lost is a connection that breaks before the answer is written.
type lost struct{ http.ResponseWriter }

func (lost) Write([]byte) (int, error) { return 0, errors.New("the connection is lost") }
