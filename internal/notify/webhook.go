package notify

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ringback/internal/outbound"
)

// Webhook posts signed bodies.
type Webhook struct {
	signers []*standardwebhooks.Webhook
	client  *http.Client
}

// NewWebhook returns a webhook that signs with each of the secrets, which are separated by
// spaces: two of them let receivers rotate. A secret is whsec_<base64> or any other text.
// Without a secret nothing is signed. A guarded webhook calls only public addresses.
func NewWebhook(secrets string, guarded bool) (*Webhook, error) {
	w := &Webhook{client: newClient(guarded)}
	for secret := range strings.FieldsSeq(secrets) {
		key := []byte(secret)
		if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
			var err error
			if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
				return nil, errors.New("a secret that begins with whsec_ must go on in base64")
			}
		}
		signer, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, err
		}
		w.signers = append(w.signers, signer)
	}
	return w, nil
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
}

func (e *CallError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s answered %d %s", e.Host, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("calling %s: %v", e.Host, e.Cause)
}

func (e *CallError) Unwrap() error { return e.Cause }

// permanent reports whether the call should not be retried: the address must not be called,
// or the receiver reports that it is gone for good. Any other response may be temporary,
// such as the 404 of an ingress during a deployment, or the 401 while a secret is rotated.
func (e *CallError) permanent() bool {
	return errors.Is(e.Cause, outbound.ErrForbidden) || e.Status == http.StatusGone
}

const (
	// maxAnswer is the maximum number of bytes read of a response.
	maxAnswer = 1 << 20
	// maxDial is the timeout for making a connection.
	maxDial = 10 * time.Second
)

// Send posts a JSON body and returns the response's body. id identifies the message and is
// the same on every retry. ctx bounds the wait. The error is a CallError.
func (w *Webhook) Send(ctx context.Context, address, id string, body []byte) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, &CallError{Host: "the webhook", Cause: fmt.Errorf("%w: its address is no URL", outbound.ErrForbidden)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, &CallError{Host: u.Host, Cause: outbound.ErrForbidden}
	}
	now := time.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "ringback")
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	if err := w.sign(req, id, now, body); err != nil {
		return nil, &CallError{Host: u.Host, Cause: err}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, &CallError{Host: u.Host, Cause: withoutURL(err)}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answer, &CallError{Host: u.Host, Status: resp.StatusCode, After: retryAfter(resp)}
	}
	if err != nil {
		return nil, &CallError{Host: u.Host, Cause: withoutURL(err)}
	}
	return answer, nil
}

func (w *Webhook) sign(req *http.Request, id string, now time.Time, body []byte) error {
	signatures := make([]string, len(w.signers))
	for i, signer := range w.signers {
		var err error
		if signatures[i], err = signer.Sign(id, now, body); err != nil {
			return err
		}
	}
	if len(signatures) > 0 {
		req.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	}
	return nil
}

// withoutURL removes the URL from an error of the HTTP client.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Hour)
}
