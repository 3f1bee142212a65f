package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gorilla/websocket"

	"ringback/client"
)

// canned returns a server with fixed responses, by method and path.
func canned(answers map[string]string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error": "There is no kind \"meals\"", "hint": "GET /api/kinds lists the kinds there are."}`
		}
		_, _ = io.WriteString(w, answer)
	}))
}

// A back end creates a job and waits for its result. With an IdempotencyKey, it may repeat the
// request until a server responds.
func Example() {
	server := canned(map[string]string{
		"POST /api/jobs":      `{"requestId": "req_1", "sessionId": "ses_1", "status": "pending"}`,
		"GET /api/jobs/req_1": `{"requestId": "req_1", "status": "received", "result": {"summary": "Done."}}`,
	})
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	c := client.New(server.URL, client.WithToken("an API key"))
	created, err := client.UntilAvailable(ctx, func() (client.Answer[client.Created], error) {
		return c.Create(ctx, client.NewJob{
			Kind: "code-change", Input: map[string]string{"prompt": "Fix the typo"},
			UserID: "u1", IdempotencyKey: "ticket-42",
		})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := c.Wait(ctx, created.Value.RequestID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Value.State, string(job.Value.Result))
	// Output: received {"summary": "Done."}
}

// An error contains the reason and what to do.
func ExampleError() {
	server := canned(nil)
	defer server.Close()
	_, err := client.New(server.URL).Create(context.Background(), client.NewJob{Kind: "meals"})
	if e, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(e.Kind == client.NotFound, e.Message)
		fmt.Println(e.Hint)
	}
	// Output:
	// true There is no kind "meals"
	// GET /api/kinds lists the kinds there are.
}

// A back end lists the open questions and answers one in the person's own words.
func ExampleClient_Reply() {
	server := canned(map[string]string{
		"GET /api/checkpoints":              `{"checkpoints": [{"id": "chk_1", "type": "error_recovery", "message": "5:3 is not supported. Which ratio?"}]}`,
		"POST /api/checkpoints/chk_1/reply": `{"id": "chk_1", "status": "answered", "reply": {"values": {"aspect_ratio": "16:9"}}}`,
	})
	defer server.Close()
	ctx := context.Background()
	c := client.New(server.URL)
	inbox, err := c.Checkpoints(ctx, client.CheckpointFilter{Status: client.Open})
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := inbox.Value.Checkpoints[0]
	fmt.Println(asked.Message)
	answered, err := c.Reply(ctx, asked.ID, client.Reply{Text: "Use 16:9"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answered.Value.Status, answered.Value.Reply.Values["aspect_ratio"])
	// Output:
	// 5:3 is not supported. Which ratio?
	// answered 16:9
}

// An approval names the question that was shown. If the job asks something else by then, Approve
// returns a Conflict and nothing is approved.
func ExampleClient_Approve() {
	server := canned(map[string]string{
		"GET /api/jobs/req_1": `{"requestId": "req_1", "status": "awaiting_approval",
			"checkpoint": {"id": "chk_1", "type": "confirmation", "message": "Deploy \"shop\"?"}}`,
		"POST /api/jobs/req_1/approve": `{"requestId": "req_1", "status": "running"}`,
	})
	defer server.Close()
	ctx := context.Background()
	c := client.New(server.URL)
	job, err := c.Wait(ctx, "req_1", client.AwaitingApproval, client.AwaitingInput)
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := job.Value.Checkpoint
	fmt.Println(asked.Message) // and all of asked.Props, before the person decides
	job, err = c.Approve(ctx, job.Value.ID, client.Seen{CheckpointID: asked.ID})
	if client.HasKind(err, client.Conflict) {
		fmt.Println("The job asks something else by now.")
		return
	}
	fmt.Println(job.Value.State, err)
	// Output:
	// Deploy "shop"?
	// running <nil>
}

// Watch yields the events of a user's jobs after the last event handled. It reconnects if the
// connection is lost, and no event is missed or repeated.
func ExampleClient_Watch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for _, frame := range []string{
			`{"id": "1763678000000042", "event": "recipes:suggestions:activity", "requestId": "req_1", "data": {"message": "Reading", "progress": 20}}`,
			`{"id": "1763678000000043", "event": "recipes:suggestions:received", "requestId": "req_1", "data": {}}`,
		} {
			_ = conn.WriteMessage(websocket.TextMessage, []byte(frame))
		}
	}))
	defer server.Close()
	handled := client.Seq(1763678000000041)
	for event, err := range client.New(server.URL).Watch(context.Background(), client.Watch{UserID: "u1", Since: &handled}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.ID, event.Type(), event.RequestID)
		if event.Type() == client.EventReceived {
			break
		}
	}
	// Output:
	// 1763678000000042 activity req_1
	// 1763678000000043 received req_1
}
