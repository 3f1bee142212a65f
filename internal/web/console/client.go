package console

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/clients"
	"ringback/internal/job"
)

// serveClient serves the TypeScript client as a module that pages import from the server itself, so
// it always has the matching version. It is public, like the repository.
func serveClient(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderCacheControl, "no-cache")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", clients.Module)
}

func servePackage(c echo.Context) error {
	all, err := clients.Tarballs()
	if err != nil {
		return err
	}
	text, ok := all[c.Param("file")]
	if !ok {
		return job.Errorf(job.NotFound, "There is no package %q here", c.Param("file")).
			WithHint("There are: %s, of this server's version.", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	c.Response().Header().Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, "application/gzip", text)
}
