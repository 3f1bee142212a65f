package api

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/turn/artifact"
)

// FilesFunc returns the directory of the files that a job made on a node; false if they are
// on another machine or in another DATA_DIR.
type FilesFunc func(node string, id job.ID) (artifact.Dir, bool)

func (s *Server) listFiles(c echo.Context) error {
	j, dir, err := s.filesOf(c)
	if err != nil {
		return err
	}
	views := []job.FileView{}
	more := false
	if dir.Base != "" {
		var files []artifact.File
		if files, more, err = dir.List(); err != nil {
			return err
		}
		for _, f := range files {
			media, _ := mediaOf(f.Path)
			views = append(views, job.FileView{
				Path: f.Path, Size: f.Size, ContentType: media, ModifiedAt: f.ModTime, URL: "/api" + job.Pages("").File(j.ID, f.Path),
			})
		}
	}
	return c.JSON(http.StatusOK, job.FileList{Files: views, Truncated: more})
}

func (s *Server) filesOf(c echo.Context) (job.Job, artifact.Dir, error) {
	j, err := s.find(c)
	if err != nil {
		return j, artifact.Dir{}, err
	}
	k, err := s.jobs.KindOf(c.Request().Context(), j)
	if err != nil {
		return j, artifact.Dir{}, err
	}
	if k.Policy.Workspace != nil {
		return j, artifact.Dir{}, job.Errorf(job.Conflict, "Jobs of the kind %q work on repositories", j.Kind).
			WithHint("GET /api/jobs/%s/diff shows what changed there.", j.ID)
	}
	dir, here := s.opts.Files(j.Node, j.ID)
	if !here && j.Node == "" { // no turn has started, or a person plays Claude on another node
		return j, artifact.Dir{}, nil
	}
	if !here {
		return j, dir, job.Errorf(job.NotFound, "The files of this job are on another node").
			WithHint(
				"They are in the DATA_DIR of %s: request them from that server. Nodes that share a DATA_DIR serve one another's files.",
				j.Node,
			)
	}
	return j, dir, nil
}

// getFile serves one file. Its author is not trusted: a browser shows images, audio, video
// and plain text, runs nothing, and downloads the rest.
func (s *Server) getFile(c echo.Context) error {
	j, dir, err := s.filesOf(c)
	if err != nil {
		return err
	}
	name, ok := filePath(c.Request().URL)
	if !ok || dir.Base == "" {
		return noFile(j.ID)
	}
	if strings.Count(c.Request().Header.Get("Range"), ",") >= maxRanges { // each costs memory, and a seek
		return job.Errorf(job.Invalid, "Too many ranges").WithHint("Request at most %d ranges.", maxRanges)
	}
	f, info, err := dir.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFile(j.ID)
	case errors.Is(err, artifact.ErrTooLarge):
		return job.Errorf(job.TooLarge, "The file is too large").WithHint("At most %d bytes are served.", int64(artifact.MaxSize))
	case err != nil:
		return err
	}
	defer f.Close()
	control := http.NewResponseController(c.Response())
	_ = control.SetWriteDeadline(time.Now().Add(fileTimeout)) // a stalled reader must not keep the file open
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	describe(c.Response().Header(), name, info)
	http.ServeContent(c.Response(), c.Request(), "", info.ModTime(), f)
	return nil
}

// maxRanges is the maximum number of ranges of a file in one request: players and PDF readers ask for a few.
const maxRanges = 16

const fileTimeout = 10 * time.Minute

func noFile(id job.ID) error {
	return job.Errorf(job.NotFound, "The job made no such file").WithHint("GET /api/jobs/%s/files lists them.", id)
}

// describe sets the headers that keep a browser from running a file.
func describe(header http.Header, name string, info fs.FileInfo) {
	media, inline := mediaOf(name)
	disposition := "inline"
	if !inline {
		disposition = "attachment"
	}
	if d := mime.FormatMediaType(disposition, map[string]string{"filename": path.Base(name)}); d != "" {
		disposition = d
	}
	header.Set(echo.HeaderContentType, media)
	header.Set(echo.HeaderContentDisposition, disposition)
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	header.Set(echo.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	header.Set(echo.HeaderCacheControl, "private, no-cache") // it may change while the job runs
	header.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
}

// downloaded contains the other media types, by file extension. SVG can contain scripts; it still works
// as an image in a page.
var downloaded = map[string]string{".svg": "image/svg+xml", ".pdf": "application/pdf"}

// inline contains the media types that a browser may display, by file extension.
var inline = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif",
	".mp3":  "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".m4a": "audio/mp4", ".flac": "audio/flac",
	".mp4": "video/mp4", ".webm": "video/webm",
	".json": "application/json",
	".txt":  plainText, ".md": plainText, ".log": plainText, ".csv": plainText, ".tsv": plainText, ".yaml": plainText,
	".yml":   plainText,
	".jsonl": plainText, ".srt": plainText, ".vtt": plainText,
}

const plainText = "text/plain; charset=utf-8"

// mediaOf returns a file's media type and whether it is shown inline, by its name alone.
func mediaOf(name string) (media string, shown bool) {
	ext := strings.ToLower(path.Ext(name))
	if media, shown = inline[ext]; shown {
		return media, true
	}
	return cmp.Or(downloaded[ext], echo.MIMEOctetStream), false
}

// filePath returns the path of the file in a URL of getFile; false if a segment contains an
// encoded slash.
func filePath(u *url.URL) (string, bool) {
	_, rest, _ := strings.Cut(u.EscapedPath(), "/files/")
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil || strings.Contains(text, "/") {
			return "", false
		}
		parts[i] = text
	}
	return strings.Join(parts, "/"), true
}
