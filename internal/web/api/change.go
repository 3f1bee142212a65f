package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
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
	return captured(c, j.ID, s.store.Logs)
}

func (s *Server) viewed(c echo.Context, j job.Job, _ *job.Change) error {
	v, err := s.store.Viewed(c.Request().Context(), j.ID, actorOf(c, job.ViaAPI))
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
	now, err := s.store.Viewed(ctx, j.ID, by)
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
	if err := s.store.SetViewed(ctx, j.ID, by, mark.Repository, mark.Digest, mark.Viewed); err != nil {
		return err
	}
	return s.viewed(c, j, change)
}

func (s *Server) steering(c echo.Context, j job.Job, change *job.Change) error {
	state, err := s.store.Steering(c.Request().Context(), j.ID, change.MaxIterations)
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
		return captured(c, j.ID, s.store.Diff)
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
