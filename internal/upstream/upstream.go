// Package upstream passes the requests of turns on to the model's API and puts in the
// server's credential, so that no turn needs to hold it.
package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"ringback/internal/outbound"
)

// API is the model's API as one turn may call it.
type API struct {
	// URL is the base URL of the API.
	URL *url.URL
	// Header replaces the header fields of each request; it holds the credential.
	Header http.Header
	// Transport calls the API. It may be shared.
	Transport http.RoundTripper
	// Answers is told what the model answers; may be nil.
	Answers *Answers
	// AdmitFunc is asked before a request goes to the model: for one with a body of so many
	// bytes, it waits until the request may go out, and returns a function to be called when the
	// request has ended; or an error, in words for the turn, if the request must not go out.
	// May be nil.
	AdmitFunc func(ctx context.Context, bytes int64) (ended func(), err error)
	// HeardFunc is told which offers of a message's words a request to the model holds, by their
	// tokens, before the request goes out; or an error, and it does not. May be nil.
	HeardFunc func(ctx context.Context, tokens []string) error
	// UsedFunc is told what a request uses, each time that the API says more of it; may be nil.
	UsedFunc func(was, is Use)
	// Log receives failures, never content; may be nil.
	Log *slog.Logger
}

// Serve serves the API until the listener is closed, which also ends open requests.
func (a API) Serve(l net.Listener) { outbound.Serve(l, a) }

// credentials are the header fields that a client signs in with.
var credentials = []string{"X-Api-Key", "Authorization", "Proxy-Authorization", "Cookie"}

// ServeHTTP implements [http.Handler].
func (a API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !mayCall(r) {
		refuse(w, http.StatusForbidden, "permission_error", "Ringback passes on only the Claude CLI's own requests to the model's API; this is not one of them.")
		return
	}
	if a.AdmitFunc != nil && r.URL.Path == messages {
		ended, err := a.AdmitFunc(r.Context(), bodyOf(r))
		if err != nil {
			refuse(w, http.StatusPaymentRequired, "billing_error", err.Error()) // the CLI ends its turn and does not try again
			return
		}
		defer ended()
	}
	if a.HeardFunc != nil && r.URL.Path == messages {
		r.Body = listen(r.Body, func(tokens []string) error { return a.HeardFunc(r.Context(), tokens) }) //nolint:contextcheck // it is the request's own
	}
	r.Header.Del("Upgrade") // a connection of another protocol would not be limited to these paths
	(&httputil.ReverseProxy{
		Transport: a.Transport, FlushInterval: -1, Rewrite: a.rewrite, ModifyResponse: a.note,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // a stream that breaks off is the client's to handle
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if a.Log != nil && r.Context().Err() == nil {
				a.Log.Warn("model API unreachable", "host", a.URL.Host, "error", err)
			}
			refuse(w, http.StatusBadGateway, "api_error", "Ringback could not reach the model's API.")
		},
	}).ServeHTTP(w, r)
}

// maxBody is the most that the API takes in a request, in bytes.
const maxBody = 32 << 20

// bodyOf is how many bytes a request has at most.
func bodyOf(r *http.Request) int64 {
	if r.ContentLength < 0 {
		return maxBody
	}
	return r.ContentLength
}

// messages is where the model is asked.
const messages = "/v1/messages"

// mayCall reports whether the CLI makes such requests. Batches, files and everything else
// that the credential may open stay closed.
func mayCall(r *http.Request) bool {
	if r.URL.RawPath != "" { // a path that two readers may understand differently
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
	r.SetURL(a.URL)
	for _, name := range credentials {
		r.Out.Header.Del(name)
	}
	r.Out.Header.Set("Accept-Encoding", "identity") // errors within a stream are read on the way
	for name, values := range a.Header {
		r.Out.Header[name] = slices.Clone(values)
	}
}

// note tells what the model has answered. Other requests say nothing of it.
func (a API) note(r *http.Response) error {
	if !strings.HasSuffix(r.Request.URL.Path, messages) {
		return nil
	}
	refuse := func(Refusal) {}
	if a.Answers != nil {
		if err := a.Answers.note(r); err != nil {
			return err
		}
		refuse = a.Answers.refuse
	}
	if r.StatusCode < http.StatusBadRequest {
		watch(r, refuse, a.UsedFunc)
	}
	return nil
}

// refuse answers like the API, so that the CLI understands it.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}
