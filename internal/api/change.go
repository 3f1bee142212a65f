package api

import (
	"context"
	"encoding/json"
	"net/http"

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
	change, err := s.jobs.Change(j)
	return j, change, err
}

// captured answers what was kept of a change after its last turn: nothing runs
// again because somebody looks.
func (s *Server) captured(c echo.Context, read func(context.Context, job.ID) (json.RawMessage, error)) error {
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
	return httpjson.WriteText(c, http.StatusOK, text)
}

// logs answers what the verifiers said.
func (s *Server) logs(c echo.Context) error { return s.captured(c, s.store.Logs) }

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

// newSteer is the body of POST /api/jobs/:id/steer.
type newSteer struct {
	// Prompt says what the next round is to do.
	Prompt string `json:"prompt"`
}

// steer asks for another round of a change: at once where it waits for review,
// after the turn where one is running.
func (s *Server) steer(c echo.Context) error {
	j, err := s.find(c)
	if err != nil {
		return err
	}
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	var asked newSteer
	if err := httpjson.Into(body, &asked); err != nil {
		return err
	}
	if err := s.checkpoints.Steer(c.Request().Context(), j, asked.Prompt, actorOf(c, job.ViaAPI)); err != nil {
		return err
	}
	return s.getJob(c)
}
