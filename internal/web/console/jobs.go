package console

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/web/console/form"
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

type startForm struct {
	Kind client.Kind
	Form form.Field
	// From is the job that provides the filled-in input; empty for none.
	From string
	// Sent is what was filled in, apart from the input. Tags are separated by spaces.
	Sent        url.Values
	Faults      []string
	Simulations []job.Simulation
}

func (c *Console) kinds(v *visit) error {
	found, err := v.api().Kinds(v.Request().Context())
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "kinds", page{Title: "New job", Tab: "jobs", Data: found.Value.Kinds})
}

// newJob shows the form of a kind. If the URL names a job, its input is filled in, so that it can
// be started again with changes.
func (c *Console) newJob(v *visit) error {
	k, s, err := v.kind()
	if err != nil {
		return err
	}
	values, shown := s.Initial(nil), startForm{Kind: k, From: v.QueryParam("from"), Sent: url.Values{}}
	if shown.From != "" {
		found, err := v.api().Get(v.Request().Context(), job.ID(shown.From))
		if err != nil {
			return err
		}
		values = s.Fill(found.Value.Input)
		shown.Sent.Set("userId", found.Value.UserID)
		shown.Sent.Set("tags", strings.Join(found.Value.Tags, " "))
	}
	shown.Form = s.Form(values, nil)
	return v.renderStart(http.StatusOK, shown)
}

func (v *visit) kind() (client.Kind, *form.Schema, error) {
	found, err := v.api().Kind(v.Request().Context(), v.Param("kind"))
	if err != nil {
		return client.Kind{}, nil, err
	}
	s, err := form.Parse(found.Value.InputSchema)
	return found.Value, s, err
}

// keyField is the form's field with the key that lets it start one job only, however often it is sent.
const keyField = "idempotencyKey"

func (v *visit) renderStart(status int, f startForm) error {
	if f.Sent.Get(keyField) == "" {
		f.Sent.Set(keyField, rand.Text())
	}
	f.Simulations = job.Simulations[:]
	return v.render(status, "new_job", page{Title: "New " + f.Kind.Name, Tab: "jobs", Data: f})
}

func (c *Console) startJob(v *visit, sent url.Values) error {
	k, s, err := v.kind()
	if err != nil {
		return err
	}
	shown := startForm{Kind: k, Sent: sent}
	if edited, again := s.Edit(sent); again {
		shown.Form = s.Form(edited, nil)
		return v.renderStart(http.StatusOK, shown)
	}
	input, faults := s.Decode(sent)
	if len(faults) > 0 {
		shown.Form = s.Form(sent, faults)
		return v.renderStart(http.StatusBadRequest, shown)
	}
	created, err := v.api().Create(v.Request().Context(), client.NewJob{
		Kind: k.Name, Input: input, UserID: strings.TrimSpace(sent.Get("userId")), Tags: strings.Fields(sent.Get("tags")),
		Options: job.Options{Simulate: job.Simulation(sent.Get("simulate"))}, IdempotencyKey: sent.Get(keyField),
	})
	if err == nil {
		return v.see(here.Job(created.Value.RequestID, ""))
	}
	e := v.asError(err)
	if e.Kind == job.Conflict { // it was sent before, and changed since
		e.Message, e.Hint = "This form has started a job already, from other input", "It is in the list of jobs. Send the form again to start another one."
		sent.Del(keyField)
	}
	faults, shown.Faults = splitFaults(e, "/input")
	shown.Form = s.Form(sent, faults)
	return v.renderStart(statusOf(e), shown)
}
