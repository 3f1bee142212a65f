package rig

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/must"
)

const TokenSecret = "a-secret-of-at-least-32-characters"

// Token returns a token with the given claims.
func Token(t testing.TB, secret string, method jwt.SigningMethod, claims jwt.MapClaims) string {
	t.Helper()
	return must.Get(jwt.NewWithClaims(method, claims).SignedString([]byte(secret)))(t)
}

func In(d time.Duration) int64 { return time.Now().Add(d).Unix() }
