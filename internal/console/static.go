package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

//go:embed static
var staticFiles embed.FS

// static contains the files that pages load, by names with a digest: a new version has a different
// URL, so browsers may cache them forever.
type static struct {
	byName map[string]string // to the name with the digest
	files  map[string][]byte // by the name with the digest
}

func loadStatic() static {
	s := static{map[string]string{}, map[string][]byte{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic("console: " + err.Error()) // they are embedded
	}
	all := sha256.New() // modules import each other, so one digest covers them all
	texts := map[string][]byte{}
	for _, entry := range entries {
		text, err := staticFiles.ReadFile("static/" + entry.Name())
		if err != nil {
			panic("console: " + err.Error())
		}
		texts[entry.Name()] = text
		_, _ = all.Write(text)
	}
	digest := hex.EncodeToString(all.Sum(nil))[:12]
	for name, text := range texts {
		ext := path.Ext(name)
		s.byName[name] = strings.TrimSuffix(name, ext) + "." + digest + ext
		s.files[s.byName[name]] = text
	}
	for name, text := range s.files {
		if path.Ext(name) == ".js" {
			s.files[name] = s.withDigests(text)
		}
	}
	return s
}

// withDigests adds the digests to the file names in a module's imports.
func (s static) withDigests(module []byte) []byte {
	text := string(module)
	for name, full := range s.byName {
		text = strings.ReplaceAll(text, "'./"+name+"'", "'./"+full+"'")
	}
	return []byte(text)
}

// path returns the path of a file.
func (s static) path(name string) string {
	full, ok := s.byName[name]
	if !ok {
		panic("console: no static file " + name)
	}
	return "/static/" + full
}

func (s static) serve(c echo.Context) error {
	text, ok := s.files[c.Param("name")]
	if !ok {
		return job.Errorf(job.NotFound, "There is no such file")
	}
	header := c.Response().Header()
	header.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, mime.TypeByExtension(path.Ext(c.Param("name"))), text)
}
