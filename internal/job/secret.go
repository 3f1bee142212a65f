package job

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"time"
)

// Secret is the key of one request: 32 random bytes in hex. The hex text itself is the key. Only
// the server and the store have it.
type Secret string

// Signature is the hmac field of a callback: hex HMAC-SHA256 of the request id under the secret.
type Signature string

// NewSecret returns a new random secret.
func NewSecret() Secret {
	var b [32]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return Secret(hex.EncodeToString(b[:]))
}

// Sign computes the signature of a request.
func (s Secret) Sign(id ID) Signature {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(id))
	return Signature(hex.EncodeToString(mac.Sum(nil)))
}

// LogValue keeps the secret out of logs.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// LogValue keeps the signature out of logs.
func (Signature) LogValue() slog.Value { return slog.StringValue("[signature]") }

// Digest returns the form of the signature that a record stores: enough to recognize it even after
// the secret has expired, and useless to a reader of the record.
func (s Signature) Digest() string { return Digest([]byte(s)) }

// Matches reports, in constant time, whether a digest belongs to the signature.
func (s Signature) Matches(digest string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Digest()), []byte(digest)) == 1
}

// Identity is the owner of a key or token.
type Identity struct {
	UserID string    // The user; empty for a back end, which acts for any user.
	Key    string    // The name of a back end's key.
	Until  time.Time // The expiry time of the credential; zero for never.
}
