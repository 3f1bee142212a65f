package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"ringback/internal/client"
	"ringback/internal/job"
)

// canned is a server with ready answers, by method and path.
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

// A job is asked for, and its record read: Value holds what this program knows of
// an answer, JSON all that the server said.
func Example() {
	server := canned(map[string]string{
		"POST /api/jobs":      `{"requestId": "req_1", "sessionId": "ses_1", "status": "pending"}`,
		"GET /api/jobs/req_1": `{"requestId": "req_1", "status": "received", "result": {"summary": "Done."}}`,
	})
	defer server.Close()
	c := client.New(server.URL, "")
	created, err := c.Create(context.Background(), client.NewJob{Kind: "code-change", Input: json.RawMessage(`{"prompt": "Fix the typo"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := c.Get(context.Background(), created.Value.RequestID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.Value.State, string(record.Value.Result))
	// Output: received {"summary": "Done."}
}

// What the server refuses is an error in its own words, with what to do about it.
func ExampleClient_Create_refused() {
	server := canned(nil)
	defer server.Close()
	_, err := client.New(server.URL, "").Create(context.Background(), client.NewJob{Kind: "meals"})
	if e, ok := errors.AsType[*job.Error](err); ok {
		fmt.Println(e.Kind == job.NotFound, e.Message)
		fmt.Println(e.Hint)
	}
	// Output:
	// true There is no kind "meals"
	// GET /api/kinds lists the kinds there are.
}

// What waits for a person is listed, and answered in their own words.
func ExampleClient_Reply() {
	server := canned(map[string]string{
		"GET /api/checkpoints":              `{"checkpoints": [{"id": "chk_1", "type": "confirmation", "message": "Deploy \"shop\"?"}]}`,
		"POST /api/checkpoints/chk_1/reply": `{"id": "chk_1", "status": "answered", "reply": {"decision": "approve"}}`,
	})
	defer server.Close()
	c := client.New(server.URL, "")
	inbox, err := c.Checkpoints(context.Background(), client.CheckpointFilter{Status: job.Open})
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := inbox.Value.Checkpoints[0]
	fmt.Println(asked.Message)
	answered, err := c.Reply(context.Background(), asked.ID, client.Reply{Text: "Yes, Deploy"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answered.Value.Status, answered.Value.Reply.Decision)
	// Output:
	// Deploy "shop"?
	// answered approve
}
