package api

import (
	"github.com/labstack/echo/v4"

	"ringback/internal/doctor"
)

// examine returns the handler that reports what in the store does not match the records of jobs;
// with mend it repairs it.
func examine(mend bool) handler {
	return func(s *Server, c echo.Context) error {
		report, err := doctor.New(s.store, s.jobs, s.log).Examine(c.Request().Context(), mend)
		return answer(c, report, err)
	}
}
