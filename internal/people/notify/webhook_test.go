package notify_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ringback/internal/people/notify"
	"ringback/test/must"
)

func hook(t *testing.T, secrets string, guarded bool) *notify.Webhook {
	t.Helper()
	return must.Get(notify.NewWebhook(secrets, guarded))(t)
}

func TestReceiversCanVerifyEachSecret(t *testing.T) {
	t.Parallel()
	key := base64.StdEncoding.EncodeToString([]byte("a key of the receiver, 32 bytes."))
	var headers http.Header
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = r.Header
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	defer srv.Close()
	answer, err := hook(t, "whsec_"+key+" plain-text-secret", false).Send(t.Context(), srv.URL, "msg_1", []byte(`{"a":1}`))
	if err != nil || string(answer) != `{"ok":true}` {
		t.Fatalf("answered %s, %v", answer, err)
	}
	first := must.Get(standardwebhooks.NewWebhook(key))(t)
	second := must.Get(standardwebhooks.NewWebhookRaw([]byte("plain-text-secret")))(t)
	for i, receiver := range []*standardwebhooks.Webhook{first, second} {
		must.OK(t, receiver.Verify(body, headers), "receiver", i+1)
		if receiver.Verify([]byte(`{"a":2}`), headers) == nil {
			t.Errorf("receiver %d takes another body", i+1)
		}
	}
	if _, err := notify.NewWebhook("whsec_???", false); err == nil {
		t.Error("a secret that is no base64 was taken")
	}
}

func TestGuardedCallsReachPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	called := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer srv.Close()
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	for _, address := range []string{
		srv.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port,
		"http://169.254.169.254/latest", "http://10.1.2.3/", "http://192.168.0.1/", "http://100.100.100.200/", "http://[fd00::1]/", "http://2130706433" + port,
		"http://[64:ff9b::7f00:1]/", "file:///etc/passwd", "not a url",
	} {
		_, err := hook(t, "", true).Send(t.Context(), address, "msg_1", []byte("{}"))
		if err == nil {
			t.Errorf("%s was called", address)
			continue
		}
		if _, again := notify.Retry(err, 0); again && !strings.Contains(err.Error(), "no such host") && !strings.Contains(err.Error(), "unsupported protocol") {
			t.Errorf("%s will be tried again: %v", address, err)
		}
	}
	if called {
		t.Error("the server was reached")
	}
}

func TestNoAddressInErrors(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	address := strings.Replace(srv.URL, "http://", "http://user:password@", 1) + "/secret-path?token=secret"
	for range 2 {
		_, err := hook(t, "", false).Send(t.Context(), address, "msg_1", nil)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "password") {
			t.Errorf("the error is %v", err)
		}
		srv.Close() // from now on, nothing listens
	}
}

// A receiver has accepted a notification once its status says so, whatever becomes of its body.
func TestTheStatusAloneAcceptsANotification(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status   int
		rest     func(w http.ResponseWriter, gone <-chan struct{})
		accepted bool
	}{
		"no body":                       {204, func(http.ResponseWriter, <-chan struct{}) {}, true},
		"a body that never ends":        {200, func(_ http.ResponseWriter, gone <-chan struct{}) { <-gone }, true},
		"a body that is cut off":        {202, func(http.ResponseWriter, <-chan struct{}) { panic(http.ErrAbortHandler) }, true},
		"a body without bounds":         {200, func(w http.ResponseWriter, _ <-chan struct{}) { _, _ = io.CopyN(w, zeros{}, 1<<30) }, true},
		"a refusal that never ends":     {500, func(_ http.ResponseWriter, gone <-chan struct{}) { <-gone }, false},
		"a redirect with a slow answer": {302, func(_ http.ResponseWriter, gone <-chan struct{}) { <-gone }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(row.status)
				_ = http.NewResponseController(w).Flush()
				row.rest(w, r.Context().Done())
			}))
			defer srv.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := hook(t, "", false).Notify(ctx, srv.URL, "msg_1", []byte("{}"))
			if (err == nil) != row.accepted || ctx.Err() != nil {
				t.Errorf("accepted is %t: %v, %v", err == nil, err, ctx.Err())
			}
		})
	}
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A receiver that is notified often keeps its connection.
func TestNotificationsShareAConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	h := hook(t, "", false)
	for range 3 {
		err := h.Notify(t.Context(), srv.URL, "msg_1", []byte("{}"))
		must.OK(t, err)
	}
	must.Equal(t, int32(1), connections.Load(), "connections")
}

