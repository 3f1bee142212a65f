package test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ringback/test/must"
)

// webhook is a receiver of signed calls that fails the first few.
type webhook struct {
	URL, secret string
	calls       chan object
	ids         chan string
	fail        atomic.Int32
}

func startHook(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{secret: "a-secret-that-both-sides-know", calls: make(chan object, 100), ids: make(chan string, 100)}
	verifier := must.Get(standardwebhooks.NewWebhookRaw([]byte(h.secret)))(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(body, r.Header)
		}
		if err != nil {
			t.Errorf("a call of the webhook: %v", err)
		}
		h.ids <- r.Header.Get("Webhook-Id")
		if h.fail.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var call object
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

func (h *webhook) next(t *testing.T) object {
	t.Helper()
	select {
	case call := <-h.calls:
		return call
	case <-time.After(patience):
		t.Fatal("gave up waiting for a call of the webhook")
	}
	return nil
}

func startHTTP(t *testing.T, handler http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return srv.URL
}
