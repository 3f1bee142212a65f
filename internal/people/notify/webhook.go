package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"ringback/internal/job"
	"ringback/internal/outbound"
)

// Webhook posts signed bodies.
type Webhook struct {
	secrets Secrets
	client  *http.Client
}

// NewWebhook returns a webhook that signs with each of the secrets, see ParseSecrets. Without a
// secret nothing is signed. A guarded webhook calls only public addresses.
func NewWebhook(secrets string, guarded bool) (*Webhook, error) {
	parsed, err := ParseSecrets(secrets)
	return &Webhook{secrets: parsed, client: newClient(guarded)}, err
}

// newClient returns a client that does not follow redirects. A guarded one connects only to
// public addresses, whatever a name resolves to.
func newClient(guarded bool) *http.Client {
	dialer, proxy := &net.Dialer{Timeout: maxDial}, http.ProxyFromEnvironment
	if guarded {
		dialer.ControlContext, proxy = outbound.Control, nil // a proxy would connect to any address
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: maxDial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
			Proxy: proxy, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CallError is returned for a call that failed or was not answered with success.
type CallError struct {
	// Host is the host that was called; the rest of the URL may contain secrets.
	Host string
	// Status is the status of the response; 0 if there was none.
	Status int
	// After is the wait that the receiver asks for; 0 if it does not.
	After time.Duration
	Cause error
	// sent is true if there was a connection on which the request may have been sent.
	sent bool
}

func (e *CallError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s answered %d %s", e.Host, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("calling %s: %v", e.Host, e.Cause)
}

func (e *CallError) Unwrap() error { return e.Cause }

// Unsure reports whether the receiver may have done what it was called for: the call was sent, and the
// receiver did not answer itself that it failed. The 502 of a proxy is no such answer.
func (e *CallError) Unsure() bool {
	switch e.Status {
	case http.StatusInternalServerError, http.StatusNotImplemented, http.StatusServiceUnavailable:
		return false
	}
	return e.sent && (e.Status < 400 || e.Status > 499)
}

// permanent reports whether the call should not be retried: the address must not be called,
// or the receiver reports that it is gone for good. Any other response may be temporary,
// such as the 404 of an ingress during a deployment, or the 401 while a secret is rotated.
func (e *CallError) permanent() bool {
	return errors.Is(e.Cause, outbound.ErrForbidden) || e.Status == http.StatusGone
}

const (
	// maxAnswer is the maximum number of bytes read of a response.
	maxAnswer = 1 << 20
	// maxRest and restFor limit what is read of a response if only its status counts.
	maxRest, restFor = 4 << 10, time.Second
	// maxDial is the timeout for making a connection.
	maxDial = 10 * time.Second
)

// Send posts a JSON body and returns the response's body. id identifies the message and is
// the same on every retry. ctx bounds the wait. The error is a CallError.
func (w *Webhook) Send(ctx context.Context, address, id string, body []byte) ([]byte, error) {
	resp, err := w.post(ctx, address, id, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &CallError{Host: resp.Request.URL.Host, Cause: withoutURL(err), sent: true}
	}
	return answer, nil
}

// Notify is Send for a receiver that only has to accept the message: it has, once its status is a
// success, however long its body takes.
func (w *Webhook) Notify(ctx context.Context, address, id string, body []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := w.post(ctx, address, id, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	defer time.AfterFunc(restFor, cancel).Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, maxRest) // a connection is used again if its body was read
	return nil
}

// post sends a message and returns the response once its status is known to be a success.
func (w *Webhook) post(ctx context.Context, address, id string, body []byte) (*http.Response, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, &CallError{Host: "the webhook", Cause: fmt.Errorf("%w: its address is no URL", outbound.ErrForbidden)}
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, &CallError{Host: u.Host, Cause: outbound.ErrForbidden}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "ringback")
	if err := w.secrets.Sign(req.Header, id, time.Now(), body); err != nil {
		return nil, &CallError{Host: u.Host, Cause: err}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, &CallError{Host: u.Host, Cause: withoutURL(err), sent: sent.Load()}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		resp.Body.Close()
		after := min(job.RetryAfter(resp.Header), time.Hour)
		return nil, &CallError{Host: u.Host, Status: resp.StatusCode, After: after, sent: true}
	}
	return resp, nil
}

// withoutURL removes the URL from an error of the HTTP client.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

const (
	// triedFor is the maximum time to retry a message, as Standard Webhooks recommends.
	triedFor = 3 * 24 * time.Hour
	// firstWait and longestWait bound the time between two tries. A receiver that restarts
	// is unavailable for seconds.
	firstWait, longestWait = 5 * time.Second, 12 * time.Hour
)

// Retry returns whether to retry a failed message that has been tried for age, and after
// how long: its age, with jitter, within bounds. A receiver may ask for another delay.
func Retry(err error, age time.Duration) (after time.Duration, again bool) {
	e, ok := errors.AsType[*CallError](err)
	if ok && e.permanent() || age >= triedFor {
		return 0, false
	}
	if ok && e.After > 0 {
		return e.After, true
	}
	wait := min(max(age, firstWait), longestWait)
	return wait + job.Jitter(wait/5), true
}
