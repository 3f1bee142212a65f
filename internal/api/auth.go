package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// caller is who sends a request.
type caller struct {
	// userID is the person, for a token; empty for a back end, which acts for anyone.
	userID string
}

// service reports whether the caller may act for any user.
func (c caller) service() bool { return c.userID == "" }

// anonymous owns the jobs of callers that name no user.
const anonymous = "anonymous"

const callerKey = "caller"

func callerOf(c echo.Context) caller {
	who, _ := c.Get(callerKey).(caller)
	return who
}

// authenticate lets in who has an API key or a token. With neither configured
// everyone comes in; such a server listens on loopback only.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if len(s.opts.APIKeys) == 0 && s.opts.JWTSecret == "" {
			c.Set(callerKey, caller{})
			return next(c)
		}
		who, ok := s.identify(credentials(c.Request()))
		if !ok {
			return job.Errorf(job.Unauthorized, "Not authorized").
				WithHint("Send Authorization: Bearer with an API key or a user's token; WebSockets may pass the token as ?token=.")
		}
		c.Set(callerKey, who)
		return next(c)
	}
}

// credentials finds the key or token. Browsers cannot set headers on a
// WebSocket, so there it may come in the URL or as a subprotocol.
func credentials(r *http.Request) string {
	if header, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return header
	}
	if !websocket.IsWebSocketUpgrade(r) {
		return ""
	}
	if token := r.URL.Query().Get("token"); token != "" {
		return token
	}
	for _, protocol := range websocket.Subprotocols(r) {
		if protocol != "ringback" {
			return protocol
		}
	}
	return ""
}

func (s *Server) identify(credential string) (caller, bool) {
	if credential == "" {
		return caller{}, false
	}
	if s.isAPIKey(credential) {
		return caller{}, true
	}
	if s.opts.JWTSecret == "" {
		return caller{}, false
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(credential, &claims,
		func(*jwt.Token) (any, error) { return []byte(s.opts.JWTSecret), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())
	if err != nil || checkUser(claims.Subject) != nil || claims.Subject == "" {
		return caller{}, false
	}
	return caller{userID: claims.Subject}, true
}

func (s *Server) isAPIKey(credential string) bool {
	given := sha256.Sum256([]byte(credential))
	found := 0
	for _, key := range s.opts.APIKeys { // all of them: the time tells nothing
		want := sha256.Sum256([]byte(key))
		found |= subtle.ConstantTimeCompare(given[:], want[:])
	}
	return found == 1
}

// How a person's decision came in, for the audit log.
const (
	viaAPI       = "api"
	viaWebSocket = "websocket"
	viaChat      = "chat"
)

// actorOf says who a request comes from, and from where.
func actorOf(c echo.Context, via string) job.Actor {
	return job.Actor{UserID: callerOf(c).userID, Via: via, Address: c.RealIP()}
}

// actAs decides for whom a caller acts: a person for themselves only, a back
// end for whom it names.
func actAs(who caller, named string) (string, error) {
	if err := checkUser(named); err != nil {
		return "", err
	}
	switch {
	case who.service() && named == "":
		return anonymous, nil
	case who.service():
		return named, nil
	case named == "" || named == who.userID:
		return who.userID, nil
	}
	return "", job.Errorf(job.Forbidden, "Not your own userId").
		WithHint("A user's token acts for that user only: leave userId out.")
}

// mayAct refuses what only back ends may do.
func mayAct(who caller, what string) error {
	if who.service() {
		return nil
	}
	return job.Errorf(job.Forbidden, "%s is for back ends", what).WithHint("Use an API key.")
}

// checkUser refuses ids that could not be told apart in keys and events.
func checkUser(id string) error {
	if len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		e := job.Errorf(job.Invalid, "Invalid request")
		e.Details = []job.Detail{{Path: "/userId", Message: "expected at most 128 characters, none of them control characters"}}
		return e
	}
	if strings.HasPrefix(id, job.ReservedUserPrefix) {
		e := job.Errorf(job.Invalid, "Invalid request")
		e.Details = []job.Detail{{Path: "/userId", Message: "names that begin with " + job.ReservedUserPrefix + " are reserved"}}
		return e
	}
	return nil
}
