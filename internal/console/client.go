package console

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/clients/typescript"
)

// serveClient answers the TypeScript client as a module that pages import from the server
// itself, so it always is the one that fits. Anyone may have it: it holds nothing but what
// the repository shows.
func serveClient(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderCacheControl, "no-cache")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", typescript.Module)
}
