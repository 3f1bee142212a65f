package model_test

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"ringback/internal/turn/model"
	"ringback/test/must"
)

// ask sends a request to an API, and returns the recorded answers and the response's body.
func ask(t *testing.T, path string, handler http.HandlerFunc) (*model.Answers, string) {
	t.Helper()
	answers := &model.Answers{}
	s := api(t, model.API{Answers: answers}, handler)
	text := must.Get(io.ReadAll(call(t, "POST", s.URL+path, http.Header{"Accept-Encoding": {"gzip"}}).Body))(t)
	return answers, string(text)
}

// A rate limit is recognized from the API's response, which the turn gets unchanged.
func TestLimitsAreKnownFromTheAnswers(t *testing.T) {
	t.Parallel()
	const refusal = `{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}`
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct {
		path     string
		status   int
		header   map[string]string
		body     string
		answered bool
		want     *model.Refusal
	}{
		"an answer":         {"/v1/messages", 200, nil, "data: {}\n\n", true, nil},
		"an error":          {"/v1/messages?beta=true", 529, nil, refusal, false, &model.Refusal{Status: 529, Type: "overloaded_error", Message: "Busy"}},
		"no JSON":           {"/v1/messages", 503, nil, "<html>" + long, false, &model.Refusal{Status: 503}},
		"a quota":           {"/v1/messages", 429, map[string]string{"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "1800000000"}, "{}", false, &model.Refusal{Status: 429, ResetsAt: time.Unix(1800000000, 0).UTC()}},
		"no quota":          {"/v1/messages", 429, map[string]string{"anthropic-ratelimit-unified-status": "allowed", "anthropic-ratelimit-unified-reset": "1800000000"}, "{}", false, &model.Refusal{Status: 429}},
		"within a stream":   {"/v1/messages", 200, nil, "event: a\ndata: " + long + "\n\nevent: error\ndata: " + refusal + "\n\n", true, &model.Refusal{Type: "overloaded_error", Message: "Busy"}},
		"text of the model": {"/v1/messages", 200, nil, "event: content_block_delta\ndata: " + refusal + "\n\n", true, nil},
		"another path":      {"/v1/messages/count_tokens", 429, nil, refusal, false, nil},
	} {
		answers, body := ask(t, c.path, func(w http.ResponseWriter, r *http.Request) {
			must.Equal(t, "identity", r.Header.Get("Accept-Encoding"), name, "the API may answer in")
			for name, value := range c.header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
			for _, piece := range strings.SplitAfter(c.body, "r") { // no line arrives in a single chunk
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			}
		})
		must.Equal(t, c.body, body, name, "the turn got")
		if answers.Answered() != c.answered || !reflect.DeepEqual(answers.Refused(), c.want) {
			t.Errorf("%s: answered %v, refused %+v, want %v, %+v", name, answers.Answered(), answers.Refused(), c.answered, c.want)
		}
	}
}
