package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// DiffPage is a part of a diff: some lines, of one file or of all.
type DiffPage struct {
	// Repository is a name; empty: all repositories.
	Repository string
	// File is a path, with or without its repository before it; empty: all files.
	File string
	// From is the first line, from 1, and Lines how many.
	From, Lines int
}

// The lines of a page.
const (
	defaultPageLines = 1000
	maxPageLines     = 10_000
)

// diff answers what was captured of a change: its beginning, or the part that is
// asked for.
func (s *Server) diff(c echo.Context) error {
	q := c.QueryParams()
	if !q.Has("repository") && !q.Has("file") && !q.Has("from") && !q.Has("max_lines") {
		return s.captured(s.store.Diff)(c)
	}
	page := DiffPage{Repository: q.Get("repository"), File: q.Get("file")}
	var err error
	if page.From, err = numberOf(c, "from", 1, 1<<40); err != nil {
		return err
	}
	if page.Lines, err = numberOf(c, "max_lines", defaultPageLines, maxPageLines); err != nil {
		return err
	}
	j, _, err := s.changeOf(c)
	if err != nil {
		return err
	}
	shown, err := s.opts.DiffPage(c.Request().Context(), j.ID, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, shown)
}

// numberOf reads a number from 1 to most from the query.
func numberOf(c echo.Context, name string, otherwise, most int) (int, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid("/"+name, "expected a number from 1 to "+strconv.Itoa(most))
	}
	return n, nil
}
