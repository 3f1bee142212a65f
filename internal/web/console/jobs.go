package console

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

type jobList struct {
	client.Page
	Filter jobFilter
	Kinds  []client.Kind
	States []job.State
	// Next is the URL of the next page; empty on the last.
	Next string
}

type jobFilter struct{ url.Values }

func (v *visit) filter() jobFilter {
	f := jobFilter{url.Values{}}
	for _, name := range []string{"kind", "status", "user", "id", "tag", "q", "since", "until"} {
		if text := strings.TrimSpace(v.QueryParam(name)); text != "" {
			f.Set(name, text)
		}
	}
	return f
}

// ofAPI returns the filter for the API. A date is a day in UTC: since its beginning, until its end.
func (f jobFilter) ofAPI() (client.Filter, error) {
	q := client.Filter{
		UserID: f.Get("user"), Kind: f.Get("kind"), States: job.NamesIn[job.State](f.Get("status")), IDPrefix: f.Get("id"),
		Tag: f.Get("tag"), Text: f.Get("q"),
	}
	var err error
	if q.Since, err = f.time("since", 0); err != nil {
		return q, err
	}
	q.Until, err = f.time("until", 1)
	return q, err
}

// time parses a time, or a date to which it adds days; zero if it is not set.
func (f jobFilter) time(name string, days int) (time.Time, error) {
	text := f.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, days), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, job.InvalidField("/"+name, "expected a date such as 2026-03-02, or a time such as 2026-03-02T18:00:00Z")
	}
	return at, nil
}

func (c *Console) jobs(v *visit) error {
	f := v.filter()
	ctx := v.Request().Context()
	if id := job.ID(f.Get("id")); strings.HasPrefix(string(id), "req_") {
		if _, err := v.api().Get(ctx, id); err == nil {
			return v.see(here.Job(id, ""))
		}
	}
	q, err := f.ofAPI()
	if err != nil {
		return err
	}
	q.Cursor, q.Limit, q.Brief = v.QueryParam("cursor"), 50, true
	found, err := v.api().List(ctx, q)
	if err != nil {
		return err
	}
	kinds, err := v.api().Kinds(ctx)
	if err != nil {
		return err
	}
	list := jobList{Page: found.Value, Filter: f, Kinds: kinds.Value.Kinds, States: job.States[:]}
	list.Next = nextPage(v, found.Value.NextCursor)
	return v.render(http.StatusOK, "jobs", page{Title: "Jobs", Tab: "jobs", Watch: v.follow(), Follow: true, Data: list})
}

// nextPage returns the URL of this page with another cursor; empty if there is none.
func nextPage(v *visit, cursor string) string {
	if cursor == "" {
		return ""
	}
	query := url.Values{}
	maps.Copy(query, v.QueryParams())
	query.Set("cursor", cursor)
	return v.Request().URL.Path + "?" + query.Encode()
}
