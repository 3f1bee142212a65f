package api

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/kind"
)

// kindView is a kind as callers see it.
type kindView struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Events       string          `json:"events"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty"`
	// Actions are what the server does for Claude; Confirm says when a person must
	// allow it.
	Actions []actionView `json:"actions,omitempty"`
}

type actionView struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func viewOf(k *kind.Kind) kindView {
	return kindView{Name: k.Name, Description: k.Policy.Description, Events: k.Policy.Events}
}

func (s *Server) listKinds(c echo.Context) error {
	views := []kindView{}
	for _, name := range s.jobs.KindNames() {
		if k, ok := s.jobs.Kind(name); ok {
			views = append(views, viewOf(k))
		}
	}
	return c.JSON(http.StatusOK, map[string][]kindView{"kinds": views})
}

func (s *Server) getKind(c echo.Context) error {
	k, ok := s.jobs.Kind(c.Param("name"))
	if !ok {
		return job.Errorf(job.NotFound, "Unknown kind %q", c.Param("name"))
	}
	view := viewOf(k)
	view.InputSchema, view.ResultSchema = k.Input.JSON(), k.Result.JSON()
	for _, a := range k.Policy.Actions {
		view.Actions = append(view.Actions, actionView{a.Name, a.Title, a.Description, a.Confirm, a.Schema().JSON()})
	}
	return c.JSON(http.StatusOK, view)
}
