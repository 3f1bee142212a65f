package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"ringback/internal/job"
)

// DefaultURL is the address at which a server listens by default.
const DefaultURL = "http://127.0.0.1:3001"

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// Option changes how a Client calls its server.
type Option func(*Client)

// WithToken has the client authenticate with an API key or a user's token. An empty
// token sends none.
func WithToken(token string) Option { return func(c *Client) { c.token = token } }

// WithHTTPClient has requests sent by h, whose timeout also applies to them. WebSockets use
// the proxy, TLS configuration and dialer of its transport if that is an *http.Transport.
// The default has a timeout of 30 seconds.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// New returns a client of the server at base. An empty base is DefaultURL; a base without
// a scheme is taken as http.
func New(base string, options ...Option) *Client {
	c := &Client{base: normalise(base), http: &http.Client{Timeout: 30 * time.Second}}
	for _, set := range options {
		set(c)
	}
	return c
}

func normalise(base string) string {
	switch {
	case base == "":
		return DefaultURL
	case !strings.Contains(base, "://"):
		base = "http://" + base
	}
	return strings.TrimRight(base, "/")
}

// URL is the server's address, without a slash at its end.
func (c *Client) URL() string { return c.base }

// Answer is what the server answered.
type Answer[T any] struct {
	// Value is the answer as far as this package knows its fields.
	Value T
	// JSON is the answer as it came, with fields that a newer server may have added.
	JSON json.RawMessage
}

// maxAnswer is the most bytes of an answer that are read: a page of 500 jobs
// with large results stays well below.
const maxAnswer = 256 << 20

// Call makes a request for which there is no method: to path, which begins with a slash, with
// the JSON of body unless that is nil. It reads the JSON of the response.
func Call[T any](ctx context.Context, c *Client, method, path string, body any) (Answer[T], error) {
	var answer Answer[T]
	var err error
	if answer.JSON, err = c.fetch(ctx, method, path, body); err != nil {
		return answer, err
	}
	if err := json.Unmarshal(answer.JSON, &answer.Value); err != nil {
		return answer, c.foreign(err)
	}
	return answer, nil
}

// fetch makes one request and returns the body of its answer.
func (c *Client) fetch(ctx context.Context, method, path string, body any) ([]byte, error) {
	text, _, err := c.exchange(ctx, method, path, body)
	return text, err
}

// exchange makes one request and returns the body and the header of its answer.
func (c *Client) exchange(ctx context.Context, method, path string, body any) ([]byte, http.Header, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, nil, refusal(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	return text, resp.Header, nil
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil { // which shows the address, and a password in it
		return nil, job.Errorf(job.Invalid, "The server's address is not a URL").WithHint(checkAddress)
	}
	req.Header = c.header()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func (c *Client) header() http.Header {
	header := http.Header{}
	if c.token != "" {
		header.Set("Authorization", "Bearer "+c.token)
	}
	return header
}
