package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
	"ringback/internal/web/httpjson"
	"ringback/internal/web/hub"
)

// caller identifies the sender of a request.
type caller struct {
	// userID is the user of a token; empty for a back end, which acts for any user.
	userID string
	// key is the name of a back end's key; empty in open mode.
	key string
	// webhookID is the id of a message that is signed instead, see signed.
	webhookID string
	// until returns when the token or key expires; nil in open mode.
	until hub.UntilFunc
}

// service reports whether the caller may act for any user.
func (c caller) service() bool { return c.userID == "" }

// anonymous owns the jobs of callers that name no user, in open mode.
const anonymous = "anonymous"

const callerKey = "caller"

func callerOf(c echo.Context) caller {
	who, _ := c.Get(callerKey).(caller)
	return who
}

// Open reports whether no credentials are needed and everything is allowed. Such a server
// listens on loopback only.
func (s *Server) Open() bool { return s.opts.Keys == nil && s.opts.JWTSecret == "" }

// authenticate requires the credentials that a route accepts, and logs changes with their caller.
func (s *Server) authenticate(r contract.Route) echo.MiddlewareFunc {
	identify := s.identify
	if r.Signed {
		identify = s.identifySigned
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			who, err := identify(c)
			if err != nil {
				return err
			}
			c.Set(callerKey, who)
			if r.Access == contract.BackEnd {
				err = mayAct(who, r.Act)
			}
			if err == nil {
				err = next(c)
			}
			s.logChange(c, who, err)
			return err
		}
	}
}

// logChange logs a call that changes something or tried to; err is why it was refused.
func (s *Server) logChange(c echo.Context, who caller, err error) {
	method := c.Request().Method
	if method == http.MethodGet || method == http.MethodHead {
		return
	}
	httpjson.LogsItself(c)
	attributes := []any{"method", method, "path", c.Request().URL.Path, "address", c.RealIP()}
	if who.key != "" {
		attributes = append(attributes, "key", who.key)
	}
	if who.userID != "" {
		attributes = append(attributes, "userId", who.userID)
	}
	if err != nil {
		attributes = append(attributes, "refused", err)
	}
	s.log.InfoContext(c.Request().Context(), "API call", attributes...)
}

// challenge is the WWW-Authenticate header of a 401.
const challenge = `Bearer realm="ringback"`

// identify returns the sender of a request, by its key or token. The error is why the request is refused; the
// response's WWW-Authenticate header repeats it as RFC 6750 specifies.
func (s *Server) identify(c echo.Context) (caller, error) {
	if s.Open() {
		return caller{}, nil
	}
	credential, err := credentials(c.Request())
	asked := challenge
	if err == nil && credential != "" {
		var who caller
		if who, err = s.callerFor(credential); err == nil {
			return who, nil
		}
		asked += fmt.Sprintf(`, error="invalid_token", error_description="%s"`, err)
	}
	if err == nil {
		err = errors.New("no key or token was sent" + sentOtherwise(c.Request()))
	}
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, asked)
	return caller{}, job.Errorf(job.Unauthorized, "Not authorized: %s", err).
		WithHint("Send Authorization: Bearer with an API key or a user's token; WebSockets may pass the token as ?token=. ringback token --user u1 makes one for the user u1.")
}

// sentOtherwise returns where a request has a key that is not read; "" if it has none.
func sentOtherwise(r *http.Request) string {
	for _, name := range [...]string{"X-Api-Key", "Api-Key", "X-Auth-Token", "X-Access-Token"} {
		if r.Header.Get(name) != "" {
			return " as Authorization: Bearer; the header " + name + " is not read"
		}
	}
	return ""
}

// Cookie is the name of the cookie that contains the key or token of a user signed in to
// the console. The console adds it to a request that it has accepted; browsers send a
// different cookie. In the API, only the WebSocket accepts it: any other endpoint would
// first have to distinguish the console's own pages from other sites'.
const Cookie = "ringback_token"

// Identify returns the owner of a key or token. The error describes what is wrong with the
// credential without containing any of it.
func (s *Server) Identify(credential string) (job.Identity, error) {
	who, err := s.callerFor(credential)
	if err != nil {
		return job.Identity{}, err
	}
	id := job.Identity{UserID: who.userID, Key: who.key}
	if who.until != nil {
		id.Until, _ = who.until()
	}
	return id, nil
}

// credentials returns the request's key or token; empty for none. Browsers cannot set
// headers on a WebSocket, so there it may also be in the URL, a subprotocol or a cookie.
func credentials(r *http.Request) (string, error) {
	if header := r.Header.Get(echo.HeaderAuthorization); header != "" {
		scheme, credential, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", errors.New("the header Authorization is malformed: it must be Bearer, a space, and a key or token")
		}
		return strings.TrimSpace(credential), nil
	}
	if r.URL.Path != webSocketPath || !websocket.IsWebSocketUpgrade(r) {
		return "", nil
	}
	if token := r.URL.Query().Get("token"); token != "" {
		return token, nil
	}
	for _, protocol := range websocket.Subprotocols(r) {
		if protocol != hub.Subprotocol {
			return protocol, nil
		}
	}
	if cookie, err := r.Cookie(Cookie); err == nil {
		return cookie.Value, nil
	}
	return "", nil
}

