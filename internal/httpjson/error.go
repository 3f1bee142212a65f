package httpjson

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// Status is the HTTP status of each kind of error.
func Status(kind job.ErrorKind) int {
	switch kind {
	case job.Invalid:
		return http.StatusBadRequest
	case job.Unauthorized:
		return http.StatusUnauthorized
	case job.Forbidden:
		return http.StatusForbidden
	case job.NotFound:
		return http.StatusNotFound
	case job.Method:
		return http.StatusMethodNotAllowed
	case job.Conflict:
		return http.StatusConflict
	case job.TooLarge:
		return http.StatusRequestEntityTooLarge
	case job.Unsupported:
		return http.StatusUnsupportedMediaType
	case job.TooMany:
		return http.StatusTooManyRequests
	case job.Unavailable:
		return http.StatusServiceUnavailable
	case job.Internal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// ErrorHandler answers every error of an echo server. What is not meant for
// people is logged and answered as a plain 500 with the request's id.
func ErrorHandler(log *slog.Logger) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) {
		if IsAnswered(err, c) {
			return
		}
		e := Refuse(log, err, c)
		_ = Write(c, Status(e.Kind), e)
	}
}

// IsAnswered reports whether there is nobody left to tell an error.
func IsAnswered(err error, c echo.Context) bool {
	return c.Response().Committed || errors.Is(err, context.Canceled)
}

// Refuse words an error for whoever sent the request, logs what an operator looks for, and
// says in the answer's header when to try again.
func Refuse(log *slog.Logger, err error, c echo.Context) *job.Error {
	e := Explain(log, err, c.Request())
	status := Status(e.Kind)
	refusedForNow := e.Kind == job.Unavailable || e.Kind == job.TooMany
	if status < http.StatusInternalServerError && !refusedForNow && c.Get(toldKey) == nil && isWorthTelling(c.Request().Method, status) {
		log.Info("request refused", "method", c.Request().Method, "path", c.Request().URL.Path, "status", status, "address", c.RealIP(), "refused", e.Message)
	}
	if refusedForNow {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(e.RetryAfter.Seconds())))))
	}
	return e
}

// Explain words an error for its reader, and logs what is a fault of the server's.
func Explain(log *slog.Logger, err error, r *http.Request) *job.Error {
	e, fault := AsError(err, r)
	// What is refused for the time being is counted, not logged: whoever sends too much
	// would fill the log, too.
	if status := Status(e.Kind); status >= http.StatusInternalServerError && (e.Kind != job.Unavailable || e.Cause != nil) {
		log.Error("request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err, "fault", fault)
	}
	return e
}

// toldKey is set in the context of a request whose refusal its handler logs itself.
const toldKey = "refusal told"

// Told says that a handler logs itself how a request ended, with more than ErrorHandler
// knows of it.
func Told(c echo.Context) { c.Set(toldKey, true) }

// isWorthTelling reports whether an operator looks for a refusal: of whoever had no right,
// and of what would have changed something. Reading what is not there is no news.
func isWorthTelling(method string, status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || method != http.MethodGet && method != http.MethodHead
}

// AsError words an error for its reader. fault names one that only the log
// explains.
func AsError(err error, r *http.Request) (e *job.Error, fault string) {
	if known, ok := errors.AsType[*job.Error](err); ok {
		return known, ""
	}
	if fromEcho, ok := errors.AsType[*echo.HTTPError](err); ok {
		switch fromEcho.Code {
		case http.StatusNotFound:
			return job.Errorf(job.NotFound, "Nothing lives at %s", r.URL.Path).
				WithHint("%s", elsewhere(r.URL.Path)), ""
		case http.StatusMethodNotAllowed:
			return job.Errorf(job.Method, "%s does not take %s", r.URL.Path, r.Method), ""
		}
	}
	fault = rand.Text()
	return job.Errorf(job.Internal, "Something went wrong on our side").
		WithHint("The server's log tells more: look for fault %s.", fault), fault
}

// elsewhere says where to look for an endpoint that is not here.
func elsewhere(path string) string {
	if strings.HasPrefix(path, "/api/claude/") || path == "/progress" || path == "/suggestions" {
		return "Callbacks may have a listener of their own: the first lines of the server's log say where (CALLBACK_LISTEN_ADDR)."
	}
	return "/docs of this server, and docs/api.md, list the endpoints."
}

// Write answers with a JSON body.
func Write(c echo.Context, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return WriteText(c, status, text)
}

// WriteText answers with a body that is JSON already. It ends with a newline as every other
// does: in a terminal, what comes next stands on a line of its own.
func WriteText(c echo.Context, status int, text []byte) error {
	if !bytes.HasSuffix(text, newline) {
		text = slices.Concat(text, newline)
	}
	return c.JSONBlob(status, text)
}

var newline = []byte("\n")
