package guard

import (
	"context"
	"log/slog"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
)

// Routes lets requests of some routes pass, and refuses all others: at the doors of jobs,
// which may call back and nothing else. Claude is not to answer its own questions, nor to
// ask for jobs as somebody else. callerFunc says which job calls. It belongs behind the
// routing.
func Routes(log *slog.Logger, callerFunc func(context.Context) job.ID, routes ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if slices.Contains(routes, c.Path()) {
				return next(c)
			}
			log.Warn("refused a call from within", "method", c.Request().Method, "path", c.Request().URL.Path, "requestId", callerFunc(c.Request().Context()))
			httpjson.Told(c)
			return job.Errorf(job.Forbidden, "What runs for a job may not call this").
				WithHint("It may call the callbacks of its own turn. Everything else is for people and back ends.")
		}
	}
}
