package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/turn/artifact"
	"ringback/internal/web/httpjson"
)

// captured responds with what was captured of a change after its last turn. Reading it runs
// nothing again.
func captured(c echo.Context, id job.ID, read func(context.Context, job.ID) (json.RawMessage, error)) error {
	text, err := read(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if len(text) == 0 || string(text) == "null" {
		text = json.RawMessage("[]")
	}
	return httpjson.WriteText(c, http.StatusOK, text)
}

func (s *Server) logs(c echo.Context, j job.Job, _ *job.Change) error {
	return captured(c, j.ID, s.store.Changes.Logs)
}

func (s *Server) viewed(c echo.Context, j job.Job, _ *job.Change) error {
	v, err := s.store.Changes.Viewed(c.Request().Context(), j.ID, actorOf(c, job.ViaAPI))
	return answer(c, v, err)
}

// newMark is the body of POST /api/jobs/:id/viewed.
type newMark struct {
	Repository string `json:"repository"` // The name of the file's repository, from the diff.
	Digest     string `json:"digest"`     // The digest of the file, from the diff.
	// Viewed is false to remove the mark.
	Viewed bool `json:"viewed"`
}

func (s *Server) setViewed(c echo.Context, j job.Job, change *job.Change) error {
	var mark newMark
	if err := read(c, &mark); err != nil {
		return err
	}
	if mark.Digest == "" {
		return job.InvalidField("/digest", "is required but missing; expected the digest of a file in the diff")
	}
	ctx, by := c.Request().Context(), actorOf(c, job.ViaAPI)
	now, err := s.store.Changes.Viewed(ctx, j.ID, by)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(
		now.Files, func(f job.ViewedFile) bool { return f.Repository == mark.Repository && f.Digest == mark.Digest },
	) {
		e := job.Errorf(job.Conflict, "The change has no such file: another round may have changed it").
			WithHint("Look at it again: GET /api/jobs/%s/diff shows the files and their digests.", j.ID)
		e.Details = []job.Detail{{Path: "/digest", Message: "is not the digest of a file of the change in this repository"}}
		return e
	}
	if err := s.store.Changes.SetViewed(ctx, j.ID, by, mark.Repository, mark.Digest, mark.Viewed); err != nil {
		return err
	}
	return s.viewed(c, j, change)
}

func (s *Server) steering(c echo.Context, j job.Job, change *job.Change) error {
	state, err := s.store.Changes.Steering(c.Request().Context(), j.ID, change.MaxIterations)
	return answer(c, state, err)
}

// newSteer is the body of POST /api/jobs/:id/steer.
type newSteer struct {
	// Prompt is the instruction for the next round.
	Prompt string `json:"prompt"`
}

// steer requests another round of a change: immediately if the change waits for review, or
// after the running turn.
func (s *Server) steer(c echo.Context, j job.Job) error {
	var asked newSteer
	if err := read(c, &asked); err != nil {
		return err
	}
	if err := s.checkpoints.Steer(c.Request().Context(), j, asked.Prompt, actorOf(c, job.ViaAPI)); err != nil {
		return fieldNames{"/text": "/prompt"}.in(err)
	}
	return s.getJob(c)
}

// Bounds of a page, in lines.
const (
	defaultPageLines = 1000
	maxPageLines     = 10_000
	// lastLine is the highest line number accepted; no diff is that long.
	lastLine = 1 << 40
	// maxContext is larger than the number of lines of any file.
	maxContext = 1_000_000
	// lastRound is the highest round number accepted.
	lastRound = 1_000_000
)

// diff responds with the captured diff of a change: its beginning, or the part that is
// asked for.
func (s *Server) diff(c echo.Context, j job.Job, _ *job.Change) error {
	q := queryOf(c)
	if !slices.ContainsFunc([]string{"repository", "file", "from", "max_lines", "context", "since"}, q.Has) {
		return captured(c, j.ID, s.store.Changes.Diff)
	}
	page := job.DiffPage{
		Repository: q.Get("repository"), File: q.Get("file"), From: q.number("from", 1, lastLine),
		Lines: q.number("max_lines", defaultPageLines, maxPageLines), Context: q.number("context", 0, maxContext),
	}
	if q.err != nil {
		return q.err
	}
	if q.Has("since") {
		round, err := strconv.Atoi(q.Get("since"))
		if err != nil || round < 0 || round > lastRound {
			return job.InvalidField("/since", "expected the number of a round, from 0 to "+strconv.Itoa(lastRound))
		}
		page.Since = &round
	}
	shown, err := s.opts.DiffPage(c.Request().Context(), j.ID, page)
	return answer(c, shown, err)
}

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
