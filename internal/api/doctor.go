package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/doctor"
)

// examine reports what in the store does not match the records of jobs; with mend it
// repairs it.
func (s *Server) examine(c echo.Context, mend bool) error {
	report, err := doctor.New(s.store, s.jobs, s.log).Examine(c.Request().Context(), mend)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, report)
}

func (s *Server) inspect(c echo.Context) error { return s.examine(c, false) }

func (s *Server) mend(c echo.Context) error { return s.examine(c, true) }
