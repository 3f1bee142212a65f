// Package client speaks Ringback's API: the command line is built on it.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
)

// Client calls one server.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client of the server at base, which authenticates with token
// when it is not empty.
func New(base, token string) *Client {
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: &http.Client{Timeout: 30 * time.Second}}
}

// NewJob is what a job is created from.
type NewJob struct {
	Kind           string          `json:"kind"`
	Input          json.RawMessage `json:"input,omitempty"`
	UserID         string          `json:"userId,omitempty"`
	SessionID      string          `json:"sessionId,omitempty"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
	Options        job.Options     `json:"options,omitzero"`
}

// Created answers Create.
type Created struct {
	RequestID job.ID    `json:"requestId"`
	SessionID string    `json:"sessionId"`
	Status    job.State `json:"status"`
}

// Create asks for a job.
func (c *Client) Create(ctx context.Context, n NewJob) (Created, error) {
	return call[Created](ctx, c, http.MethodPost, "/api/jobs", n)
}

// Get returns the record of a job.
func (c *Client) Get(ctx context.Context, id job.ID) (job.Job, error) {
	return call[job.Job](ctx, c, http.MethodGet, jobPath(id, ""), nil)
}

// Filter selects jobs; empty fields select all.
type Filter struct {
	UserID, Kind, Status, Cursor string
	Limit                        int
}

// Page is a page of jobs, newest first.
type Page struct {
	Jobs       []job.Job `json:"jobs"`
	NextCursor string    `json:"nextCursor,omitempty"`
}

// List returns jobs.
func (c *Client) List(ctx context.Context, f Filter) (Page, error) {
	query := url.Values{}
	for name, value := range map[string]string{"userId": f.UserID, "kind": f.Kind, "status": f.Status, "cursor": f.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.Limit > 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return call[Page](ctx, c, http.MethodGet, "/api/jobs?"+query.Encode(), nil)
}

// Do applies an action to a job: cancel or retry.
func (c *Client) Do(ctx context.Context, id job.ID, action string) (job.Job, error) {
	return call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/"+action), struct{}{})
}

// Callback is what a person who plays Claude sends.
type Callback struct {
	RequestID       job.ID `json:"requestId"`
	CallbackBaseURL string `json:"callbackBaseUrl"`
	HMAC            string `json:"hmac"`
}

// Callback returns the callback values of a job that waits to be played by hand.
func (c *Client) Callback(ctx context.Context, id job.ID) (Callback, error) {
	return call[Callback](ctx, c, http.MethodGet, jobPath(id, "/callback"), nil)
}

// Kind is a sort of job.
type Kind struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Events       string          `json:"events"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty"`
}

// Kinds lists the kinds.
func (c *Client) Kinds(ctx context.Context) ([]Kind, error) {
	answer, err := call[struct {
		Kinds []Kind `json:"kinds"`
	}](ctx, c, http.MethodGet, "/api/kinds", nil)
	return answer.Kinds, err
}

// Kind returns a kind with its schemas.
func (c *Client) Kind(ctx context.Context, name string) (Kind, error) {
	return call[Kind](ctx, c, http.MethodGet, "/api/kinds/"+url.PathEscape(name), nil)
}

func jobPath(id job.ID, rest string) string { return "/api/jobs/" + url.PathEscape(string(id)) + rest }

// call makes one request. Errors of the server are *job.Error.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var answer T
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer, err
		}
		payload = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return answer, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer, c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return answer, readError(resp)
	}
	return answer, json.NewDecoder(resp.Body).Decode(&answer)
}

func readError(resp *http.Response) error {
	e := &job.Error{Kind: kindOf(resp.StatusCode)}
	if json.NewDecoder(resp.Body).Decode(e) != nil || e.Message == "" {
		e.Message = "The server answered " + resp.Status
	}
	return e
}

func kindOf(status int) job.ErrorKind {
	switch status {
	case http.StatusNotFound:
		return job.NotFound
	case http.StatusConflict:
		return job.Conflict
	case http.StatusUnauthorized, http.StatusForbidden:
		return job.Forbidden
	case http.StatusServiceUnavailable:
		return job.Unavailable
	}
	return job.Invalid
}

// unreachable words a request that got no answer.
func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &job.Error{
		Kind: job.Unavailable, Message: fmt.Sprintf("No Ringback server answers at %s", c.base), Cause: errors.Unwrap(err),
		Hint: "Start one with: ringback serve. Another address goes into --server or RINGBACK_URL.",
	}
}
