package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

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
