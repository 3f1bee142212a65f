package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/doctor"
)

// examine reports what in the store does not fit the records of jobs; with mend it puts
// that right.
func (s *Server) examine(mend bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := mayAct(callerOf(c), "Examining the store"); err != nil {
			return err
		}
		report, err := doctor.New(s.store, s.jobs, s.log).Examine(c.Request().Context(), mend)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, report)
	}
}
