package model_test

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/turn/model"
	"ringback/test/must"
)

// whole returns an API that admits everything and records nothing, apart from what is set.
func whole(a model.API) model.API {
	if a.Answers == nil {
		a.Answers = &model.Answers{}
	}
	if a.AdmitFunc == nil {
		a.AdmitFunc = func(context.Context, model.Asked) (func(model.Report), error) {
			return func(model.Report) {}, nil
		}
	}
	if a.DeliveredFunc == nil {
		a.DeliveredFunc = func(context.Context, []string) error { return nil }
	}
	a.Log = slog.New(slog.DiscardHandler)
	return a
}

// start starts an API and a server that forwards to it, and returns the latter's address.
func start(t *testing.T, api http.Handler) string {
	t.Helper()
	real := httptest.NewServer(api)
	t.Cleanup(real.Close)
	return way(t, real.URL+"/base", nil)
}

func way(t *testing.T, base string, environ []string) string {
	t.Helper()
	u := must.Get(url.Parse(base))(t)
	s := httptest.NewServer(whole(model.API{URL: u, Header: http.Header{"X-Api-Key": {"real"}}, Transport: model.NewTransport(environ)}))
	t.Cleanup(s.Close)
	return s.URL
}

func call(t *testing.T, method, address string, header http.Header) *http.Response {
	t.Helper()
	return send(t, method, address, "{}", header)
}

func send(t *testing.T, method, address, body string, header http.Header) *http.Response {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))(t)
	maps.Copy(r.Header, header)
	answer := must.Get(client.Transport.RoundTrip(r))(t)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// The API gets the server's credential and none of the caller's; an error of the API is
// forwarded unchanged.
func TestTheCredentialIsPutIn(t *testing.T) {
	t.Parallel()
	address := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/base/v1/messages?beta=true" || r.Header.Get("Anthropic-Beta") != "b" || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" || strings.Join(r.Header["X-Api-Key"], ",") != "real" {
			t.Errorf("asked was %s with %v", r.URL, r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(529)
	}))
	answer := call(t, "POST", address+"/v1/messages?beta=true", http.Header{"X-Api-Key": {"placeholder"}, "Authorization": {"Bearer x"}, "Cookie": {"a=b"}, "Anthropic-Beta": {"b"}})
	if answer.StatusCode != 529 || answer.Header.Get("Retry-After") != "7" {
		t.Errorf("the answer is %d with %v", answer.StatusCode, answer.Header)
	}
}

// Gateways take targets and keys from header fields and parameters, so only those that the CLI sends reach
// the API.
func TestOnlyTheCLIsFieldsReachTheAPI(t *testing.T) {
	t.Parallel()
	arrived := make(chan *http.Request, 1)
	address := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- r
	}))
	cli := http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"claude-cli/2.1"},
		"Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"a", "b"}, "X-App": {"cli"}, "X-Claude-Code-Session-Id": {"s"},
		"X-Claude-Code-Agent-Id": {"a"}, "X-Stainless-Retry-Count": {"0"}, "X-Client-Request-Id": {"r"},
	}
	sent := maps.Clone(cli)
	for _, name := range []string{
		"X-Portkey-Custom-Host", "X-Portkey-Config", "Helicone-Target-Url", "Helicone-Auth", "Cf-Aig-Authorization", "Cf-Aig-Metadata",
		"X-Litellm-Api-Base", "X-Goog-Api-Key", "Api-Key", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "X-Original-Url",
		"X-Http-Method-Override", "X-Target-Url", "Authorization", "Cookie", "Proxy-Authorization", "Anthropic-Workspace-Id",
		"Anthropic-Organization", "X-Claude", "Xstainless-X", "X-Envoy-Original-Dst-Host", "Via",
	} {
		sent[name] = []string{"127.0.0.1:1"}
	}
	sent["x-portkey-virtual-key"] = []string{"k"} // not in its canonical form
	for query, want := range map[string]string{"": "", "?beta=true": "beta=true", "?beta=true&target=x": "beta=true", "?api-version=1&beta=1;x": ""} {
		call(t, "POST", address+"/v1/messages"+query, sent)
		r := <-arrived
		for _, own := range []string{"Content-Length", "Accept-Encoding", "X-Api-Key"} {
			r.Header.Del(own)
		}
		must.Equal(t, cli, r.Header, query)
		must.Equal(t, want, r.URL.RawQuery)
	}
}

