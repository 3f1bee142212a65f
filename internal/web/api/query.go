package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// query reads the parameters of a request. err describes the first that is wrong; any method returns zero for
// one that is wrong or absent.
type query struct {
	url.Values
	err error
}

func queryOf(c echo.Context) *query { return &query{Values: c.QueryParams()} }

func (q *query) refuse(name, expected string) {
	q.err = cmp.Or(q.err, error(job.InvalidField("/"+name, expected)))
}

// number returns a number from 1 to most.
func (q *query) number(name string, otherwise, most int) int {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		q.refuse(name, "expected a number from 1 to "+strconv.Itoa(most))
	}
	return n
}

const mostInPage = 500

func (q *query) limit() int { return q.number("limit", 50, mostInPage) }

func (q *query) time(name string) (at time.Time) {
	if text := q.Get(name); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			q.refuse(name, "expected a time such as 2026-03-02T18:00:00Z")
		}
	}
	return at
}

// ids returns the beginning of an id.
func (q *query) ids(word string) (p job.IDPrefix) {
	if text := q.Get("idPrefix"); text != "" {
		var ok bool
		if p, ok = job.ParseIDPrefix(word, text); !ok || p.TooShort() {
			q.refuse("idPrefix", fmt.Sprintf(
				"expected at least %d characters of the random part of an id, with or without its prefix", job.MinIDPrefix,
			))
		}
	}
	return p
}

// oneOf returns one of the allowed names.
func oneOf[T ~string](q *query, name string, allowed []T) T {
	found := T(q.Get(name))
	if found != "" && !slices.Contains(allowed, found) {
		q.err = cmp.Or(q.err, error(job.UnknownName("/"+name, string(found), allowed)))
	}
	return found
}

// selection is the set of fields that a list shows of each job.
type selection struct {
	names []string
	// without is set if names are the fields to leave out instead.
	without bool
}

var recordFields = sync.OnceValue(func() []string {
	return slices.Sorted(maps.Keys(job.FieldsOf(reflect.TypeFor[job.Job]())))
})

// parseFields parses the parameter fields, such as "requestId,status", or "-result,-input"
// for all but these; empty selects all.
func parseFields(text string) (selection, error) {
	if text == "" {
		return selection{without: true}, nil
	}
	var sel selection
	for i, part := range strings.Split(text, ",") {
		name, without := strings.CutPrefix(strings.TrimSpace(part), "-")
		if i > 0 && without != sel.without {
			return sel, job.InvalidField("/fields", "expected the names of fields to return, or names that all begin with - of fields to leave out")
		}
		if !slices.Contains(recordFields(), name) {
			return sel, job.UnknownName("/fields", name, recordFields())
		}
		sel.names, sel.without = append(sel.names, name), without
	}
	return sel, nil
}

func (s selection) shows(name string) bool { return slices.Contains(s.names, name) != s.without }

// of returns a job's record with only the selected fields.
func (s selection) of(j job.Job) json.RawMessage {
	text := job.MustJSON(j)
	if s.without && len(s.names) == 0 {
		return text
	}
	all := map[string]json.RawMessage{}
	for name, value := range job.Members(text) {
		if s.shows(name) {
			all[name] = value
		}
	}
	return job.MustJSON(all)
}
