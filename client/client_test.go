package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/must"
)

// request is a request that a server received.
type request struct {
	Line, Authorization, ContentType, Body string
}

// answering returns a client of a server that gives the same response to every request, and the
// latest request.
func answering(t *testing.T, status int, body string) (*client.Client, *request) {
	t.Helper()
	var got request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = request{r.Method + " " + r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(text)}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return client.New(server.URL+"/", client.WithToken("secret-token")), &got
}

// read splits the response of a call.
func read[T any](a client.Answer[T], err error) (any, json.RawMessage, error) {
	return a.Value, a.JSON, err
}

func TestRequests(t *testing.T) {
	t.Parallel()
	const asJSON = "application/json"
	record := `{"requestId":"r 1","status":"running","input":{"n":10000000000000000001},"usage":{},"later":"unknown field"}`
	for _, c := range []struct {
		name   string
		answer string
		do     func(context.Context, *client.Client) (any, json.RawMessage, error)
		want   request
		value  any
	}{
		{
			"create", `{"requestId":"r1","sessionId":"s1","status":"pending"}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Create(ctx, client.NewJob{
					Kind: "k", Input: json.RawMessage(`{"a":1.0}`), UserID: "u", SessionID: "s", IdempotencyKey: "i",
					Options: job.Options{Simulate: job.SimulateManual},
				}))
			},
			request{
				"POST /api/jobs", "Bearer secret-token", asJSON,
				`{"kind":"k","input":{"a":1.0},"userId":"u","sessionId":"s","idempotencyKey":"i","options":{"simulate":"manual"}}`,
			},
			client.Created{RequestID: "r1", SessionID: "s1", State: job.Pending},
		},
		{
			"get", record,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Get(ctx, "r 1"))
			},
			request{"GET /api/jobs/r%201", "Bearer secret-token", "", ""},
			job.Job{ID: "r 1", State: job.Running, Input: json.RawMessage(`{"n":10000000000000000001}`)},
		},
		{
			"list", `{"jobs":[],"nextCursor":"n"}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.List(ctx, client.Filter{UserID: "a&b", Kind: "k", States: []job.State{job.Failed, job.Expired}, Cursor: "c", Limit: 7}))
			},
			request{"GET /api/jobs?cursor=c&kind=k&limit=7&status=failed%2Cexpired&userId=a%26b", "Bearer secret-token", "", ""},
			client.Page{Jobs: []job.Job{}, NextCursor: "n"},
		},
		{
			"cancel", `{"requestId":"r1","status":"cancelled"}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Cancel(ctx, "r1"))
			},
			request{"POST /api/jobs/r1/cancel", "Bearer secret-token", asJSON, "{}"},
			job.Job{ID: "r1", State: job.Cancelled},
		},
		{
			"retry", `{"requestId":"r1","status":"pending"}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Retry(ctx, "r1"))
			},
			request{"POST /api/jobs/r1/retry", "Bearer secret-token", asJSON, "{}"},
			job.Job{ID: "r1", State: job.Pending},
		},
		{
			"kinds", `{"kinds":[{"name":"k","description":"d","events":"e"}]}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Kinds(ctx))
			},
			request{"GET /api/kinds", "Bearer secret-token", "", ""},
			client.Kinds{Kinds: []client.Kind{{Name: "k", Description: "d", Events: "e"}}},
		},
		{
			"kind", `{"name":"k","inputSchema":{"type":"object"},"resultSchema":true}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Kind(ctx, "k/../x"))
			},
			request{"GET /api/kinds/k%2F..%2Fx", "Bearer secret-token", "", ""},
			client.Kind{Name: "k", InputSchema: json.RawMessage(`{"type":"object"}`), ResultSchema: json.RawMessage(`true`)},
		},
		{
			"callback", `{"requestId":"r1","callbackBaseUrl":"http://localhost:3001","hmac":"abc"}`,
			func(ctx context.Context, c *client.Client) (any, json.RawMessage, error) {
				return read(c.Callback(ctx, "r1"))
			},
			request{"GET /api/jobs/r1/callback", "Bearer secret-token", "", ""},
			client.Callback{RequestID: "r1", BaseURL: "http://localhost:3001", HMAC: "abc"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			api, got := answering(t, http.StatusOK, c.answer)
			value, raw, err := c.do(t.Context(), api)
			must.OK(t, err)
			must.Equal(t, c.want, *got, "asked for")
			must.Equal(t, c.value, value, "read")
			must.Equal(t, c.answer, string(raw), "the JSON is")
		})
	}
}

func TestErrorsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   job.Error
	}{
		{
			"with details", 400, `{"error":"Invalid input","details":[{"path":"/input/a","message":"is required"}],"hint":"Add it."}`,
			job.Error{Kind: job.Invalid, Message: "Invalid input", Details: []job.Detail{{Path: "/input/a", Message: "is required"}}, Hint: "Add it."},
		},
		{"no credentials", 401, `{"error":"Not authorized"}`, job.Error{Kind: job.Unauthorized, Message: "Not authorized"}},
		{"conflict", 409, `{"error":"Already received"}`, job.Error{Kind: job.Conflict, Message: "Already received"}},
		{"too fast", 429, `{"error":"Slow down"}`, job.Error{Kind: job.TooMany, Message: "Slow down"}},
		{"a proxy's page", 502, `<html>Bad Gateway</html>`, job.Error{Kind: job.Unavailable, Message: "The server answered 502 Bad Gateway"}},
		{"other JSON", 500, `{"message":"oops"}`, job.Error{Kind: job.Internal, Message: "The server answered 500 Internal Server Error"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			api, _ := answering(t, c.status, c.body)
			_, err := api.Get(t.Context(), "r1")
			var got *job.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a *job.Error", err)
			}
			must.Equal(t, c.want, *got)
		})
	}
}

func TestNotRinging(t *testing.T) {
	t.Parallel()
	api, _ := answering(t, http.StatusOK, "<html>Welcome</html>")
	_, err := api.Kinds(t.Context())
	must.Fail(t, err, "does not seem to be Ringback")
}

// The error contains the server's Retry-After.
func TestErrorsSayWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"7", "Mon, 02 Mar 2026 18:00:07 GMT"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Mon, 02 Mar 2026 18:00:00 GMT")
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer server.Close()
		_, err := client.New(server.URL, client.WithHTTPClient(server.Client())).Kinds(t.Context())
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Kind != client.TooMany || e.RetryAfter != 7*time.Second {
			t.Errorf("after %s: got %#v", after, err)
		}
	}
}

// A redirect of a call that changes something is an error that names the other address, and the other
// address is not called. Reads follow redirects.
func TestOnlyReadsFollowRedirects(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var reached atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/moved/") {
				reached.Add(1)
				_, _ = io.WriteString(w, `{"requestId":"r1","id":"chk_1","success":true,"status":"pending"}`)
				return
			}
			http.Redirect(w, r, "/moved"+r.URL.Path+"?key=secret", status)
		}))
		defer server.Close()
		c, ctx := client.New(server.URL), t.Context()
		for name, err := range map[string]error{
			"create": did(c.Create(ctx, client.NewJob{Kind: "k"})), "cancel": did(c.Cancel(ctx, "r1")), "approve": did(c.Approve(ctx, "r1", client.Seen{})),
			"reply": did(c.Reply(ctx, "chk_1", client.Reply{})), "say": did(c.Say(ctx, "s1", "", "hi", 0)), "revoke": did(c.Revoke(ctx, "", "apr_1")),
		} {
			if err == nil || !strings.Contains(err.Error(), "redirects to "+server.URL+"/moved/") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d, %s: %v", status, name, err)
			}
		}
		must.Equal(t, int32(0), reached.Load(), "calls of the other address after", status)
		must.OK(t, did(c.Get(ctx, "r1")))
	}
}

// JSON that lacks what each answer to such a call has is not the answer to it.
func TestAnAnswerWithoutWhatWasMadeIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"jobs":null}`, `{"success":false}`, `{"error":"no"}`} {
		c, _ := answering(t, http.StatusOK, body)
		ctx := t.Context()
		for name, err := range map[string]error{
			"create": did(c.Create(ctx, client.NewJob{Kind: "k"})), "retry": did(c.Retry(ctx, "r1")), "reply": did(c.Reply(ctx, "chk_1", client.Reply{})),
			"say": did(c.Say(ctx, "s1", "", "hi", 0)), "bulk": did(c.Bulk(ctx, client.NewBulk{})),
		} {
			if err == nil {
				t.Errorf("%s: %s counts as success", name, body)
			}
		}
	}
}

// WebSockets use the caller's HTTP client, too: only this one trusts the server.
func TestWebSocketsTrustWhomRequestsTrust(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(event(1, time.Now())))
	}))
	defer server.Close()
	for e, err := range client.New(server.URL, client.WithHTTPClient(server.Client())).Watch(t.Context(), client.Watch{Since: new(client.Seq)}) {
		if err != nil || e.ID != 1 {
			t.Errorf("got %v, %v", e.ID, err)
		}
		break
	}
}

// nobody is an address at which nothing listens. Another test may have taken a port that was free a
// moment ago, but not port 1.
const nobody = "http://127.0.0.1:1"

func TestServerIsNotRunning(t *testing.T) {
	t.Parallel()
	_, err := client.New(strings.TrimPrefix(nobody, "http://")).Kinds(t.Context())
	var e *job.Error
	if !errors.As(err, &e) || e.Message != "No server is running at "+nobody || !strings.Contains(e.Hint, "ringback serve") {
		t.Errorf("got %v", err)
	}
}

func TestPasswordsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://user:hunter2@127.0.0.1:1", "ftp://user:hunter2@127.0.0.1", "http://user:hunter2@%zz"} {
		_, err := client.New(address).Kinds(t.Context())
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": client.DefaultURL, "localhost:3001": "http://localhost:3001", "https://example.com/": "https://example.com",
	} {
		must.Equal(t, want, client.New(given).URL(), given, "means")
	}
}
