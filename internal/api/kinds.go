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
}

func viewOf(k *kind.Kind) kindView {
	return kindView{Name: k.Name, Description: k.Policy.Description, Events: k.Policy.Events}
}

func (s *Server) listKinds(c echo.Context) error {
	views := []kindView{}
	for _, name := range s.kinds.Names() {
		if k, ok := s.kinds.Get(name); ok {
			views = append(views, viewOf(k))
		}
	}
	return c.JSON(http.StatusOK, map[string][]kindView{"kinds": views})
}

func (s *Server) getKind(c echo.Context) error {
	k, ok := s.kinds.Get(c.Param("name"))
	if !ok {
		return job.Errorf(job.NotFound, "Unknown kind %q", c.Param("name"))
	}
	view := viewOf(k)
	view.InputSchema, view.ResultSchema = k.Input.JSON(), k.Result.JSON()
	return c.JSON(http.StatusOK, view)
}
