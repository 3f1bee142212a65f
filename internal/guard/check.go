package guard

import "github.com/labstack/echo/v4"

// Check returns an error for a request that must be refused.
type Check func(c echo.Context) error

// Checks handles only requests that pass all of these checks. They run after routing, in this
// order, in one middleware: echo builds the chain of middlewares again for each request.
func Checks(checks ...Check) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			for _, check := range checks {
				if err := check(c); err != nil {
					return err
				}
			}
			return next(c)
		}
	}
}
