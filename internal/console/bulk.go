package console

import (
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// bulkView is what the page shows that does the same to all jobs of a list.
type bulkView struct {
	Action job.BulkAction
	Jobs   []job.Job
	// More is whether more jobs match than one request may name.
	More bool
	// List is the address of the list.
	List string
	// Done is whether it was done: then Jobs are those to which it was not, Faults why, and
	// Succeeded is to how many it was.
	Done      bool
	Succeeded int
	Faults    map[job.ID]string
}

// Act says what is done to jobs.
func (b bulkView) Act(jobs string) string {
	if b.Action == job.BulkRetry {
		return "Try " + jobs + " again"
	}
	return "Cancel " + jobs
}

// Words say what was done to a job.
func (b bulkView) Words() string {
	if b.Action == job.BulkRetry {
		return "started again"
	}
	return "cancelled"
}

func bulkAction(text string) (job.BulkAction, error) {
	for _, action := range job.BulkActions {
		if text == string(action) {
			return action, nil
		}
	}
	return "", job.UnknownName("/action", text, job.BulkActions[:])
}

// bulk shows how many jobs of a list there are to which an action applies, and which.
func (c *Console) bulk(v *visit) error {
	action, err := bulkAction(v.QueryParam("action"))
	if err != nil {
		return err
	}
	f := v.filter()
	q, err := f.ofAPI()
	if err != nil {
		return err
	}
	jobs, more, err := v.api().Matching(v.Request().Context(), q, action, job.MostInBulk)
	if err != nil {
		return err
	}
	return v.renderBulk(bulkView{Action: action, Jobs: jobs, More: more, List: f.address("/jobs", "")})
}

// doBulk does it to the jobs that the page named, and to no others.
func (c *Console) doBulk(v *visit) error {
	sent, err := v.sent()
	if err != nil {
		return err
	}
	action, err := bulkAction(sent.Get("action"))
	if err != nil {
		return err
	}
	var ids []job.ID
	for _, id := range sent["id"] {
		ids = append(ids, job.ID(id))
	}
	ctx := v.Request().Context()
	done, err := v.api().Bulk(ctx, action, ids)
	if err != nil {
		return err
	}
	view := bulkView{Action: action, List: localPath(sent.Get("list")), Done: true, Succeeded: done.Value.Succeeded, Faults: map[job.ID]string{}}
	for _, o := range done.Value.Jobs {
		if o.Error == "" {
			continue
		}
		left := job.Job{ID: o.RequestID}
		if found, err := v.api().Get(ctx, o.RequestID); err == nil {
			left = found.Value
		}
		view.Jobs, view.Faults[o.RequestID] = append(view.Jobs, left), faultText(&job.Error{Message: o.Error, Hint: o.Hint})
	}
	return v.renderBulk(view)
}

func (v *visit) renderBulk(b bulkView) error {
	return v.render(http.StatusOK, "bulk", page{Title: b.Act("jobs"), Tab: "jobs", Data: b})
}

// address is where a filter leads: a page that filters by it, and does an action if one is named.
func (f jobFilter) address(path, action string) string {
	query := url.Values{}
	for name, value := range map[string]string{
		"kind": f.Kind, "status": f.Status, "user": f.User, "id": f.ID, "tag": f.Tag, "q": f.Text, "since": f.Since, "until": f.Until, "action": action,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Bulk is where an action on all jobs that match begins; empty if it applies to none of them.
func (f jobFilter) Bulk(action job.BulkAction) string {
	if f == (jobFilter{}) || f.Status != "" && !action.AppliesTo(job.State(f.Status)) {
		return ""
	}
	return f.address("/jobs/bulk", string(action))
}
