package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Key is a key as it is kept.
type Key struct {
	// Name says in logs and audit logs who acted.
	Name string
	// Digest is the SHA-256 of the key.
	Digest [sha256.Size]byte
	// Expires is from when on it does not count; zero for never.
	Expires time.Time
}

// Of returns what is kept of a key that somebody else has made.
func Of(name, text string) Key { return Key{Name: name, Digest: sha256.Sum256([]byte(text))} }

// prefix tells what a key is to people and programs that find one where it should not be.
const prefix = "rb_"

// New makes a key with 130 random bits, and returns it beside what is kept of it.
func New(name string, expires time.Time) (text string, k Key) {
	text = prefix + rand.Text()
	k = Of(name, text)
	k.Expires = expires
	return text, k
}

// Line is the key's line in a file of keys, without its end.
func (k Key) Line() string {
	line := k.Name + " " + digestPrefix + hex.EncodeToString(k.Digest[:])
	if !k.Expires.IsZero() {
		line += " " + expiresPrefix + k.Expires.UTC().Format(time.RFC3339)
	}
	return line
}

// expired reports whether the key does not count any more.
func (k Key) expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }
