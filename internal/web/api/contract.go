package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/httpjson"
)

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
