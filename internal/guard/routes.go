package guard

import (
	"context"
	"log/slog"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
)

// Routes allows only requests of the given routes. It is for the listeners of jobs'
// sandboxes, which may call back and nothing else: Claude must not answer its own
// questions, nor create jobs in another user's name. callerFunc returns the job that calls.
func Routes(log *slog.Logger, callerFunc func(context.Context) job.ID, routes ...string) Check {
	return func(c echo.Context) error {
		if slices.Contains(routes, c.Path()) {
			return nil
		}
		log.Warn(
			"refused a call from within", "method", c.Request().Method, "path", c.Request().URL.Path,
			"requestId", callerFunc(c.Request().Context()),
		)
		httpjson.Told(c)
		return job.Errorf(job.Forbidden, "What runs for a job may not call this").
			WithHint("It may call the callbacks of its own turn. Everything else is for people and back ends.")
	}
}