// A receiver names its wait in seconds, or as a time on its own clock; at most an hour counts.
func TestReceiversChooseTheWait(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "-3": 0, "soon": 0, "86400": time.Hour, "99999999999999": time.Hour,
		"Mon, 02 Mar 2026 18:00:30 GMT": 30 * time.Second, "Monday, 02-Mar-26 18:00:30 GMT": 30 * time.Second,
		"Mon Mar  2 18:00:30 2026": 30 * time.Second, "Mon, 02 Mar 2026 17:59:00 GMT": 0, "Tue, 03 Mar 2026 18:00:00 GMT": time.Hour,
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Mon, 02 Mar 2026 18:00:00 GMT")
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		defer srv.Close()
		err := hook(t, "", false).Notify(t.Context(), srv.URL, "msg_1", []byte("{}"))
		e, ok := errors.AsType[*notify.CallError](err)
		if !ok || e.After != want {
			t.Errorf("after %q it waits %v, want %s", after, err, want)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{301: true, 400: true, 401: true, 404: true, 408: true, 410: false, 425: true, 429: true, 500: true, 503: true, 0: true} {
		_, again := notify.Retry(&notify.CallError{Status: status, Cause: errors.New("x")}, 0)
		must.Equal(t, want, again, "after", status, "again is")
	}
	if after, _ := notify.Retry(&notify.CallError{Status: 503, After: 7 * time.Second}, time.Hour); after != 7*time.Second {
		t.Errorf("the receiver asked for 7s, it is %s", after)
	}
	tries := 0
	for age := time.Duration(0); ; tries++ {
		after, again := notify.Retry(&notify.CallError{Status: 500}, age)
		if !again {
			if age < 72*time.Hour || age > 4*24*time.Hour {
				t.Errorf("it gives up after %s", age)
			}
			break
		}
		if after < 5*time.Second || after > max(age, 5*time.Second)*6/5 {
			t.Errorf("after %s it waits %s", age, after)
		}
		age += after
	}
	if tries < 12 || tries > 30 {
		t.Errorf("%d tries in three days", tries)
	}
}

// A call may have had an effect unless it was not sent, or the receiver itself answered that it failed.
func TestWhichCallsMayHaveHadAnEffect(t *testing.T) {
	t.Parallel()
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	cutOff := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, answer)
			conn.Close()
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, row := range map[string]struct {
		handler http.HandlerFunc // nil if nothing listens
		failed  bool
	}{
		"nothing listens":                       {nil, true},
		"the receiver refuses it":               {answers(http.StatusConflict), true},
		"the receiver fails":                    {answers(http.StatusInternalServerError), true},
		"the receiver is overloaded":            {answers(http.StatusServiceUnavailable), true},
		"a proxy has no answer of the receiver": {answers(http.StatusBadGateway), false},
		"a proxy waited too long":               {answers(http.StatusGatewayTimeout), false},
		"a proxy has a status of its own":       {answers(524), false},
		"the answer is somewhere else":          {answers(http.StatusSeeOther), false},
		"the connection ends without an answer": {cutOff(""), false},
		"the answer is cut off":                 {cutOff("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := gone.URL
			if row.handler != nil {
				srv := httptest.NewServer(row.handler)
				defer srv.Close()
				address = srv.URL
			}
			_, err := hook(t, "", false).Send(t.Context(), address, "msg_1", []byte("{}"))
			e, ok := errors.AsType[*notify.CallError](err)
			if !ok || e.Unsure() == row.failed {
				t.Errorf("the error is %v; that it has failed for sure is not %t", err, row.failed)
			}
		})
	}
}
