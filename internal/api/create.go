package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/store"
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
	if n.Kind == "" {
		return invalid("/kind", "is required but missing; expected one of: "+strings.Join(s.askableNames(), ", "))
	}
	if hasInput {
		object, ok := input.(map[string]any)
		if !ok {
			return invalid("/input", "expected an object")
		}
		n.Input = object
	}
	j, err := s.create(c, n, "/input")
	if err != nil {
		return err
	}
	setLocation(c, "/api/jobs/", j.ID)
	return c.JSON(http.StatusAccepted, created{j.ID, j.SessionID, j.State})
}

// createSuggestions is the mutation of seed 002: its body is the input of
// meal-suggestions. Beside it, userId, sessionId and idempotencyKey may stand.
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
	j, err := s.create(c, n, "")
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

// create checks a new job and stores it. inputPath is where the input stands in
// the request, for error messages.
func (s *Server) create(c echo.Context, n newJob, inputPath string) (job.Job, error) {
	who := callerOf(c)
	userID, err := actAs(who, n.UserID)
	if err != nil {
		return job.Job{}, err
	}
	k, ok := s.askable(n.Kind)
	if !ok {
		return job.Job{}, job.Errorf(job.NotFound, "Unknown kind %q", n.Kind).
			WithHint("Known kinds are: %s.", strings.Join(s.askableNames(), ", "))
	}
	if err := checkOptions(who, n); err != nil {
		return job.Job{}, err
	}
	if s.opts.Structured && n.Options.Simulate != job.SimulateManual {
		if err := k.CheckStructured(); err != nil {
			return job.Job{}, err
		}
	}
	key, err := idempotencyKey(c.Request().Header, n.IdempotencyKey)
	if err != nil {
		return job.Job{}, err
	}
	input, err := checkInput(k, n.Input, inputPath)
	if err != nil {
		return job.Job{}, err
	}
	if k.Policy.Workspace != nil {
		if err := checkChange(who, input); err != nil {
			return job.Job{}, err
		}
		if n.Options.Simulate == job.SimulateManual {
			return job.Job{}, invalid("/options/simulate", "manual does not go with a kind that works on repositories: "+
				"without a turn of the server's nothing is cloned, shown for review or published; leave it out, or use success")
		}
	}
	timeout, priority := k.Policy.Timeout, k.Policy.Priority
	if timeout == 0 {
		timeout = s.opts.CallbackTimeout
	}
	if n.Options.Priority != "" {
		priority = n.Options.Priority
	}
	request := job.RequestInWords(k.Name, n.Input)
	return s.store.Create(c.Request().Context(), store.NewJob{
		Kind: k.Name, UserID: userID, SessionID: n.SessionID, Input: input, Options: n.Options,
		IdempotencyKey: key, EventPrefix: k.Policy.Events, Priority: priority,
		CallbackTimeout: timeout, Attempts: k.Policy.MaxAttempts, Request: &request,
		Change: k.Policy.Workspace != nil,
	})
}

func checkInput(k *kind.Kind, input map[string]any, path string) (json.RawMessage, error) {
	if input == nil {
		input = map[string]any{}
	}
	if details := k.Input.Validate(input); details != nil {
		e := job.Errorf(job.Invalid, "Invalid input for kind %q", k.Name).
			WithHint("GET /api/kinds/%s shows its input schema.", k.Name)
		for _, d := range details {
			e.Details = append(e.Details, job.Detail{Path: path + d.Path, Message: d.Message})
		}
		return nil, e
	}
	return json.Marshal(input)
}

func checkOptions(who caller, n newJob) error {
	if sim := n.Options.Simulate; sim != job.SimulateNone {
		if err := mayAct(who, "options.simulate"); err != nil {
			return err
		}
		if !slices.Contains(job.Simulations[:], sim) {
			return unknownName("/options/simulate", string(sim), job.Simulations[:])
		}
	}
	if p := n.Options.Priority; p != "" && p != job.Interactive && p != job.Batch {
		return unknownName("/options/priority", string(p), []job.Priority{job.Interactive, job.Batch})
	}
	return checkName("/sessionId", n.SessionID, job.SessionNames)
}

func invalid(path, message string) error {
	e := job.Errorf(job.Invalid, "Invalid request")
	e.Details = []job.Detail{{Path: path, Message: message}}
	return e
}
