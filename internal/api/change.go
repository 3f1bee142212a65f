package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
)

// changeOf returns a job that works on repositories, and how it does.
func (s *Server) changeOf(c echo.Context) (job.Job, *job.Change, error) {
	j, err := s.find(c)
	if err != nil {
		return j, nil, err
	}
	change, err := s.changeFor(j)
	return j, change, err
}

// changeFor returns how a job works on repositories; a Conflict where it does not.
func (s *Server) changeFor(j job.Job) (change *job.Change, err error) {
	if k, ok := s.kinds.Get(j.Kind); ok {
		if change, err = k.Change(j.Input); err != nil {
			return nil, err
		}
	}
	if change == nil {
		return nil, job.Errorf(job.Conflict, "Jobs of the kind %q work on no repositories", j.Kind).
			WithHint("Only kinds with workspace: have a diff, logs and steering.")
	}
	return change, nil
}

// captured answers what was kept of a change after its last turn: nothing runs
// again because somebody looks.
func (s *Server) captured(read func(context.Context, job.ID) (json.RawMessage, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		j, _, err := s.changeOf(c)
		if err != nil {
			return err
		}
		text, err := read(c.Request().Context(), j.ID)
		if err != nil {
			return err
		}
		if len(text) == 0 || string(text) == "null" {
			text = json.RawMessage("[]")
		}
		return c.JSONBlob(http.StatusOK, text)
	}
}

func (s *Server) steering(c echo.Context) error {
	j, change, err := s.changeOf(c)
	if err != nil {
		return err
	}
	state, err := s.store.Steering(c.Request().Context(), j.ID, change.MaxIterations)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, state)
}

// steer asks for another round of a change: at once where it waits for review,
// after the turn where one is running.
func (s *Server) steer(c echo.Context) error {
	j, change, err := s.changeOf(c)
	if err != nil {
		return err
	}
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	var asked struct {
		Prompt string `json:"prompt"`
	}
	if err := httpjson.Into(body, &asked); err != nil {
		return err
	}
	if err := s.human.Steer(c.Request().Context(), j, *change, asked.Prompt, actorOf(c, viaAPI)); err != nil {
		return err
	}
	return s.getJob(c)
}

// checkChange refuses what would let any user run commands on the server, or read
// its disk: that is for back ends.
func checkChange(who caller, input json.RawMessage) error {
	var asked struct {
		Repos     []job.Repository `json:"repos"`
		Verifiers []job.Verifier   `json:"verifiers"`
	}
	if err := json.Unmarshal(input, &asked); err != nil {
		return invalid("/input", "repos and verifiers must be lists of objects")
	}
	if len(asked.Verifiers) > 0 {
		if err := mayAct(who, "Giving verifiers, which run on the server,"); err != nil {
			return err
		}
	}
	for _, r := range asked.Repos {
		remote := strings.HasPrefix(r.URL, "https://") || strings.HasPrefix(r.URL, "ssh://") || strings.HasPrefix(r.URL, "git@")
		if !remote {
			if err := mayAct(who, "Naming a repository by anything but https or ssh"); err != nil {
				return err
			}
		}
	}
	return nil
}
