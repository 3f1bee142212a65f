package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/web/api"
	"ringback/internal/web/apikey"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

type object = map[string]any

const (
	apiKey    = "key-of-a-back-end"
	jwtSecret = "0123456789abcdef0123456789abcdef"
)

// locked requires an API key or a user's token.
var locked = api.Options{Keys: keysOf(apiKey), JWTSecret: jwtSecret}

// keysOf returns a set of back ends' keys.
func keysOf(texts ...string) *apikey.Set {
	var keys []apikey.Key
	for i, text := range texts {
		keys = append(keys, apikey.Of("key-"+strconv.Itoa(i+1), text))
	}
	set, err := apikey.Open("", keys...)
	if err != nil {
		panic(err)
	}
	return set
}

// server is the API with its own store.
type server struct {
	t           *testing.T
	store       *store.Store
	jobs        *lifecycle.Service
	checkpoints *checkpoint.Service
	http        http.Handler
}

func startServer(t *testing.T, opts api.Options) *server {
	t.Helper()
	own := kind.Source{
		Prompts: fstest.MapFS{
			"note.md":    {Data: []byte("Write a note.")},
			"careful.md": {Data: []byte("---\ntools: {ask: [Bash]}\n---\nBe careful.")},
		},
		Schemas: fstest.MapFS{
			"note.input.json": {Data: []byte(`{"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false}`)},
		},
	}
	db, _ := storetest.InProcess(t, store.Options{})
	return serve(t, db, own, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 10}, opts)
}

// serve serves the API with a store and kinds of its own.
func serve(t *testing.T, db *store.Store, own kind.Source, rules lifecycle.Options, opts api.Options) *server {
	t.Helper()
	kinds := storetest.Kinds(t, kind.Builtin(), own)
	log := slog.New(slog.DiscardHandler)
	s := &server{t: t, store: db}
	s.jobs = lifecycle.New(s.store, kinds, rules)
	s.checkpoints = checkpoint.New(s.store, s.jobs, checkpoint.Options{}, log)
	opts.RefusingFunc = func() bool { return false }
	opts.Ready = func(context.Context) job.Readiness { return job.Readiness{} }
	e := api.NewEcho(log)
	api.New(s.store, s.jobs, hub.New(s.store, hub.Options{}, log), s.checkpoints, opts, log).Register(e)
	s.http = e
	return s
}

// tokenOf returns a token of a user.
func tokenOf(t *testing.T, userID string) string {
	t.Helper()
	return must.Get(api.MintToken(jwtSecret, userID, time.Hour))(t)
}

// answer is the response to a request.
type answer struct {
	Status int
	Header http.Header
	Body   object
}

func (a answer) text(name string) string {
	text, _ := a.Body[name].(string)
	return text
}

// details returns the messages of an error by their paths.
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

// as sends a request with a key or token; empty for none.
func (s *server) as(credential, method, path string, body any, headers ...string) answer {
	s.t.Helper()
	var content io.Reader
	if body != nil {
		text := must.Get(json.Marshal(body))(s.t)
		content = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(s.t.Context(), method, path, content)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	s.http.ServeHTTP(out, r)
	a := answer{Status: out.Code, Header: out.Header()}
	_ = json.Unmarshal(out.Body.Bytes(), &a.Body) // not all responses are objects
	return a
}

// wants sends a request as as does, reports an answer of another status, and returns its body.
func (s *server) wants(status int, credential, method, path string, body any, headers ...string) object {
	s.t.Helper()
	a := s.as(credential, method, path, body, headers...)
	must.Equal(s.t, status, a.Status, method, path, "was answered", a.Body)
	return a.Body
}

// create creates a job of a user and returns its id.
func (s *server) create(credential, kindName, userID string) job.ID {
	s.t.Helper()
	a := s.as(credential, "POST", "/api/jobs", object{"kind": kindName, "userId": userID, "sessionId": "s-" + userID, "input": object{}})
	if a.Status != http.StatusAccepted {
		s.t.Fatalf("a job was answered %d %v", a.Status, a.Body)
	}
	return job.ID(a.text("requestId"))
}

// ask makes a job ask a question, as Claude would, and returns the checkpoint.
func (s *server) ask(id job.ID, r checkpoint.Request) job.CheckpointID {
	s.t.Helper()
	for p := range store.Partition(store.Partitions) {
		turns := storetest.Service{Store: s.store, Service: s.jobs}
		must.Get(turns.Claim(s.t.Context(), p, lifecycle.Worker{Node: "n"}))(s.t)
	}
	j := must.Get(s.store.Get(s.t.Context(), id))(s.t)
	r.RequestID, r.UserID, r.SessionID = j.ID, j.UserID, j.SessionID
	outcome, asked, err := s.checkpoints.Ask(s.t.Context(), r)
	if err != nil || outcome.Kind != lifecycle.Accepted {
		s.t.Fatalf("asking: %s %v", outcome, err)
	}
	return asked.ID
}
