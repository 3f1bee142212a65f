package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
)

var signing = jwt.SigningMethodHS256

// MintToken returns a token that authenticates userID for ttl. secret is JWT_SECRET. It
// returns an error for an id that no user can have.
func MintToken(secret, userID string, ttl time.Duration) (string, error) {
	if userID == "" {
		return "", job.Errorf(job.Invalid, "A token needs a user")
	}
	if err := checkSubject(userID); err != nil {
		return "", err
	}
	now := time.Now()
	claims := jwt.RegisteredClaims{Subject: userID, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl))}
	return jwt.NewWithClaims(signing, claims).SignedString([]byte(secret))
}

// readToken returns the user of a token. The error describes what is wrong with it, worded
// for the issuer of tokens; it reveals nothing about a token that we did not sign.
func readToken(secret, token string, maxAge time.Duration) (caller, error) {
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(
		token, &claims, func(*jwt.Token) (any, error) { return []byte(secret), nil }, jwt.WithValidMethods([]string{signing.Alg()}),
		jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithIssuedAt(), jwt.WithLeeway(clockSkew),
	)
	now, until := time.Now(), claims.ExpiresAt
	switch {
	case err != nil:
	case !now.Before(until.Time): // without leeway
		err = jwt.ErrTokenExpired
	case claims.NotBefore != nil && now.Before(claims.NotBefore.Time):
		err = jwt.ErrTokenNotValidYet
	}
	switch {
	case err != nil:
		return caller{}, tokenFault(err, claims)
	case !hasOneReading(token):
		return caller{}, errors.New("the token is malformed: a name occurs twice, or in upper case")
	case claims.Subject == "":
		return caller{}, errors.New("the token has no sub (the userId)")
	case checkSubject(claims.Subject) != nil:
		return caller{}, errors.New("the token's sub is not a valid userId")
	case maxAge > 0 && time.Until(until.Time) > maxAge+clockSkew:
		return caller{}, fmt.Errorf("the token expires in more than %s (TOKEN_MAX_AGE): create one with an earlier exp", maxAge)
	}
	return caller{userID: claims.Subject, until: func() (time.Time, bool) { return until.Time, time.Now().Before(until.Time) }}, nil
}

// tokenFault describes why a token was refused by the library.
func tokenFault(err error, claims jwt.RegisteredClaims) error {
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return errors.New("the token is malformed: it is not a JWT with sub as text and exp as a number")
	case errors.Is(err, jwt.ErrTokenUnverifiable), errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return fmt.Errorf("the token has a wrong signature: it is not signed with JWT_SECRET by %s", signing.Alg())
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return errors.New("the token has no exp (the time at which it expires)")
	case errors.Is(err, jwt.ErrTokenExpired):
		return fmt.Errorf("the token expired at %s", claims.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return fmt.Errorf("the token's iat is ahead of this server's clock: %s", claims.IssuedAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return fmt.Errorf("the token is not valid before %s", claims.NotBefore.UTC().Format(time.RFC3339))
	}
	return errors.New("the token's claims cannot be read")
}

// hasOneReading reports whether all programs read the same claims in a token: some take the first of two
// values, others the last, and encoding/json ignores case.
func hasOneReading(token string) bool {
	for part := range strings.SplitSeq(token[:strings.LastIndexByte(token, '.')], ".") {
		text, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			return false
		}
		fields, err := strictjson.Decode(text)
		if err != nil {
			return false
		}
		for name := range fields {
			if slices.ContainsFunc(claimNames, func(claim string) bool { return name != claim && strings.EqualFold(name, claim) }) {
				return false
			}
		}
	}
	return true
}

var claimNames = []string{"sub", "exp", "iat", "nbf"}

// clockSkew is the maximum lead of the clock of a token's issuer.
const clockSkew = time.Minute

// checkSubject rejects ids with a special meaning, so that no token can claim one.
func checkSubject(id string) error {
	if id == anonymous || strings.HasPrefix(id, slackUser) {
		return job.InvalidField("/userId", "this name is reserved for callers without a name, and for people in Slack")
	}
	return checkUser(id)
}

// looksLikeToken distinguishes a token from an API key: it has three parts.
func looksLikeToken(credential string) bool { return strings.Count(credential, ".") == 2 }
