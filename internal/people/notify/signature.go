package notify

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
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
// can change over. One reads whsec_<base64>, or is any text. Errors contain no part of a secret.
func ParseSecrets(text string) (Secrets, error) {
	var all Secrets
	for secret := range strings.FieldsSeq(text) {
		key, err := keyOf(secret)
		if err != nil {
			return nil, err
		}
		one, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if text != "" && len(all) == 0 {
		return nil, errors.New("it contains only white space")
	}
	return all, nil
}

// encodedSecret begins a secret in base64. asymmetric begins the two halves of a key pair, as others
// write them.
const encodedSecret = "whsec_"

var asymmetric = []string{"whsk_", "whpk_"}

func keyOf(secret string) ([]byte, error) {
	encoded, found := strings.CutPrefix(secret, encodedSecret)
	switch pair := func(start string) bool { return strings.HasPrefix(secret, start) }; {
	case slices.ContainsFunc(asymmetric, pair):
		return nil, errors.New("it is half of a key pair (whsk_, whpk_), but webhooks are signed with one secret: expected whsec_<base64>, or any text")
	case !found && strings.Contains(strings.ToLower(secret), encodedSecret):
		return nil, errors.New("write whsec_ in small letters, with nothing before it: no v1, as in a signature, no quotes, and a space between two secrets")
	case !found:
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, errors.New("whsec_ must be followed by base64 (A–Z, a–z, 0–9, + and /, filled up with =), and two secrets must be separated by a space")
	}
	return key, nil
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
	for known, text := range map[error]string{
		standardwebhooks.ErrRequiredHeaders:     "one of the headers webhook-id, webhook-timestamp and webhook-signature is missing",
		standardwebhooks.ErrInvalidHeaders:      "the header webhook-timestamp must be in seconds since 1970",
		standardwebhooks.ErrMessageTooOld:       "the header webhook-timestamp is more than 5 minutes old",
		standardwebhooks.ErrMessageTooNew:       "the header webhook-timestamp is more than 5 minutes ahead",
		standardwebhooks.ErrNoMatchingSignature: "the header webhook-signature has no v1 signature of this webhook-id, webhook-timestamp and body by our secret",
	} {
		if errors.Is(err, known) {
			return errors.New(text)
		}
	}
	return err
}
