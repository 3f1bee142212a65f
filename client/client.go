package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
)

// DefaultURL is the address of a server with default settings.
const DefaultURL = "http://127.0.0.1:3001"

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// Option configures a Client.
type Option func(*Client)

// WithToken has the client authenticate with an API key or a user's token. An empty token sends
// none.
func WithToken(token string) Option { return func(c *Client) { c.token = token } }

// WithHTTPClient has requests sent by h, whose timeout also applies to them. WebSockets use
// the proxy, TLS configuration and dialer of its transport if that is an *http.Transport.
// The default has a timeout of 30 seconds. Redirects are followed for reads only.
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

// URL returns the server's address without a trailing slash.
func (c *Client) URL() string { return c.base }

// Answer is a response of the server.
type Answer[T any] struct {
	// Value contains the fields of the response that this package knows.
	Value T
	// JSON is the response as received, including fields that a newer server may have added.
	JSON json.RawMessage
}

// maxAnswer limits how many bytes of a response are read. A page of 500 jobs with large results
// stays well below it.
const maxAnswer = 256 << 20

// Call sends a request that has no method of its own. path begins with a slash; the body is sent as
// JSON unless it is nil. The response must be JSON.
func Call[T any](ctx context.Context, c *Client, method, path string, body any) (Answer[T], error) {
	var answer Answer[T]
	var err error
	if answer.JSON, _, err = c.exchange(ctx, method, path, body); err != nil {
		return answer, err
	}
	if err := json.Unmarshal(answer.JSON, &answer.Value); err != nil {
		return answer, c.foreign(err)
	}
	if method != http.MethodGet && !isWhole(answer.Value) {
		return answer, c.foreign(errors.New("the response lacks a required field, such as requestId"))
	}
	return answer, nil
}

// exchange sends one request and returns the body and header of the response.
func (c *Client) exchange(ctx context.Context, method, path string, body any) ([]byte, http.Header, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.sender(method).Do(req)
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, nil, c.refusal(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	return text, resp.Header, nil
}

// sender returns the HTTP client for a method. It follows redirects of reads only: HTTP turns a
// redirected POST into a GET, and the answer to that would count as the answer to the POST.
func (c *Client) sender(method string) *http.Client {
	if method == http.MethodGet {
		return c.http
	}
	sender := *c.http
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender
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
	if err != nil { // its message contains the address and perhaps a password
		return nil, job.Errorf(job.Invalid, "The server's address is not a URL").WithHint(checkAddress)
	}
	req.Header = c.header()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func queryOf(parameters map[string]string) string {
	query := url.Values{}
	for name, value := range parameters {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// nonZero formats a number as a parameter; 0 leaves the parameter out.
func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (c *Client) header() http.Header {
	header := http.Header{}
	if c.token != "" {
		header.Set("Authorization", "Bearer "+c.token)
	}
	return header
}
