package httpjson

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

// ErrorHandler returns the error handler of an echo server. Errors that are not meant for
// callers are logged and answered with a plain 500 that contains an id to find them in the
// log.
func ErrorHandler(log *slog.Logger) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) {
		if IsAnswered(err, c) {
			if !c.Response().Committed { // else 200 would be written to a client that has closed only its half
				_ = c.NoContent(clientClosed)
			}
			return
		}
		e := Refuse(log, err, c)
		_ = WriteText(c, job.HTTPStatus(e.Kind), job.MustJSON(e))
	}
}

// clientClosed is the status for a request after its client has closed the connection.
const clientClosed = 499

// IsAnswered reports whether a response was already sent or the client is gone.
func IsAnswered(err error, c echo.Context) bool {
	return c.Response().Committed || errors.Is(err, context.Canceled)
}

// Refuse converts an error to one for the caller, logs it if operators need it, and sets
// the header Retry-After if the request may be retried.
func Refuse(log *slog.Logger, err error, c echo.Context) *job.Error {
	e := Explain(log, err, c.Request())
	if errors.Is(err, echo.ErrNotFound) {
		e = e.WithHint("%s%s", meantPath(c), e.Hint)
	}
	status := job.HTTPStatus(e.Kind)
	refusedForNow := e.Kind == job.Unavailable || e.Kind == job.TooMany
	if status < http.StatusInternalServerError && !refusedForNow && c.Get(logsItselfKey) == nil &&
		isWorthLogging(c.Request().Method, status) {
		log.InfoContext(
			c.Request().Context(), "request refused", "method", c.Request().Method, "path", c.Request().URL.Path, "status", status,
			"address", c.RealIP(), "refused", e.Message,
		)
	}
	if refusedForNow {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(e.RetryAfter.Seconds())))))
	}
	return e
}

// meantPath asks for the path that was probably meant by one that does not exist; "" if none is known.
func meantPath(c echo.Context) string {
	found := c.Request().URL.Path
	var paths []string
	for _, r := range c.Echo().Routes() {
		if !strings.ContainsAny(r.Path, ":*") {
			paths = append(paths, r.Path)
		}
	}
	slices.Sort(paths)
	meant := spelling.Nearest(found, paths)
	if at := slices.IndexFunc(paths, func(p string) bool { return path.Base(p) == path.Base(found) }); meant == "" && at >= 0 {
		meant = paths[at]
	}
	if meant == "" {
		return ""
	}
	return "Did you mean " + meant + "? "
}

// Explain converts an error to one for the caller, and logs faults of the server.
func Explain(log *slog.Logger, err error, r *http.Request) *job.Error {
	e, fault := AsError(err, r)
	// Requests rejected because of load are counted, not logged: a client that sends too
	// many would fill the log as well.
	if status := job.HTTPStatus(e.Kind); status >= http.StatusInternalServerError && (e.Kind != job.Unavailable || e.Cause != nil) {
		log.ErrorContext(
			r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err, "fault", fault,
		)
	}
	return e
}

// logsItselfKey is set in the context of a request if its handler logs the rejection itself.
const logsItselfKey = "logs itself"

// LogsItself marks a request if its handler logs the outcome itself, with more detail than
// ErrorHandler has.
func LogsItself(c echo.Context) { c.Set(logsItselfKey, true) }

// isWorthLogging reports whether a rejection matters to operators: lack of permission, or a
// request that would have changed something. Reading what does not exist does not matter.
func isWorthLogging(method string, status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden ||
		method != http.MethodGet && method != http.MethodHead
}

// AsError converts an error to one for the caller. fault identifies an error that is
// explained only in the log.
func AsError(err error, r *http.Request) (e *job.Error, fault string) {
	if known, ok := errors.AsType[*job.Error](err); ok {
		return known, ""
	}
	if fromEcho, ok := errors.AsType[*echo.HTTPError](err); ok {
		switch fromEcho.Code {
		case http.StatusNotFound:
			return job.Errorf(job.NotFound, "There is no endpoint at %s", r.URL.Path).
				WithHint("%s", elsewhere(r.URL.Path)), ""
		case http.StatusMethodNotAllowed:
			return job.Errorf(job.Method, "%s does not support %s", r.URL.Path, r.Method), ""
		}
	}
	fault = rand.Text()
	return job.Errorf(job.Internal, "Internal server error").
		WithHint("The server's log has the details: search it for fault %s.", fault), fault
}

// elsewhere returns a hint on where to find an endpoint that does not exist here.
func elsewhere(path string) string {
	if strings.HasPrefix(path, "/api/claude/") || path == "/progress" || path == "/suggestions" {
		return "Callbacks may have a separate listener: the first lines of the server's log show its address (CALLBACK_LISTEN_ADDR)."
	}
	return "/docs of this server, and docs/api.md, list the endpoints."
}

// WriteText responds with a body that is already JSON. It adds a newline at the end, so
// that in a terminal the prompt begins on a new line.
func WriteText(c echo.Context, status int, text []byte) error {
	return c.JSONBlob(status, asLine(text))
}

// WriteThrough is WriteText, and returns once the whole response has left the process. Its length is in the
// header, so that the client has it then.
func WriteThrough(c echo.Context, status int, text []byte) error {
	text = asLine(text)
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(text)))
	if err := WriteText(c, status, text); err != nil {
		return err
	}
	return http.NewResponseController(c.Response().Writer).Flush()
}

func asLine(text []byte) []byte {
	if bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(slices.Clip(text), '\n')
}
