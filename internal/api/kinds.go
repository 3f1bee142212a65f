package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/human"
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

// askable returns a kind that callers may ask for: every one but what the server
// keeps for itself.
func (s *Server) askable(name string) (*kind.Kind, bool) {
	k, ok := s.kinds.Get(name)
	return k, ok && name != human.ReadingKind
}

// askableNames lists the kinds that callers may ask for.
func (s *Server) askableNames() []string {
	return slices.DeleteFunc(slices.Clone(s.kinds.Names()), func(name string) bool { return name == human.ReadingKind })
}

func (s *Server) listKinds(c echo.Context) error {
	views := []kindView{}
	for _, name := range s.askableNames() {
		if k, ok := s.kinds.Get(name); ok {
			views = append(views, viewOf(k))
		}
	}
	return c.JSON(http.StatusOK, map[string][]kindView{"kinds": views})
}

func (s *Server) getKind(c echo.Context) error {
	k, ok := s.askable(c.Param("name"))
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