// Only the CLI's own requests are forwarded.
func TestOtherPathsAreRefused(t *testing.T) {
	t.Parallel()
	address := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s was passed on", r.Method, r.URL) }))
	for _, request := range []string{
		"GET /", "HEAD /", "GET /v1/messages", "DELETE /v1/models", "POST /v1/messages/batches", "GET /v1/files", "POST /v1/files", "GET /v1/organizations/api_keys", "POST /v1/complete",
		"POST /v1/messages/", "POST //v1/messages", "POST /v1/messages/../files", "POST /v1/messages/%2e%2e/files", "POST /v1%2fmessages", "GET /v1/models/../files", "GET /api/oauth/profile",
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := call(t, method, address+path, http.Header{})
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != http.StatusForbidden || method != "HEAD" && !strings.Contains(string(text), "permission_error") {
			t.Errorf("%s was answered %d %s", request, answer.StatusCode, text)
		}
	}
}

// Data from the API is forwarded immediately, and an aborted stream does not look complete.
func TestAStreamIsNotHeldBack(t *testing.T) {
	t.Parallel()
	goOn := make(chan bool)
	address := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: one\n\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		panic(http.ErrAbortHandler)
	}))
	answer := call(t, "POST", address+"/v1/messages", http.Header{})
	body := bufio.NewReader(answer.Body)
	if line, err := body.ReadString('\n'); line != "event: one\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	close(goOn)
	if rest, err := io.ReadAll(body); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the stream ended well, with %q", rest)
	}
}

// The CLI retries after the error for an unavailable API.
func TestAnAPIThatIsAway(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	answer := call(t, "POST", way(t, gone.URL, nil)+"/v1/messages", http.Header{})
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "api_error") || strings.Contains(string(text), "127.0.0.1") {
		t.Errorf("the answer is %d %s", answer.StatusCode, text)
	}
}

// The operator's certificate authorities are trusted, others are not.
func TestTheOperatorsAuthorities(t *testing.T) {
	t.Parallel()
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	api.Config.ErrorLog = nil
	api.StartTLS()
	t.Cleanup(api.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.OK(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600))
	for status, environ := range map[int][]string{http.StatusNoContent: {"NODE_EXTRA_CA_CERTS=" + file}, http.StatusBadGateway: nil} {
		must.Equal(t, status, call(t, "POST", way(t, api.URL, environ)+"/v1/messages", http.Header{}).StatusCode, "with", environ, "the answer is")
	}
}

// The operator's proxy is used.
func TestTheOperatorsProxy(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "api.invalid" {
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(proxy.Close)
	answer := call(t, "POST", way(t, "http://api.invalid", []string{"HTTP_PROXY=" + proxy.URL})+"/v1/messages", http.Header{})
	must.Equal(t, http.StatusNoContent, answer.StatusCode)
}

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

// BenchmarkRequest compares a request of the CLI's size to the API itself with one that is
// forwarded.
func BenchmarkRequest(b *testing.B) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Repeat("event: content_block_delta\ndata: {}\n\n", 100))
	}))
	b.Cleanup(api.Close)
	u := must.Get(url.Parse(api.URL))(b)
	passed := httptest.NewServer(whole(model.API{URL: u, Transport: model.NewTransport(nil)}))
	b.Cleanup(passed.Close)
	body := `{"a":"` + strings.Repeat("x", 88_000) + `"}`
	for name, address := range map[string]string{"direct": api.URL, "passed on": passed.URL} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				sent := time.Now()
				answer := must.Get(http.Post(address+"/v1/messages", "application/json", strings.NewReader(body)))(b)
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				took = append(took, time.Since(sent))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}
