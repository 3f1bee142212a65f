package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"

	"ringback/internal/job"
)

// Secret is the key of one request: 32 random bytes in hex, of which the hex
// text is the key (seed 002). It stays between the server and Redis.
type Secret string

// Signature is what a callback carries as hmac: hex HMAC-SHA256 of the request
// id under the secret.
type Signature string

func newSecret() Secret {
	var b [32]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return Secret(hex.EncodeToString(b[:]))
}

// Sign computes the signature of a request.
func (s Secret) Sign(id job.ID) Signature {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(id))
	return Signature(hex.EncodeToString(mac.Sum(nil)))
}

// LogValue keeps the secret out of logs.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// LogValue keeps the signature out of logs.
func (Signature) LogValue() slog.Value { return slog.StringValue("[signature]") }

// digest is what the record keeps of the signature: enough to recognise it,
// even after the secret has run out, and useless to whoever reads the record.
func (s Signature) digest() string { return job.Digest([]byte(s)) }

// Facts are what never changes about a job while its secret lives. They may be
// cached: a callback needs no read before its one script.
type Facts struct {
	Kind      string
	UserID    string
	SessionID string
	// prefix begins the names of the job's events.
	prefix string
	// signature is the digest of the expected signature.
	signature string
}

// Signed reports, in constant time, whether sig is the request's signature.
func (f Facts) Signed(sig Signature) bool {
	return subtle.ConstantTimeCompare([]byte(sig.digest()), []byte(f.signature)) == 1
}
