package api

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/internal/job"
)

// signing is how users' tokens are signed.
var signing = jwt.SigningMethodHS256

// MintToken returns a token that lets userID in for ttl. secret is JWT_SECRET.
// It fails for an id that no user can have.
func MintToken(secret, userID string, ttl time.Duration) (string, error) {
	if userID == "" {
		return "", job.Errorf(job.Invalid, "A token needs a user")
	}
	if err := checkUser(userID); err != nil {
		return "", err
	}
	now := time.Now()
	claims := jwt.RegisteredClaims{Subject: userID, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl))}
	return jwt.NewWithClaims(signing, claims).SignedString([]byte(secret))
}

// readToken returns who a user's token lets in. The error says what is wrong with
// it, in words for whoever made it; nothing is told of a token that we did not
// sign.
func readToken(secret, token string) (caller, error) {
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return []byte(secret), nil },
		jwt.WithValidMethods([]string{signing.Alg()}), jwt.WithExpirationRequired())
	switch {
	case err == nil && claims.Subject == "":
		return caller{}, errors.New("the token has no sub, which names the user")
	case err == nil && checkUser(claims.Subject) != nil:
		return caller{}, errors.New("the token's sub is no userId that can be used")
	case err == nil:
		return caller{userID: claims.Subject, until: claims.ExpiresAt.Time}, nil
	case errors.Is(err, jwt.ErrTokenMalformed):
		return caller{}, errors.New("the token is malformed: it is no JWT with sub as text and exp as a number")
	case errors.Is(err, jwt.ErrTokenUnverifiable), errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return caller{}, fmt.Errorf("the token has a wrong signature: it is not signed with JWT_SECRET by %s", signing.Alg())
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return caller{}, errors.New("the token has no exp, which says until when it counts")
	case errors.Is(err, jwt.ErrTokenExpired):
		return caller{}, fmt.Errorf("the token has expired at %s", claims.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return caller{}, fmt.Errorf("the token does not count before %s", claims.NotBefore.UTC().Format(time.RFC3339))
	}
	return caller{}, errors.New("the token's claims cannot be read")
}

// looksLikeToken tells a token from an API key: it has three parts.
func looksLikeToken(credential string) bool { return strings.Count(credential, ".") == 2 }
