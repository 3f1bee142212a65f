package notify

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Headers of a signed message that others read.
const (
	HeaderID        = standardwebhooks.HeaderWebhookID
	HeaderTimestamp = standardwebhooks.HeaderWebhookTimestamp
	HeaderSignature = standardwebhooks.HeaderWebhookSignature
)

// Secrets sign messages as Standard Webhooks, and verify those of others.
type Secrets []*standardwebhooks.Webhook

// ParseSecrets reads secrets that are separated by spaces: with two of them, the other side
// can change over. One reads whsec_<base64>, or is any text.
func ParseSecrets(text string) (Secrets, error) {
	var all Secrets
	for secret := range strings.FieldsSeq(text) {
		key := []byte(secret)
		if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
			var err error
			if key, err = base64.StdEncoding.DecodeString(encoded); err != nil || len(key) == 0 {
				return nil, errors.New("a secret that begins with whsec_ must go on in base64")
			}
		}
		one, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Sign sets the headers of a message: its id, when it is sent, and a signature by each
// secret; none without secrets.
func (s Secrets) Sign(header http.Header, id string, now time.Time, body []byte) error {
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	signatures := make([]string, len(s))
	for i, secret := range s {
		var err error
		if signatures[i], err = secret.Sign(id, now, body); err != nil {
			return err
		}
	}
	if len(signatures) > 0 {
		header.Set(HeaderSignature, strings.Join(signatures, " "))
	}
	return nil
}

// Verify returns why a message is refused; nil if one of its signatures is by one of the
// secrets, and it was sent within five minutes.
func (s Secrets) Verify(header http.Header, body []byte) error {
	err := standardwebhooks.ErrNoMatchingSignature
	for _, secret := range s {
		if err = secret.Verify(body, header); !errors.Is(err, standardwebhooks.ErrNoMatchingSignature) {
			break
		}
	}
	switch {
	case errors.Is(err, standardwebhooks.ErrRequiredHeaders):
		return errors.New("one of the headers webhook-id, webhook-timestamp and webhook-signature is missing")
	case errors.Is(err, standardwebhooks.ErrInvalidHeaders):
		return errors.New("the header webhook-timestamp must be in seconds since 1970")
	case errors.Is(err, standardwebhooks.ErrMessageTooOld):
		return errors.New("the header webhook-timestamp is more than 5 minutes old")
	case errors.Is(err, standardwebhooks.ErrMessageTooNew):
		return errors.New("the header webhook-timestamp is more than 5 minutes ahead")
	case errors.Is(err, standardwebhooks.ErrNoMatchingSignature):
		return errors.New(
			"the header webhook-signature has no v1 signature of this webhook-id, webhook-timestamp and body by our secret",
		)
	}
	return err
}
