package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Key is the stored form of a key.
type Key struct {
	// Name identifies the caller in logs and audit logs.
	Name   string
	Digest [sha256.Size]byte
	// Expires is the expiry time of the key; zero for never.
	Expires time.Time
}

// Of returns the stored form of an existing key.
func Of(name, text string) Key { return Key{Name: name, Digest: sha256.Sum256([]byte(text))} }

// prefix identifies a leaked key as one of Ringback's, for people and secret scanners.
const prefix = "rb_"

// New creates a key with 130 random bits, and returns it with its stored form.
func New(name string, expires time.Time) (text string, k Key) {
	text = prefix + rand.Text()
	k = Of(name, text)
	k.Expires = expires
	return text, k
}

// Line returns the key's line in a file of keys, without the newline.
func (k Key) Line() string {
	line := k.Name + " " + digestPrefix + hex.EncodeToString(k.Digest[:])
	if !k.Expires.IsZero() {
		line += " " + expiresPrefix + k.Expires.UTC().Format(time.RFC3339)
	}
	return line
}

func (k Key) expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }
