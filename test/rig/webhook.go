package rig

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ringback/test/harness"
	"ringback/test/must"
)

// Webhook is a receiver of signed calls that fails the first few.
type Webhook struct {
	URL, Secret string
	calls       chan harness.Object
	IDs         chan string
	Fail        atomic.Int32
}

func StartHook(t *testing.T) *Webhook {
	t.Helper()
	h := &Webhook{Secret: "a-secret-that-both-sides-know", calls: make(chan harness.Object, 100), IDs: make(chan string, 100)}
	verifier := must.Get(standardwebhooks.NewWebhookRaw([]byte(h.Secret)))(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(body, r.Header)
		}
		if err != nil {
			t.Errorf("a call of the webhook: %v", err)
		}
		h.IDs <- r.Header.Get("Webhook-Id")
		if h.Fail.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var call harness.Object
		if err := json.Unmarshal(body, &call); err != nil {
			t.Error(err)
		}
		h.calls <- call
		_, _ = io.WriteString(w, `{"ordered":"soup"}`)
	}))
	t.Cleanup(srv.Close)
	h.URL = srv.URL
	return h
}

func StartHTTP(t *testing.T, handler http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return srv.URL
}

func (h *Webhook) Next(t *testing.T) harness.Object {
	t.Helper()
	select {
	case call := <-h.calls:
		return call
	case <-time.After(must.Patience):
		t.Fatal("gave up waiting for a call of the webhook")
	}
	return nil
}

func Next(t *testing.T, posts <-chan harness.Object) harness.Object {
	t.Helper()
	select {
	case post := <-posts:
		return post
	case <-time.After(must.Patience):
		t.Fatal("gave up waiting for a message in Slack")
	}
	return nil
}
