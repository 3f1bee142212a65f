package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/kind"
)

// kindView is a kind as callers see it.
type kindView struct {
	Name string `json:"name"`
	// Version is the current version of the prompt and schemas, see kindVersion of a job.
	Version     string `json:"version"`
	Description string `json:"description"`
	// Events is the prefix of the names of the kind's events.
	Events string `json:"events"`
	// InputSchema and ResultSchema are JSON Schemas; a list of kinds leaves them out.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty" jsonschema:"type=object"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty" jsonschema:"type=object"`
	// Actions are run by the server for Claude; Confirm is the condition for asking a
	// person first.
	Actions []actionView `json:"actions,omitempty"`
}

type actionView struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema" jsonschema:"type=object"`
}

func viewOf(k *kind.Kind) kindView {
	return kindView{Name: k.Name, Version: k.Version, Description: k.Policy.Description, Events: k.Policy.Events}
}

// kindList is a list of the kinds of jobs.
type kindList struct {
	Kinds []kindView `json:"kinds"`
}

func (s *Server) listKinds(c echo.Context) error {
	views := []kindView{}
	for _, name := range s.jobs.KindNames() {
		if k, ok := s.jobs.Kind(name); ok {
			views = append(views, viewOf(k))
		}
	}
	return c.JSON(http.StatusOK, kindList{views})
}

func (s *Server) getKind(c echo.Context) error {
	k, ok := s.jobs.Kind(c.Param("name"))
	if !ok {
		return job.Errorf(job.NotFound, "Unknown kind %q", c.Param("name")).
			WithHint("Known kinds are: %s. A server reads kinds when it starts, and again on ringback kinds reload.", strings.Join(s.jobs.KindNames(), ", "))
	}
	view := viewOf(k)
	view.InputSchema, view.ResultSchema = k.Input.JSON(), k.Result.JSON()
	for _, a := range k.Policy.Actions {
		view.Actions = append(view.Actions, actionView{
			Name: a.Name, Title: a.Title, Description: a.Description, Confirm: a.Confirm, InputSchema: a.Schema().JSON(),
		})
	}
	return c.JSON(http.StatusOK, view)
}

// KindsReload answers POST /api/kinds/reload: the names of the kinds that have changed.
type KindsReload struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	// Warnings are actions of these kinds that cannot run on this node, and why.
	Warnings []string `json:"warnings,omitempty"`
}

// NewKindsReload returns the answer for a reload that has made these changes.
func NewKindsReload(c kind.Changes) KindsReload {
	list := func(names []string) []string { return append([]string{}, names...) }
	return KindsReload{Added: list(c.Added), Removed: list(c.Removed), Changed: list(c.Changed)}
}

func (s *Server) reloadKinds(c echo.Context) error {
	reload, err := s.opts.ReloadKinds()
	return answer(c, reload, err)
}
