package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"ringback/internal/outbound"
)

// API is the model's API as one turn may call it.
type API struct {
	// URL is the base URL of the API.
	URL *url.URL
	// Header replaces header fields of each request; it contains the credential.
	Header http.Header
	// Transport calls the API. It may be shared.
	Transport http.RoundTripper
	// Answers records the model's responses.
	Answers *Answers
	// AdmitFunc is called before a request is sent to the model. It waits until the request
	// may be sent, and returns a function to call whenever the API reports more about the
	// request; or an error, worded for the turn, if the request must not be sent.
	AdmitFunc func(ctx context.Context, asked Asked) (reportFunc func(Report), err error)
	// DeliveredFunc is called before a request is sent to the model, with the tokens of the
	// offers of a message's words that it contains. If it returns an error, the request is
	// not sent.
	DeliveredFunc func(ctx context.Context, tokens []string) error
	// Fetch is true if requests may make the API call hosts, and Search if they may make it
	// search the web.
	Fetch, Search bool
	// Log receives failures, but no content.
	Log *slog.Logger

	// large is a semaphore for keeping a large request body in memory.
	large chan struct{}
}

// Serve serves the API until the listener is closed, which also ends open requests.
func (a API) Serve(l net.Listener) {
	a.large = make(chan struct{}, 1)
	outbound.Serve(l, a)
}

// passed are the header fields of the CLI that reach the API, and prefixes of such fields. Gateways take
// targets, credentials and settings from many others.
var passed = []string{
	"Accept", "Content-Type", "User-Agent", "Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access",
	"X-App", "X-Client-Request-Id", "X-Claude-1p-Request-Class", "X-Claude-Code-*", "X-Stainless-*",
}

func isPassed(name string) bool {
	return slices.ContainsFunc(passed, func(field string) bool {
		prefix, isPrefix := strings.CutSuffix(field, "*")
		return name == field || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// ServeHTTP implements [http.Handler].
func (a API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !mayCall(r) {
		refuse(
			w, http.StatusForbidden, "permission_error",
			"Ringback passes on only the Claude CLI's own requests to the model's API; this is not one of them.",
		)
		return
	}
	if r.Method != http.MethodPost {
		a.pass(w, r, nil)
		return
	}
	asked, body, err := a.read(r)
	if err != nil {
		f, ok := errors.AsType[*fault](err)
		if !ok {
			f = &fault{http.StatusBadRequest, "invalid_request_error", "The request broke off."}
		}
		if f.status == http.StatusForbidden {
			a.Log.Warn("network access refused", "by", "the model's API", "error", f.message)
		}
		refuse(w, f.status, f.kind, f.message)
		return
	}
	defer func() { _ = body.Close() }()
	if r.URL.Path != messages {
		a.pass(w, r, nil)
		return
	}
	report, err := a.AdmitFunc(r.Context(), asked)
	if err != nil {
		refuse(w, http.StatusPaymentRequired, "billing_error", err.Error()) // the CLI does not retry these
		return
	}
	x := &exchange{reportFunc: report, repeats: asked.Repeats}
	ctx := x.follow(r.Context())
	defer x.end()
	if len(body.tokens) > 0 {
		if err := a.DeliveredFunc(r.Context(), body.tokens); err != nil {
			refuse(w, http.StatusBadGateway, "api_error", "Ringback could not record what this request contains for Claude.")
			return
		}
	}
	body.sentFunc = x.send
	a.pass(w, r.WithContext(ctx), x)
}

// pass forwards a request. x is nil if the request is not for the model.
func (a API) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	r.Header.Del("Upgrade") // a connection upgraded to another protocol would not be limited to these paths
	(&httputil.ReverseProxy{
		Transport: a.Transport, FlushInterval: -1, Rewrite: a.rewrite,
		ModifyResponse: func(answer *http.Response) error { return a.note(answer, x) },
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // the client handles an aborted stream
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				a.Log.Warn("model API unreachable", "host", a.URL.Host, "error", err)
			}
			refuse(w, http.StatusBadGateway, "api_error", "Ringback could not reach the model's API.")
		},
	}).ServeHTTP(w, r)
}

// messages is the path of requests to the model.
const messages = "/v1/messages"

// mayCall reports whether the CLI makes such requests. Batches, files and everything else
// that the credential may allow are rejected.
func mayCall(r *http.Request) bool {
	if r.URL.RawPath != "" { // a path that two parsers may read differently
		return false
	}
	switch r.Method {
	case http.MethodPost:
		return slices.Contains([]string{messages, messages + "/count_tokens"}, r.URL.Path)
	case http.MethodGet:
		return r.URL.Path == "/v1/models"
	}
	return false
}

func (a API) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.RawQuery = ""
	if r.In.URL.Query().Get("beta") == "true" {
		r.Out.URL.RawQuery = "beta=true"
	}
	r.SetURL(a.URL)
	r.Out.Trailer = nil
	maps.DeleteFunc(r.Out.Header, func(name string, _ []string) bool { return !isPassed(name) })
	r.Out.Header.Set("Accept-Encoding", "identity") // errors within a stream are parsed on the way
	for name, values := range a.Header {
		r.Out.Header[name] = slices.Clone(values)
	}
}

// note records the model's response. Other responses are ignored.
func (a API) note(r *http.Response, x *exchange) error {
	if x == nil {
		return nil
	}
	x.answer(r.StatusCode)
	if err := a.Answers.note(r); err != nil {
		return err
	}
	if r.StatusCode < http.StatusBadRequest {
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		r.Body = &watched{ReadCloser: r.Body, answers: a.Answers, exchange: x, isStream: kind != "application/json"}
	}
	return nil
}

// refuse responds with an error in the API's format, which the CLI understands.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

// NewTransport returns a transport that uses the proxy and trusts the certificate
// authorities of an environment.
func NewTransport(environ []string) *http.Transport {
	via := outbound.ViaOf(environ)
	return &http.Transport{
		Proxy:           func(r *http.Request) (*url.URL, error) { return via(r.URL) },
		DialContext:     (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: authorities(environ), MinVersion: tls.VersionTLS12},
		// Responses are forwarded as they are; the client decides on compression.
		DisableCompression: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 30 * time.Second, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
	}
}

// authorities returns the certificate authorities of the system and those in the
// environment's variables that the CLI also reads; nil for only the system's.
func authorities(environ []string) *x509.CertPool {
	var texts [][]byte
	for _, entry := range environ {
		name, file, _ := strings.Cut(entry, "=")
		if !slices.Contains([]string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"}, name) {
			continue
		}
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil
	}
	for _, text := range texts {
		pool.AppendCertsFromPEM(text)
	}
	return pool
}
