package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// newJob is the body of POST /api/jobs.
type newJob struct {
	Kind           string         `json:"kind"`
	Input          map[string]any `json:"input"`
	UserID         string         `json:"userId"`
	SessionID      string         `json:"sessionId"`
	IdempotencyKey string         `json:"idempotencyKey"`
	Options        job.Options    `json:"options"`
}

// created answers POST /api/jobs.
type created struct {
	RequestID job.ID    `json:"requestId"`
	SessionID string    `json:"sessionId"`
	State     job.State `json:"status"`
}

func (s *Server) createJob(c echo.Context) error {
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	input, hasInput := body["input"]
	delete(body, "input") // its numbers stay as they were sent
	var n newJob
	if err := httpjson.Into(body, &n); err != nil {
		return err
	}
	if hasInput {
		object, ok := input.(map[string]any)
		if !ok {
			return invalid("/input", "expected an object")
		}
		n.Input = object
	}
	j, err := s.create(c, n, nil)
	if err != nil {
		return err
	}
	setLocation(c, "/api/jobs/", j.ID)
	return c.JSON(http.StatusAccepted, created{j.ID, j.SessionID, j.State})
}

// createSuggestions asks for meal suggestions: its body is the input of that kind.
// Beside it, userId, sessionId and idempotencyKey may stand.
func (s *Server) createSuggestions(c echo.Context) error {
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	n := newJob{Kind: "meal-suggestions", Input: body}
	for field, into := range map[string]*string{
		"userId": &n.UserID, "sessionId": &n.SessionID, "idempotencyKey": &n.IdempotencyKey,
	} {
		v, present := body[field]
		if !present {
			continue
		}
		text, ok := v.(string)
		if !ok {
			return invalid("/"+field, "expected a string")
		}
		*into = text
		delete(body, field)
	}
	if n.UserID == "" {
		n.UserID = c.QueryParam("userId")
	}
	j, err := s.create(c, n, fieldNames{"/input": ""})
	if err != nil {
		return err
	}
	setLocation(c, "/api/jobs/", j.ID)
	return c.JSON(http.StatusAccepted, struct {
		RequestID job.ID    `json:"requestId"`
		State     job.State `json:"status"`
	}{j.ID, j.State})
}

// setLocation says where what was just asked for can be watched.
func setLocation(c echo.Context, under string, id job.ID) {
	c.Response().Header().Set(echo.HeaderLocation, under+url.PathEscape(string(id)))
}

// create makes a job for whoever calls. sent says what the request calls the
// fields that POST /api/jobs has by other names.
func (s *Server) create(c echo.Context, n newJob, sent fieldNames) (job.Job, error) {
	who := callerOf(c)
	userID, err := actAs(who, n.UserID)
	if err != nil {
		return job.Job{}, sent.in(err)
	}
	key, err := idempotencyKey(c.Request().Header, n.IdempotencyKey)
	if err != nil {
		return job.Job{}, err
	}
	j, err := s.jobs.Create(c.Request().Context(), lifecycle.Request{
		UserID: userID, ByBackEnd: who.service(), Kind: n.Kind, Input: n.Input, SessionID: n.SessionID, Options: n.Options, IdempotencyKey: key,
	})
	return j, sent.in(err)
}

// fieldNames says, for paths of POST /api/jobs, where the same stands in another
// request.
type fieldNames map[string]string

// in words an error for who sent that request.
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

func invalid(path, message string) error { return job.InvalidField(path, message) }
