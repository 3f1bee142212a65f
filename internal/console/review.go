package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/client"
	"ringback/internal/job"
)

// reviewView is a change as its reviewer sees it.
type reviewView struct {
	Patches []patch
	LeftOut []leftOut
	Logs    []job.VerifierOutput
	// Additions and Deletions are of all files.
	Additions, Deletions int
	// Split is whether lines are shown side by side.
	Split bool
	// Iteration and Trees are what is on the page: a decision is taken for that.
	Iteration int
	Trees     map[string]string
	// From is the first line that is shown of all patches, Next that of the next page; 0
	// behind the last.
	From, Next int
	// Asks is whether a decision is waited for, CanSteer whether another round may be
	// asked for; Prompt is what was written, Faults what is wrong with it.
	Asks, CanSteer bool
	Prompt         string
	Faults         []string
	// Outdated says that a decision was about an earlier round.
	Outdated string
	// Whole is the file that is shown with all of its lines; empty for the change.
	Whole string
	// Since is the round since which changes are shown; nil: from the beginning. Rounds are
	// those that it may be.
	Since  *int
	Rounds []int
	// path is that of the page.
	path string
}

// leftOut is what would not be pushed.
type leftOut struct {
	Repository string
	job.LeftOut
}

// pageLines is how many lines of a change a page shows.
const pageLines = 3000

// wholeFile is more unchanged lines around a change than any file has.
const wholeFile = 1_000_000

func (c *Console) review(v *visit) error {
	view, shown, err := v.newReview(job.ID(v.Param("id")))
	if err != nil {
		return err
	}
	view.Data = shown
	return v.renderJob(view)
}

func (v *visit) newReview(id job.ID) (jobView, reviewView, error) {
	view, err := v.viewJob(id, "review")
	if err != nil {
		return view, reviewView{}, err
	}
	if !view.Change() {
		return view, reviewView{}, view.noChange
	}
	shown := reviewView{
		Split: v.QueryParam("view") == "split", From: max(1, number(v.QueryParam("from"))), Trees: map[string]string{},
		Whole: v.QueryParam("file"), path: jobPath(id, "/review"),
	}
	for _, round := range view.Steering.History {
		shown.Rounds = append(shown.Rounds, round.IterationNumber-1)
	}
	if round := number(v.QueryParam("since")); v.QueryParam("since") != "" && slices.Contains(shown.Rounds, round) {
		shown.Since = &round
	}
	if err := v.readChange(id, &shown); err != nil {
		return view, shown, err
	}
	logs, err := v.api().Logs(v.Request().Context(), id)
	if err != nil {
		return view, shown, err
	}
	shown.Logs = logs.Value
	shown.Asks = view.Question != nil && view.Question.Type == job.Review
	shown.CanSteer = !view.Job.State.Terminal() && view.Steering.CurrentIteration < view.Steering.MaxIterations
	return view, shown, nil
}

// number reads a number of a query; 0 for none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// readChange reads the part of the change that is asked for.
func (v *visit) readChange(id job.ID, shown *reviewView) error {
	ctx := v.Request().Context()
	page := client.DiffPage{From: shown.From, Lines: pageLines, Since: shown.Since}
	if shown.Whole != "" {
		page.Repository, page.File, _ = strings.Cut(shown.Whole, "/")
		page.Context = wholeFile
	}
	diffs, err := v.api().DiffPage(ctx, id, page)
	if err != nil && shown.Whole == "" && shown.Since == nil { // the lines lie on another machine: the first of them are in the store
		diffs, err = v.api().Diff(ctx, id)
	}
	if err == nil {
		shown.add(diffs.Value)
	}
	return err
}

// Link is the address of the page with something shown in another way.
func (r reviewView) Link(changes ...any) string {
	query := url.Values{}
	if r.Split {
		query.Set("view", "split")
	}
	if r.Whole != "" {
		query.Set("file", r.Whole)
	}
	if r.Since != nil {
		query.Set("since", strconv.Itoa(*r.Since))
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if name, value := fmt.Sprint(changes[i]), fmt.Sprint(changes[i+1]); value == "" {
			query.Del(name)
		} else {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return r.path
	}
	return r.path + "?" + query.Encode()
}

// IsSince reports whether changes are shown since a round.
func (r reviewView) IsSince(round int) bool { return r.Since != nil && *r.Since == round }

func (r *reviewView) add(diffs []job.DiffOutput) {
	for _, d := range diffs {
		r.Iteration, r.Next = d.Iteration, max(r.Next, d.NextFrom)
		if d.Tree != "" {
			r.Trees[d.Repository] = d.Tree
		}
		for _, f := range d.Files {
			r.Additions, r.Deletions = r.Additions+f.Additions, r.Deletions+f.Deletions
			p := newPatch(d.Repository, f, fmt.Sprintf("f%d", len(r.Patches)))
			lines := 0
			for _, row := range p.Rows {
				if row.Kind == "add" || row.Kind == "del" {
					lines++
				}
			}
			p.Cut = !f.Binary && lines < f.Additions+f.Deletions
			r.Patches = append(r.Patches, p)
		}
		for _, one := range d.LeftOut {
			r.LeftOut = append(r.LeftOut, leftOut{d.Repository, one})
		}
	}
}

// steer asks for another round: what was written, and the comments on lines.
func (c *Console) steer(v *visit) error {
	sent, err := v.FormParams()
	if err != nil {
		return job.Errorf(job.Invalid, "The form could not be read")
	}
	id := job.ID(v.Param("id"))
	prompt := steerPrompt(sent)
	_, err = v.api().Steer(v.Request().Context(), id, prompt)
	if err == nil {
		return v.see(jobPath(id, "/review"))
	}
	e := v.asError(err)
	view, shown, readErr := v.newReview(id)
	if e.Kind != job.Invalid && e.Kind != job.Conflict || readErr != nil {
		return err
	}
	shown.Prompt, shown.Faults = prompt, []string{faultText(e)}
	for _, detail := range e.Details {
		shown.Faults = append(shown.Faults, detailText(detail))
	}
	view.Data = shown
	return v.render(statusOf(e), "job_review", page{Title: "Review", Tab: "jobs", Watch: watch{}, Data: view})
}

// outdated shows a change anew to whoever decided on an earlier round of it; false where there
// is no other round to be seen.
func (v *visit) outdated(q question, sent url.Values) (bool, error) {
	view, shown, err := v.newReview(q.RequestID)
	if err != nil || q.Type != job.Review || sent.Get("iteration") == "" || number(sent.Get("iteration")) == shown.Iteration {
		return false, nil //nolint:nilerr // then the question is shown, which needs less
	}
	shown.Outdated = fmt.Sprintf("You decided on round %s, and the change is at round %d by now. Nothing was decided: look at it again.", sent.Get("iteration"), shown.Iteration)
	view.Data = shown
	return true, v.render(http.StatusConflict, "job_review", page{Title: "Review", Tab: "jobs", Watch: watch{}, Data: view})
}

// commentPrefix begins the names of the controls that hold comments on lines; the file and
// the line follow.
const commentPrefix = "comment:"

// steerPrompt is a prompt with the comments on lines below, in the order of the lines.
func steerPrompt(sent url.Values) string {
	var prompt strings.Builder
	prompt.WriteString(strings.TrimSpace(sent.Get("prompt")))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		place, ok := strings.CutPrefix(name, commentPrefix)
		if text := strings.TrimSpace(sent.Get(name)); ok && text != "" {
			prompt.WriteString("\n\n" + place + ": " + text)
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(prompt.String()), "\r\n", "\n")
}
