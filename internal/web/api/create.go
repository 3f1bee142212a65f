package api

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/lazy"
	"ringback/internal/web/contract"
)

// newJob is the body of POST /api/jobs.
type newJob struct {
	Kind  string         `json:"kind"`            // The name of the kind.
	Input map[string]any `json:"input,omitempty"` // The job's input, which must conform to the kind's input schema.
	requester
	Options job.Options `json:"options,omitzero"`
}

// requester identifies the user and the chat that a job is for.
type requester struct {
	// UserID is the owner of the job: a back end may name any user, a person only
	// themselves.
	UserID string `json:"userId,omitempty" jsonschema:"maxLength=128"`
	// SessionID is the chat for the job's messages; default a new one.
	SessionID string `json:"sessionId,omitempty" jsonschema:"maxLength=256"`
	// IdempotencyKey makes the request safe to repeat: the same key of the same user
	// returns the same job, as long as the job is retained.
	IdempotencyKey string `json:"idempotencyKey,omitempty" jsonschema:"maxLength=256"`
	// Tags group the job with others for filtering: at most 10, each of up to 64 of the
	// characters A-Z a-z 0-9 . _ : / @ = + -, beginning with a letter or digit.
	Tags []string `json:"tags,omitempty"`
}

// createdSuggestions answers POST /api/suggestions.
type createdSuggestions struct {
	// RequestID is the job's id.
	RequestID job.ID    `json:"requestId"`
	State     job.State `json:"status"`
}

func (s *Server) createJob(c echo.Context) error {
	body, err := readObject(c)
	if err != nil {
		return err
	}
	var n newJob
	input, err := cutObject(body, "input", "expected an object")
	if err != nil {
		return err
	}
	if err := strictjson.Into(body, &n); err != nil {
		return err
	}
	n.Input = input
	j, err := s.create(c, n, nil)
	if err != nil {
		return err
	}
	setLocation(c, "/api/jobs/", j.ID)
	return c.JSON(http.StatusAccepted, job.CreatedJob{RequestID: j.ID, SessionID: j.SessionID, State: j.State})
}

// createSuggestions creates a job for meal suggestions. Its body is the input of that kind,
// and may also contain the fields of requester.
func (s *Server) createSuggestions(c echo.Context) error {
	body, err := readObject(c)
	if err != nil {
		return err
	}
	n, about := newJob{Kind: contract.SuggestionsKind, Input: body}, map[string]any{}
	for field := range job.FieldsOf(reflect.TypeFor[requester]()) {
		if v, there := body[field]; there {
			about[field] = v
			delete(body, field)
		}
	}
	if err := strictjson.Into(about, &n.requester); err != nil {
		return err
	}
	if n.UserID == "" && !callerOf(c).signed() { // a query is not signed
		n.UserID = c.QueryParam("userId")
	}
	j, err := s.create(c, n, fieldNames{"/input": ""})
	if err != nil {
		return err
	}
	setLocation(c, "/api/jobs/", j.ID)
	return c.JSON(http.StatusAccepted, createdSuggestions{j.ID, j.State})
}

func setLocation(c echo.Context, under string, id job.ID) {
	c.Response().Header().Set(echo.HeaderLocation, under+url.PathEscape(string(id)))
}

// create creates a job for the caller. sent maps the field names of POST /api/jobs to those
// of the actual request.
func (s *Server) create(c echo.Context, n newJob, sent fieldNames) (job.Job, error) {
	if s.opts.RefusingFunc() {
		return job.Job{}, job.Errorf(job.Unavailable, "This server is stopping and accepts no more jobs").
			WithHint("Send the request again: another server accepts it, or this one after its restart.")
	}
	if s.opts.RoomFunc != nil {
		if err := s.opts.RoomFunc(); err != nil {
			return job.Job{}, (&job.Error{
				Kind: job.Unavailable, Message: "This server accepts no new jobs: its disk is full", Cause: err,
			}).WithHint("Nothing was changed. Send the request again once its operator has freed some space.")
		}
	}
	who := callerOf(c)
	userID, err := s.actAs(who, n.UserID, "job")
	if err != nil {
		return job.Job{}, sent.in(err)
	}
	key, err := who.idempotencyKey(c.Request().Header, n.IdempotencyKey)
	if err != nil {
		return job.Job{}, err
	}
	if err := s.rememberSession(c, userID, n.SessionID); err != nil {
		return job.Job{}, err
	}
	j, err := s.jobs.Create(c.Request().Context(), lifecycle.Request{
		UserID: userID, By: actorOf(c, job.ViaAPI), ByBackEnd: who.service() && !who.signed(),
		Kind: n.Kind, Input: n.Input, SessionID: n.SessionID, Tags: n.Tags, Options: n.Options, IdempotencyKey: key,
	})
	return j, sent.in(err)
}

// fieldNames maps paths of POST /api/jobs to the corresponding paths of another request.
type fieldNames map[string]string

// in rewrites the paths of an error to those of that request.
func (f fieldNames) in(err error) error {
	if e, ok := errors.AsType[*job.Error](err); ok {
		for i, d := range e.Details {
			e.Details[i].Path = f.path(d.Path)
		}
	}
	return err
}

func (f fieldNames) path(path string) string {
	field, below, isBelow := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	sent, differs := f["/"+field]
	switch {
	case !differs:
		return path
	case isBelow:
		return sent + "/" + below
	}
	return sent
}

// headerIdempotencyKey is an alternative to the body's field idempotencyKey, for clients
// that send the header with every POST.
const headerIdempotencyKey = "Idempotency-Key"

// idempotencyKey returns a request's key from its header, its body, or the same in both;
// empty for none.
func idempotencyKey(header http.Header, inBody string) (string, error) {
	if err := checkName("/idempotencyKey", inBody, job.KeyNames); err != nil {
		return "", err
	}
	values := header.Values(headerIdempotencyKey)
	if len(values) == 0 {
		return inBody, nil
	}
	key, ok := structuredString(values[0])
	if !ok || len(values) > 1 || job.KeyNames.Fault(key) != "" {
		return "", job.Errorf(job.Invalid, "Invalid header "+headerIdempotencyKey).
			WithHint("Send it once, with 1 to 256 characters, plain or in double quotes.")
	}
	if inBody != "" && inBody != key {
		return "", job.InvalidField("/idempotencyKey", "differs from the header "+headerIdempotencyKey+"; send only one of them")
	}
	return key, nil
}

// structuredString parses a header value that is either plain, as most clients send it, or
// a string of RFC 8941, as in the header's draft standard.
func structuredString(value string) (string, bool) {
	if !strings.HasPrefix(value, `"`) {
		return value, true
	}
	found := quotedString().FindStringSubmatch(value)
	if found == nil {
		return "", false
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(found[1]), true
}

var quotedString = lazy.Regexp(`^"((?:[^"\\]|\\["\\])*)"$`)
