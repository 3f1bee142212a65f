package api

import (
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

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
