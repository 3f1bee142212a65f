package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// Signing in generates a random ID, which is stored in the cookie. The store keeps the key or token
// under a digest of the ID, sealed with a key that is derived from the ID: access to the store
// alone does not reveal it, and a copied cookie is worthless once the record is deleted. The key or
// token is checked again on each request.

// SignIns stores the sealed keys and tokens of signed-in people.
type SignIns interface {
	// SaveSignIn stores one under a name. It expires if not read for idle.
	SaveSignIn(ctx context.Context, name string, sealed []byte, idle time.Duration) error
	// SignIn returns it and extends its life to idle from now; nil if there is none.
	SignIn(ctx context.Context, name string, idle time.Duration) ([]byte, error)
	// RemoveSignIn removes it.
	RemoveSignIn(ctx context.Context, name string) error
}

// signInIdle is the time after which a sign-in ends if no page is opened.
const signInIdle = 7 * 24 * time.Hour

const signInBytes = 32

// signIn is a sign-in as the browser knows it: each part is worthless without the other.
type signIn struct {
	// ID is the value of the cookie.
	ID     string
	PathID string
}

func newSignIn() signIn {
	id := make([]byte, signInBytes)
	_, _ = rand.Read(id) // it never fails
	return signIn{base64.RawURLEncoding.EncodeToString(id), rand.Text()}
}

// isID reports whether a cookie's value can be the ID of a sign-in. The store is not queried for
// other values.
func (s signIn) isID() bool {
	id, err := base64.RawURLEncoding.DecodeString(s.ID)
	return err == nil && len(id) == signInBytes
}

func (s signIn) name() string {
	sum := sha256.Sum256([]byte(s.ID))
	return hex.EncodeToString(sum[:])
}

// box returns the cipher that seals and opens the stored record.
func (s signIn) box() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(s.ID), nil, "ringback sign-in", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (c *Console) saveSignIn(ctx context.Context, s signIn, credential string) error {
	box, err := s.box()
	if err != nil {
		return err
	}
	sealed := box.Seal(nil, nil, []byte(credential), []byte(s.PathID)) //nolint:gosec // Seal makes a random nonce itself
	return c.opts.SignIns.SaveSignIn(ctx, s.name(), sealed, signInIdle)
}

// credential returns the key or token of a sign-in; empty if it has ended. The error is the
// store's.
func (c *Console) credential(ctx context.Context, s signIn) (string, error) {
	if !s.isID() {
		return "", nil
	}
	sealed, err := c.opts.SignIns.SignIn(ctx, s.name(), signInIdle)
	if err != nil || sealed == nil {
		return "", err
	}
	box, err := s.box()
	if err != nil {
		return "", err
	}
	credential, err := box.Open(nil, nil, sealed, []byte(s.PathID))
	if err != nil {
		return "", nil //nolint:nilerr // the cookie was taken to another private path
	}
	return string(credential), nil
}
