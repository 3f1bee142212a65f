package clients

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/harness"
	"ringback/test/must"
)

// node runs a source in Node, and returns its output.
func node(t *testing.T, source string, arguments ...string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script.mjs")
	must.OK(t, os.WriteFile(script, bundle(t, "test/clients/testdata/"+source, "--format=esm", "--platform=node"), 0o600))
	return string(run(t, exec.CommandContext(t.Context(), "node", slices.Concat(webSocketFlag(t), []string{script}, arguments)...)))
}

func TestWhatTheClientDoesInFaults(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, situation, want string }{
		{"four refused calls share one new token", "tokens", "2"},
		{"an exception in a callback loses no event", "throwing", `["1","2","3","live","4",4]`},
		{"another user's job is followed on that user's connection", "foreign", `["7","7"]`},
		{"a job that may not be followed is an error", "forbidden", "404"},
		{"text ends with the last listener that wants it", "text", `[0,"{\"type\":\"unsubscribe\",\"requestId\":\"r1\",\"text\":true}"]`},
		{"no event is repeated, and all are new after a resync", "repeated", `["8","9","10","11","12","resync","6","7","13"]`},
		{"an answer without what was made is an error", "emptied", `["refused","refused","refused","refused"]`},
		{"a server that is busy until a time is asked again then, if that is soon", "dated", "2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, row.situation+" "+row.want+"\n", node(t, "faults.ts", "", row.situation))
		})
	}
}

// The other address is not called, whatever the redirect.
func TestARedirectedChangeIsAnError(t *testing.T) {
	t.Parallel()
	statuses := []int{301, 302, 303, 307, 308}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			t.Errorf("a redirect was followed by %s", r.Method)
			return
		}
		http.Redirect(w, r, "/moved", statuses[int(asked.Add(1))%len(statuses)])
	}))
	t.Cleanup(server.Close)
	must.Equal(t, `redirected ["refused","refused","refused","refused","refused"]`+"\n", node(t, "faults.ts", server.URL, "redirected"))
}

// However often the network, the token and the server fail, exactly one job is created.
func TestCreatingIsRepeatedWithTheSameKey(t *testing.T) {
	t.Parallel()
	var tokens, keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ IdempotencyKey string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		tokens, keys = append(tokens, r.Header.Get("Authorization")), append(keys, body.IdempotencyKey)
		switch len(keys) {
		case 1:
			panic(http.ErrAbortHandler) // the response is lost
		case 2:
			w.WriteHeader(http.StatusUnauthorized)
		case 3:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"requestId": "req_1"}`))
		}
	}))
	t.Cleanup(server.Close)
	must.Equal(t, "req_1\n", node(t, "create.ts", server.URL), "it was told")
	if want := []string{"Bearer first", "Bearer first", "Bearer second", "Bearer second"}; !cmp.Equal(tokens, want) {
		t.Errorf("it called with %q, want %q", tokens, want)
	}
	for _, key := range keys {
		if key == "" || key != keys[0] {
			t.Errorf("the keys are %q: those of another job", keys)
		}
	}
}

// A 503 may come after a call has taken effect: only calls that take effect once are repeated.
func TestOnlyCallsThatTakeEffectOnceAreRepeated(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if call := r.Method + r.URL.Path + string(body); !seen[call] {
			seen[call] = true
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(`{"requestId":"req_1","id":"chk_1","success":true,"jobs":[]}`))
	}))
	t.Cleanup(server.Close)
	must.Equal(t, "reject whatever is asked: 503\nsteer: 503\ninterrupt: 503\nsay: 503\n", node(t, "repeat.ts", server.URL), "it was told")
}

// A message names the question and the job next to which it was written, as far as the caller does.
func TestAMessageNamesWhatItStoodBeside(t *testing.T) {
	t.Parallel()
	var props []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Props json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if props = append(props, string(body.Props)); len(props) == 3 {
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = w.Write([]byte(`{"success":true}`))
	}))
	t.Cleanup(server.Close)
	must.Equal(t, "409\n", node(t, "say.ts", server.URL), "it was told")
	must.Equal(t, []string{
		`{}`, `{"checkpoint_message_id":3,"request_id":"req_1"}`, `{"checkpoint_message_id":0,"request_id":"req_1","may_start":false}`,
	}, props)
}

// A client without permission to listen gets an error, and does not retry forever.
func TestListeningEndsWhereItIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 600)
	argument := must.Get(json.Marshal(harness.Object{"url": w.server.URL, "token": harness.Text(t, w.site.URL+"/token")}))(t)
	must.Equal(t, "anotherUser 403\nwrongKey 401\nwrongTokens 401\n", node(t, "refused.ts", string(argument)), "it ended with")
}

// A client that asks for text gets all of it so far; after a missing piece, nothing is delivered
// until a new text begins. Thinking is marked.
func TestTextSoFarIsWatched(t *testing.T) {
	t.Parallel()
	must.Equal(t, "1 Hel\n1 Hello\n2 thinking Hm\n3 Bye\nreceived\n", node(t, "text.ts", ""), "it was told")
}
