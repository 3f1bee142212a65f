package console

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

// jobList is what the page of jobs shows.
type jobList struct {
	Jobs   []job.Job
	Filter jobFilter
	Kinds  []client.Kind
	States []job.State
	// Next is the address of the next page; empty on the last.
	Next string
	// Narrowed is whether anything is filtered by.
	Narrowed bool
}

// jobFilter is what is filtered by, as it stands in the URL.
type jobFilter struct{ Kind, Status, User, ID string }

func (c *Console) jobs(v *visit) error {
	f := jobFilter{v.QueryParam("kind"), v.QueryParam("status"), strings.TrimSpace(v.QueryParam("user")), strings.TrimSpace(v.QueryParam("id"))}
	ctx := v.Request().Context()
	if strings.HasPrefix(f.ID, "req_") {
		if _, err := v.api().Get(ctx, job.ID(f.ID)); err == nil {
			return v.see(jobPath(job.ID(f.ID), ""))
		}
	}
	found, err := v.api().List(ctx, client.Filter{
		UserID: f.User, Kind: f.Kind, State: job.State(f.Status), IDPrefix: f.ID, Cursor: v.QueryParam("cursor"), Limit: 50,
	})
	if err != nil {
		return err
	}
	kinds, err := v.api().Kinds(ctx)
	if err != nil {
		return err
	}
	list := jobList{Jobs: found.Value.Jobs, Filter: f, Kinds: kinds.Value.Kinds, States: job.States[:], Narrowed: f != (jobFilter{})}
	if found.Value.NextCursor != "" {
		list.Next = nextPage(v, found.Value.NextCursor)
	}
	return v.render(http.StatusOK, "jobs", page{Title: "Jobs", Tab: "jobs", Watch: v.follow(), Follow: true, Data: list})
}

// nextPage is the address of this page with another cursor.
func nextPage(v *visit, cursor string) string {
	query := url.Values{}
	maps.Copy(query, v.QueryParams())
	query.Set("cursor", cursor)
	return v.Request().URL.Path + "?" + query.Encode()
}
