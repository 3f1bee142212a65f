package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/clients"
	"ringback/internal/job"
)

//go:embed static
var staticFiles embed.FS

// static is the path of the files that pages load. It ends with a digest of all of them: another
// version has another path, so browsers may cache them forever. Modules import each other by
// relative paths, so they load the same version.
type static string

func loadStatic() static {
	all := sha256.New()
	err := fs.WalkDir(staticFiles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := staticFiles.ReadFile(name)
		_, _ = all.Write(text)
		return err
	})
	if err != nil {
		panic("console: " + err.Error()) // they are embedded
	}
	return static("/static/" + hex.EncodeToString(all.Sum(nil))[:12] + "/")
}

func (s static) path(name string) string { return string(s) + name }

func (s static) serve(c echo.Context) error {
	name := c.Param("name")
	text, err := staticFiles.ReadFile("static/" + name)
	if err != nil || s.path(name) != c.Request().URL.Path {
		return job.Errorf(job.NotFound, "There is no such file")
	}
	header := c.Response().Header()
	header.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, mime.TypeByExtension(path.Ext(name)), text)
}

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
