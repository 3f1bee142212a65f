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

// jobList is the data of the page with jobs.
type jobList struct {
	Jobs   []job.Job
	Filter jobFilter
	Kinds  []client.Kind
	States []job.State
	// Next is the URL of the next page; empty on the last. SearchedTo is set if older jobs were not
	// searched yet.
	Next       string
	SearchedTo time.Time
	// Narrowed is true if any filter is set.
	Narrowed bool
}

// jobFilter contains the filter parameters of the URL.
type jobFilter struct{ Kind, Status, User, ID, Tag, Text, Since, Until string }

// filter returns the filter in the URL.
func (v *visit) filter() jobFilter {
	text := func(name string) string { return strings.TrimSpace(v.QueryParam(name)) }
	return jobFilter{
		Kind: text("kind"), Status: text("status"), User: text("user"), ID: text("id"),
		Tag: text("tag"), Text: text("q"), Since: text("since"), Until: text("until"),
	}
}

// ofAPI returns the filter for the API. A date is a day in UTC: since its beginning, until its end.
func (f jobFilter) ofAPI() (client.Filter, error) {
	q := client.Filter{UserID: f.User, Kind: f.Kind, State: job.State(f.Status), IDPrefix: f.ID, Tag: f.Tag, Text: f.Text}
	var err error
	if q.Since, err = timeOf("since", f.Since, 0); err != nil {
		return q, err
	}
	q.Until, err = timeOf("until", f.Until, 1)
	return q, err
}

// timeOf parses a time, or a date to which it adds days; zero for "".
func timeOf(name, text string, days int) (time.Time, error) {
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
	if strings.HasPrefix(f.ID, "req_") {
		if _, err := v.api().Get(ctx, job.ID(f.ID)); err == nil {
			return v.see(jobPath(job.ID(f.ID), ""))
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
	list := jobList{Jobs: found.Value.Jobs, Filter: f, Kinds: kinds.Value.Kinds, States: job.States[:], Narrowed: f != (jobFilter{}), SearchedTo: found.Value.SearchedTo}
	if found.Value.NextCursor != "" {
		list.Next = nextPage(v, found.Value.NextCursor)
	}
	return v.render(http.StatusOK, "jobs", page{Title: "Jobs", Tab: "jobs", Watch: v.follow(), Follow: true, Data: list})
}

// nextPage returns the URL of this page with another cursor.
func nextPage(v *visit, cursor string) string {
	query := url.Values{}
	maps.Copy(query, v.QueryParams())
	query.Set("cursor", cursor)
	return v.Request().URL.Path + "?" + query.Encode()
}
