package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"ringback/internal/job"
)

// kindOf tells what sort of error a status stands for.
func kindOf(status int) job.ErrorKind {
	switch status {
	case http.StatusUnauthorized:
		return job.Unauthorized
	case http.StatusForbidden:
		return job.Forbidden
	case http.StatusNotFound:
		return job.NotFound
	case http.StatusMethodNotAllowed:
		return job.Method
	case http.StatusConflict:
		return job.Conflict
	case http.StatusRequestEntityTooLarge:
		return job.TooLarge
	case http.StatusUnsupportedMediaType:
		return job.Unsupported
	case http.StatusTooManyRequests:
		return job.TooMany
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return job.Unavailable
	}
	if status >= http.StatusInternalServerError {
		return job.Internal
	}
	return job.Invalid
}

// refusal reads the error out of an answer. What is not ours, say a proxy's
// page, is told by its status.
func refusal(resp *http.Response) *job.Error {
	e := &job.Error{}
	const maxError = 1 << 20
	if json.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(e) != nil || e.Message == "" {
		e = &job.Error{Message: "The server answered " + resp.Status}
	}
	e.Kind = kindOf(resp.StatusCode)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// checkAddress is the hint of errors whose reason may be a wrong address.
const checkAddress = "Is the client's address right?"

// unreachable words a request that got no answer. A context that ended is the
// caller's own doing and stays what it is.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the URL, which may hold a password
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

// foreign words a success that is not JSON of ours.
func (c *Client) foreign(err error) error {
	e := job.Errorf(job.Internal, "What answers at %s does not seem to be Ringback", c.shown()).
		WithHint(checkAddress)
	e.Cause = err
	return e
}

// shown is the address without a password.
func (c *Client) shown() string {
	u, err := url.Parse(c.base)
	if err != nil {
		return "this address"
	}
	return u.Redacted()
}
