package api

import (
	"github.com/labstack/echo/v4"

	"ringback/internal/doctor"
)

// examine reports what in the store does not match the records of jobs; with mend it
// repairs it.
func (s *Server) examine(c echo.Context, mend bool) error {
	report, err := doctor.New(s.store, s.jobs, s.log).Examine(c.Request().Context(), mend)
	return answer(c, report, err)
}

func (s *Server) inspect(c echo.Context) error { return s.examine(c, false) }

func (s *Server) mend(c echo.Context) error { return s.examine(c, true) }
