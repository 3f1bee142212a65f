package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/web/httpjson"
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

// Documents contains one contract as it is served.
type Documents struct{ OpenAPI, AsyncAPI []byte }

// Contracts contains the contract with only the built-in kinds, which anyone may read, and
// the one with this server's own kinds.
type Contracts struct{ Public, Own Documents }

// document returns the handler that responds with a contract. A server's own kinds are shown only to
// its callers; requests without credentials get only what the program's source already shows.
func document(of func(Documents) []byte) handler {
	return func(s *Server, c echo.Context) error {
		c.Response().Header().Set(echo.HeaderVary, echo.HeaderAuthorization)
		public := !s.Open() && c.Request().Header.Get(echo.HeaderAuthorization) == ""
		if !public {
			if _, err := s.identify(c); err != nil {
				return err
			}
		}
		contracts, err := s.opts.Contracts()
		if err != nil {
			return err
		}
		if public {
			return httpjson.WriteText(c, http.StatusOK, of(contracts.Public))
		}
		return httpjson.WriteText(c, http.StatusOK, of(contracts.Own))
	}
}
