package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"syscall"

	"ringback/internal/job"
)

// refusal parses the error of a response. If the body is not Ringback's, such as a proxy's page,
// the message is the HTTP status.
func (c *Client) refusal(resp *http.Response) *job.Error {
	if to, err := resp.Location(); err == nil && resp.StatusCode < http.StatusBadRequest {
		to.RawQuery, to.Fragment = "", "" // they may contain secrets
		return job.Errorf(job.Internal, "%s redirects to %s, and nothing was changed", c.shown(), to.Redacted()).
			WithHint("Use the address of Ringback itself: only reads follow redirects.")
	}
	e := &job.Error{}
	const maxError = 1 << 20
	if json.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(e) != nil || e.Message == "" {
		e = &job.Error{Message: "The server answered " + resp.Status}
	}
	e.Kind = job.KindOfHTTPStatus(resp.StatusCode)
	e.RetryAfter = job.RetryAfter(resp.Header)
	return e
}

// checkAddress is the hint of errors that a wrong address may have caused.
const checkAddress = "Is the client's address right?"

// unreachable describes a request that got no response. If the caller's context has ended, it
// returns the context's error.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the URL, which may contain a password
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		e := job.Errorf(job.Unavailable, "No server is running at %s", c.shown()).
			WithHint("Start one with: ringback serve. " + checkAddress)
		e.Cause = err
		return e
	}
	return job.Errorf(job.Unavailable, "The server at %s cannot be reached: %v", c.shown(), err).
		WithHint(checkAddress)
}

// isWhole reports whether a response has the fields that every response of its type has. Without them
// it is JSON, but something other than Ringback has sent it, and nothing was changed.
func isWhole(value any) bool {
	switch v := value.(type) {
	case Created:
		return v.RequestID != ""
	case job.Job:
		return v.ID != ""
	case job.Checkpoint:
		return v.ID != ""
	case Sent:
		return v.Success
	case Outcomes:
		return v.Jobs != nil
	}
	return true
}

// foreign describes a successful response that is not Ringback's JSON.
func (c *Client) foreign(err error) error {
	e := job.Errorf(job.Internal, "The server at %s does not seem to be Ringback", c.shown()).
		WithHint(checkAddress)
	e.Cause = err
	return e
}

// shown returns the address without a password.
func (c *Client) shown() string {
	u, err := url.Parse(c.base)
	if err != nil {
		return "this address"
	}
	return u.Redacted()
}
