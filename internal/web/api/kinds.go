package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

func viewOf(k *kind.Kind) job.KindView {
	return job.KindView{Name: k.Name, Version: k.Version, Description: k.Policy.Description, Events: k.Policy.Events}
}

func (s *Server) listKinds(c echo.Context) error {
	views := []job.KindView{}
	for _, name := range s.jobs.KindNames() {
		if k, ok := s.jobs.Kind(name); ok {
			views = append(views, viewOf(k))
		}
	}
	return c.JSON(http.StatusOK, job.KindList{Kinds: views})
}

func (s *Server) getKind(c echo.Context) error {
	k, ok := s.jobs.Kind(c.Param("name"))
	if !ok {
		return job.Errorf(job.NotFound, "Unknown kind %q", c.Param("name")).
			WithHint(
				"Known kinds are: %s. A server reads kinds when it starts, and again on ringback kinds reload.",
				strings.Join(s.jobs.KindNames(), ", "),
			)
	}
	view := viewOf(k)
	view.InputSchema, view.ResultSchema = k.Input.JSON(), k.Result.JSON()
	for _, a := range k.Policy.Actions {
		view.Actions = append(view.Actions, job.ActionView{
			Name: a.Name, Title: a.Title, Description: a.Description, Confirm: a.Confirm, InputSchema: a.Schema().JSON(),
		})
	}
	return c.JSON(http.StatusOK, view)
}

func (s *Server) reloadKinds(c echo.Context) error {
	reload, err := s.opts.ReloadKinds()
	return answer(c, reload, err)
}
