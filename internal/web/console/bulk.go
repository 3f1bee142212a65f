package console

import (
	"fmt"
	"net/http"
	"net/url"

	"ringback/client"
	"ringback/internal/job"
)

type bulkView struct {
	Action job.BulkAction
	Jobs   []job.Job
	// More is true if more jobs match than one request may contain.
	More bool
	// List is the URL of the list.
	List string
	// Done is set after the action. Jobs are then the jobs for which it failed, Faults the reasons,
	// and Succeeded the number of the others.
	Done      bool
	Succeeded int
	Faults    map[job.ID]string
	// Questions are what the jobs ask, in the order of Jobs, before an answer to all of them. Apart
	// are the questions that are not among them, because the page does not show all of them.
	Questions, Apart []question
}

// Act returns the words for the action on jobs.
func (b bulkView) Act(jobs string) string {
	switch b.Action {
	case job.BulkRetry:
		return "Try " + jobs + " again"
	case job.BulkMove:
		return "Move " + jobs + " to the current version of their kind"
	case job.BulkAnswer:
		return "Answer " + jobs
	default:
		return "Cancel " + jobs
	}
}

// These names the jobs on the page.
func (b bulkView) These() string {
	if len(b.Jobs) == 1 {
		return "this job"
	}
	return fmt.Sprintf("these %d jobs", len(b.Jobs))
}

// bulk shows how many jobs of a list an action applies to, and which.
func (c *Console) bulk(v *visit) error {
	action := job.BulkAction(v.QueryParam("action"))
	if err := action.Check(); err != nil {
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
	view := bulkView{Action: action, Jobs: jobs, More: more, List: "/jobs?" + f.Encode()}
	if action == job.BulkAnswer {
		view.Jobs = nil
		for _, j := range jobs {
			q := v.newQuestion(*j.Checkpoint)
			if q.needsPage() {
				view.Apart = append(view.Apart, q)
				continue
			}
			view.Jobs, view.Questions = append(view.Jobs, j), append(view.Questions, q)
		}
	}
	return v.renderBulk(view)
}

// needsPage reports whether a list cannot show all of a question: its form, its files or its
// choices.
func (q question) needsPage() bool {
	return q.Form != nil || len(q.Media()) > 0 || len(q.Props.ValidValues) > mostChoices
}

// doBulk applies the action to exactly the jobs that the page listed.
func (c *Console) doBulk(v *visit, sent url.Values) error {
	action := job.BulkAction(sent.Get("action"))
	if err := action.Check(); err != nil {
		return err
	}
	asked := client.NewBulk{Action: action, Text: sent.Get("text")}
	for _, id := range sent["id"] {
		asked.RequestIDs = append(asked.RequestIDs, job.ID(id))
	}
	for _, id := range sent["question"] {
		asked.CheckpointIDs = append(asked.CheckpointIDs, job.CheckpointID(id))
	}
	ctx := v.Request().Context()
	done, err := v.api().Bulk(ctx, asked)
	if err != nil {
		return err
	}
	view := bulkView{
		Action: action, List: localPath(sent.Get("list")), Done: true, Succeeded: done.Value.Succeeded,
		Faults: map[job.ID]string{},
	}
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

// Bulk returns the URL that starts an action on all matching jobs; empty if there is no filter, or
// if the action applies to no matching job.
func (f jobFilter) Bulk(action job.BulkAction) string {
	if state := f.Get("status"); len(f.Values) == 0 || state != "" && !action.AppliesTo(job.State(state)) {
		return ""
	}
	return "/jobs/bulk?" + f.Encode() + "&action=" + string(action)
}
