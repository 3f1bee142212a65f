package job

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/text/spelling"
)

// ErrorKind classifies an error, so that each interface (HTTP, WebSocket, command line) can report
// it in its own way.
type ErrorKind string

// The kinds of errors.
const (
	Invalid      ErrorKind = "invalid"      // the request is malformed or breaks a schema
	Unauthorized ErrorKind = "unauthorized" // no credentials, or wrong ones
	Forbidden    ErrorKind = "forbidden"    // known, but not permitted
	NotFound     ErrorKind = "not_found"
	Conflict     ErrorKind = "conflict" // does not apply in the current state
	TooLarge     ErrorKind = "too_large"
	Unsupported  ErrorKind = "unsupported"  // wrong content type
	TooMany      ErrorKind = "too_many"     // rate-limited
	Unavailable  ErrorKind = "unavailable"  // the store is unavailable; try again
	Internal     ErrorKind = "internal"     // a bug or fault in Ringback
	Method       ErrorKind = "wrong_method" // the path exists, but not for this method
)

var httpStatuses = map[ErrorKind]int{
	Invalid: 400, Unauthorized: 401, Forbidden: 403, NotFound: 404, Method: 405, Conflict: 409, TooLarge: 413, Unsupported: 415,
	TooMany: 429, Internal: 500, Unavailable: 503,
}

// HTTPStatus returns the HTTP status of a kind of error.
func HTTPStatus(kind ErrorKind) int { return cmp.Or(httpStatuses[kind], httpStatuses[Internal]) }

// KindOfHTTPStatus returns the kind of error of an HTTP status, which a proxy may have sent.
func KindOfHTTPStatus(status int) ErrorKind {
	if status == http.StatusBadGateway || status == http.StatusGatewayTimeout {
		return Unavailable
	}
	for kind, of := range httpStatuses {
		if of == status {
			return kind
		}
	}
	if status > httpStatuses[Internal] {
		return Internal
	}
	return Invalid
}

// RetryAfter returns how long a response asks to wait before the request is sent again: in seconds, or
// until a time on its sender's clock. It is 0 if the response does not ask for a wait.
func RetryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, math.MaxInt32)) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}

// Jitter returns a random part of a wait, so that those who wait for the same thing do not all return at once.
func Jitter(most time.Duration) time.Duration { return rand.N(most + 1) } //nolint:gosec // it needs no secrecy

// Detail is one fault in a request, with its location so that the sender can fix it.
type Detail struct {
	Path string `json:"path"` // The JSON pointer (RFC 6901) of the offending value; "" is the whole body.
	// Message describes what was found and what is allowed.
	Message string `json:"message"`
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON pointer (RFC 6901) for a path of keys.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(key))
	}
	return b.String()
}

// Error is an error for people and Claude to read. It is the body of every unsuccessful response.
type Error struct {
	Kind    ErrorKind `json:"-"`
	Message string    `json:"error"` // A short description of the error.
	// Details describe each wrong field, at most 20.
	Details []Detail `json:"details,omitempty"`
	// Hint describes what to do about it.
	Hint string `json:"hint,omitempty"`
	// RetryAfter is the time to wait before sending the request again. If it is 0, the request can
	// be sent again soon, if at all.
	RetryAfter time.Duration `json:"-"`
	Cause      error         `json:"-"` // For the log only.
}

// Errorf returns an error of the given kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// HasKind reports whether an error is of a kind.
func HasKind(err error, kind ErrorKind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}

// InvalidField returns the error for a request with one wrong field.
func InvalidField(path, message string) *Error {
	return Errorf(Invalid, "Invalid request").WithDetails(Detail{Path: path, Message: message})
}

// UnknownName is InvalidField for a value that is not one of those allowed.
func UnknownName[T ~string](path, found string, allowed []T) *Error {
	return InvalidField(path, fmt.Sprintf("found %q; %s", found, spelling.Known(found, allowed)))
}

// NamesIn returns the names in values, each of which may have several, separated by commas.
func NamesIn[T ~string](values ...string) (names []T) {
	for _, value := range values {
		if value == "" {
			continue
		}
		for name := range strings.SplitSeq(value, ",") {
			names = append(names, T(strings.TrimSpace(name)))
		}
	}
	return names
}

// WithHint sets what to do about the error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetails sets the wrong fields.
func (e *Error) WithDetails(details ...Detail) *Error {
	e.Details = details
	return e
}

// Under returns the details of a value with their paths as those of the whole, in which the value is at
// a path.
func Under(at string, details []Detail) []Detail {
	moved := slices.Clone(details)
	for i := range moved {
		moved[i].Path = at + moved[i].Path
	}
	return moved
}

// Below is Under for the details about a member or an item, by its name or number.
func Below(key string, details []Detail) []Detail {
	if details == nil {
		return nil
	}
	return Under(Pointer(key), details)
}

// Error returns the message and its cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Contended returns the error for a job that so many requests change at once that a command was
// never applied.
func Contended() *Error {
	return Errorf(Unavailable, "Too many concurrent changes to the job").
		WithHint("This change was not made. Send the same request again in a few seconds.")
}

// NoJob returns the error for a job that does not exist.
func NoJob(id ID) error {
	return Errorf(NotFound, "No job has the requestId %q", string(id)).
		WithHint("It may have been removed after its retention time. GET /api/jobs lists the jobs there are.")
}

// NoCheckpoint returns the error for a checkpoint that does not exist.
func NoCheckpoint(id CheckpointID) error {
	return Errorf(NotFound, "No checkpoint has the id %q", string(id)).
		WithHint("GET /api/checkpoints?status=open lists those that wait for a reply.")
}

// ClosedCheckpoint returns the error for a reply to a checkpoint that no longer waits, or not for
// that reply.
func ClosedCheckpoint(id CheckpointID, status CheckpointStatus) error {
	why := map[CheckpointStatus]string{
		Answered:            "It was already answered: the first reply counts.",
		Superseded:          "It was asked again in other words: answer the newer checkpoint.",
		Interpreting:        "Another reply came at the same moment.",
		Open:                "Another reply came at the same moment.",
		CheckpointExpired:   "No one answered in time.",
		CheckpointCancelled: "Its job has ended, or moves to another version of its kind.",
	}[status]
	return Errorf(Conflict, "The checkpoint %s is %s", id, status).WithHint("%s", why)
}