// callerFor returns the owner of a key or token. The error describes what is wrong with the
// credential without containing any of it.
func (s *Server) callerFor(credential string) (caller, error) {
	if s.opts.Keys != nil {
		if key, known, err := s.opts.Keys.Find(credential); known {
			return caller{key: key.Name, until: func() (time.Time, bool) { return s.opts.Keys.Until(key) }}, err
		}
	}
	switch {
	case s.opts.JWTSecret == "" && looksLikeToken(credential):
		return caller{}, errors.New("user tokens are not accepted, because JWT_SECRET is not set")
	case s.opts.JWTSecret == "":
		return caller{}, errors.New("the key is not in " + s.opts.Keys.Where())
	case s.opts.Keys != nil && !looksLikeToken(credential):
		return caller{}, errors.New("the credential is malformed as a token, and is not a key in " + s.opts.Keys.Where())
	}
	return readToken(s.opts.JWTSecret, credential, s.opts.TokenMaxAge)
}

type consoleKey struct{}

// ByConsole marks requests that the console makes for a user.
func ByConsole(ctx context.Context) context.Context {
	return context.WithValue(ctx, consoleKey{}, true)
}

// actorOf returns the sender of a request, with its channel and address.
func actorOf(c echo.Context, via string) job.Actor {
	who := callerOf(c)
	if c.Request().Context().Value(consoleKey{}) != nil {
		via = job.ViaConsole
	}
	return job.Actor{UserID: who.userID, Key: who.key, Via: via, Address: c.RealIP()}
}

// actAs returns the user a caller acts for: a person only for themselves, a back end for
// the user it names. If keys are set, a back end must name one. what describes the subject
// of the call for the error.
func (s *Server) actAs(who caller, named, what string) (string, error) {
	if err := checkUser(named); err != nil {
		return "", err
	}
	switch {
	case who.service() && named == "" && s.Open() && !who.signed():
		return anonymous, nil
	case who.service() && named == "":
		e := job.InvalidField("/userId", fmt.Sprintf("is required but missing: the user of the %s", what))
		return "", e.WithHint("An API key or a signature acts for all users: name one as userId, or with --user on the command line.")
	case who.service():
		return named, nil
	case named == "" || named == who.userID:
		return who.userID, nil
	}
	return "", job.Errorf(job.Forbidden, "This is not your own userId").
		WithHint("A user's token acts for that user only: leave userId out.")
}

// mayAct returns an error unless the caller is a back end.
func mayAct(who caller, what string) error {
	if who.service() {
		return nil
	}
	return lifecycle.ForBackEnds(what)
}

// checkUser rejects ids that would be ambiguous in keys and events.
func checkUser(id string) error {
	if strings.HasPrefix(id, job.ReservedUserPrefix) {
		return job.InvalidField("/userId", "names that begin with "+job.ReservedUserPrefix+" are reserved")
	}
	return checkName("/userId", id, job.UserNames)
}

// checkName rejects a name that is not empty and breaks its rule.
func checkName(path, name string, rule job.NameRule) error {
	if fault := rule.Fault(name); name != "" && fault != "" {
		return job.InvalidField(path, fault)
	}
	return nil
}

const inboundKey = "INBOUND_WEBHOOK_SECRET"

// signed reports whether the caller signed its request, as Standard Webhooks are, instead of
// sending a key. A route declares whether it accepts that. The caller acts for the users that it
// names, and may do no more than they.
func (c caller) signed() bool { return c.webhookID != "" }

// identifySigned is identify for routes that also take a signature.
func (s *Server) identifySigned(c echo.Context) (caller, error) {
	r := c.Request()
	if len(s.opts.InboundSecrets) == 0 || r.Header.Get(notify.HeaderSignature) == "" ||
		r.Header.Get(echo.HeaderAuthorization) != "" {
		return s.identify(c)
	}
	body, err := httpjson.ReadBody(c.Response(), r, maxBody)
	if err != nil {
		return caller{}, err
	}
	if err := s.opts.InboundSecrets.Verify(r.Header, body); err != nil {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, challenge)
		return caller{}, job.Errorf(job.Unauthorized, "Not authorized: %s", err).
			WithHint("Sign webhook-id.webhook-timestamp.body with the secret of " + inboundKey +
				" as https://www.standardwebhooks.com specifies, each time you send it.")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return caller{key: inboundKey, webhookID: r.Header.Get(notify.HeaderID)}, nil
}

// idempotencyKey is the key of a caller's request; empty for none. Of one that is signed, it
// is in the body, or the id of the message: other headers and the query are not signed, so
// an attacker who repeats the request could change them.
func (c caller) idempotencyKey(header http.Header, inBody string) (string, error) {
	switch {
	case !c.signed():
		return idempotencyKey(header, inBody)
	case inBody != "":
		return inBody, checkName("/idempotencyKey", inBody, job.KeyNames)
	case job.KeyNames.Fault(c.webhookID) != "":
		return "", job.Errorf(job.Invalid, "Invalid header "+notify.HeaderID).WithHint("Send 1 to 256 characters.")
	}
	return c.webhookID, nil
}

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
