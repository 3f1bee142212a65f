package client_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/client"
	"ringback/test/must"
)

// jobIn returns a server with one job, whose record contains each of the answers in turn. After the
// first, its WebSocket has an event for each.
func jobIn(t *testing.T, answers ...string) (api *client.Client, questions func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	var served int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.RequestURI())
		if r.URL.Path != "/ws" {
			answer := answers[min(served, len(answers)-1)]
			served++
			if answer == "away" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = w.Write([]byte(`{"requestId":"r1","userId":"u1","status":"` + answer + `"}`))
			return
		}
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for i := range answers {
			_ = conn.WriteMessage(websocket.TextMessage, []byte(event(2*i+1, time.Now()))) // progress moves nothing
			_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"id":"`+client.Seq(2*i+2).String()+`","event":"k:running","requestId":"r1"}`))
		}
		mu.Unlock()
		_, _, _ = conn.ReadMessage() // until the client disconnects
		mu.Lock()
	}))
	t.Cleanup(server.Close)
	return client.New(server.URL), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

func TestWaitReturnsWhenTheJobHasEndedOrIsInAState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []string
		states  []client.State
		want    client.State
		asked   int
	}{
		"it has ended":           {[]string{"received"}, nil, client.Received, 1},
		"it ends":                {[]string{"pending", "running", "awaiting_input", "failed"}, nil, client.Failed, 5},
		"it asks a person":       {[]string{"pending", "awaiting_input", "received"}, []client.State{client.AwaitingInput}, client.AwaitingInput, 3},
		"the server is away":     {[]string{"running", "away", "received"}, nil, client.Received, 4},
		"it ended another way":   {[]string{"running", "cancelled"}, []client.State{client.AwaitingInput}, client.Cancelled, 3},
		"it is in it, unasked":   {[]string{"running", "rejected"}, []client.State{client.Running}, client.Running, 1},
		"nothing but its events": {[]string{"running", "running", "expired"}, nil, client.Expired, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, questions := jobIn(t, c.answers...)
			job, err := api.Wait(t.Context(), "r1", c.states...)
			if err != nil || job.Value.State != c.want {
				t.Fatalf("waited until %s, %v, want %s", job.Value.State, err, c.want)
			}
			asked := questions()
			must.Equal(t, c.asked, len(asked), "asked for", asked)
			if c.asked > 1 && asked[1] != "/ws?requestId=r1&since=0&userId=u1" {
				t.Errorf("watched %s", asked[1])
			}
		})
	}
}

func TestWaitEndsWithARefusal(t *testing.T) {
	t.Parallel()
	api, _ := answering(t, http.StatusNotFound, `{"error":"No job has the requestId \"r1\""}`)
	if _, err := api.Wait(t.Context(), "r1"); !client.HasKind(err, client.NotFound) {
		t.Errorf("got %v", err)
	}
}
