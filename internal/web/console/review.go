package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

type reviewView struct {
	Patches []patch
	Logs    []job.VerifierOutput
	// Files, LeftOut, Additions and Deletions cover the whole change. Unviewed is the number of files that
	// the visitor has not marked as viewed. Paged is set if the page does not show the whole
	// change.
	Files                []changedFile
	LeftOut              []leftOut
	Additions, Deletions int
	Unviewed             int
	Paged                bool
	// Attention lists the files of the whole change that deserve a second look.
	Attention []attention
	// Split is true if lines are shown side by side.
	Split bool
	// Iteration and Trees identify what the page shows: a decision applies to that.
	Iteration int
	Trees     map[string]string
	// From is the first line shown, counted over all patches. Next is the first line of the next
	// page, 0 on the last page; Before is the first line of the previous page, 0 on the first page.
	From, Next, Before int
	// Asks is true if the job waits for a decision, at Question. CanSteer is true if another round may
	// be requested; Prompt is what was written, Faults what is wrong with it.
	Asks, CanSteer bool
	Question       job.CheckpointID
	Prompt         string
	Faults         []string
	// Comments are the comments on lines that were sent with it.
	Comments []written
	// Reason is the text that was written with a decision, Refused why the decision was rejected.
	Reason  string
	Refused []string
	// Unmarked contains the reasons why a file was not marked as viewed.
	Unmarked []string
	// Kept contains the written texts if they can no longer be sent.
	Kept []written
	// Outdated is set if a decision was about an earlier round.
	Outdated string
	// Whole is the file that is shown with all its lines; empty for the change.
	Whole string
	// Since is the round since which changes are shown; nil for the whole change. Rounds are its
	// possible values.
	Since  *int
	Rounds []int
	// Released is set if the workspace was removed: only what was captured can be shown.
	Released bool
	path     string
}

// changedFile is a file of a change. Anchor is its HTML id; empty if the file is on another page.
type changedFile struct {
	Repo string
	job.FileDiff
	Anchor string
	Viewed bool
}

// Mark identifies a file in the form that marks it as viewed. Not all paths survive a form.
func (f changedFile) Mark() string { return f.Repo + "/" + f.Digest }

// leftOut is a file that would not be pushed.
type leftOut struct {
	Repository string
	job.LeftOut
}

const pageLines = 3000

// wholeFile is a number of context lines that exceeds the length of any file.
const wholeFile = 1_000_000

func (c *Console) review(v *visit) error {
	view, _, err := v.newReview(job.ID(v.Param("id")))
	if err != nil {
		return err
	}
	return v.renderJob(http.StatusOK, view)
}

// newReview reads the data of the page with a job's change. The second result is its Data.
func (v *visit) newReview(id job.ID) (jobView, *reviewView, error) {
	view, err := v.viewJob(id, "review")
	if err != nil {
		return view, nil, err
	}
	if view.Steering == nil {
		return view, nil, view.noChange
	}
	shown := &reviewView{
		Split: v.QueryParam("view") == "split", From: max(1, number(v.QueryParam("from"))), Trees: map[string]string{},
		Whole: v.QueryParam("file"), path: here.Job(id, "/review"),
	}
	view.Data, shown.Released = shown, view.Job.State == job.Rejected
	for _, round := range view.Steering.History {
		if shown.Released {
			break
		}
		shown.Rounds = append(shown.Rounds, round.IterationNumber-1)
	}
	if round := number(v.QueryParam("since")); v.QueryParam("since") != "" && slices.Contains(shown.Rounds, round) {
		shown.Since = &round
	}
	if err := v.readChange(id, shown); err != nil {
		return view, shown, err
	}
	logs, err := v.api().Logs(v.Request().Context(), id)
	if err != nil {
		return view, shown, err
	}
	shown.Logs = job.FailedFirst(logs.Value)
	if shown.Asks = view.Question != nil && view.Question.Type == job.Review; shown.Asks {
		shown.Question = view.Question.ID
	}
	shown.CanSteer = !view.Job.State.Terminal() && view.Steering.CurrentIteration < view.Steering.MaxIterations
	return view, shown, nil
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func (v *visit) readChange(id job.ID, shown *reviewView) error {
	ctx := v.Request().Context()
	page := client.DiffPage{From: shown.From, Lines: pageLines, Since: shown.Since}
	if shown.Whole != "" {
		page.Repository, page.File, _ = strings.Cut(shown.Whole, "/")
		page.Context = wholeFile
	}
	diffs, err := v.api().DiffPage(ctx, id, page)
	if err != nil && shown.Whole == "" && shown.Since == nil { // the lines are on another machine; the store has the first of them
		diffs, err = v.api().Diff(ctx, id)
	}
	if err != nil {
		return err
	}
	shown.add(diffs.Value)
	if shown.From > 1 {
		shown.Before = max(1, shown.From-pageLines)
	}
	if shown.isPart() {
		if diffs, err = v.api().Diff(ctx, id); err != nil {
			return err
		}
	}
	viewed, err := v.api().Viewed(ctx, id)
	if err != nil {
		return err
	}
	shown.count(diffs.Value, viewed.Value)
	return nil
}

func (r *reviewView) isPart() bool {
	return r.Whole != "" || r.Since != nil || r.Next > 0 || r.From > 1
}

// count adds the files of the whole change and those left out of it, and marks those that the visitor has
// viewed.
func (r *reviewView) count(whole []job.DiffOutput, viewed job.Viewed) {
	marked := map[string]bool{}
	for _, f := range viewed.Files {
		marked[f.Repository+"/"+f.Digest] = f.Viewed
	}
	for _, d := range whole {
		for _, one := range d.LeftOut {
			r.LeftOut = append(r.LeftOut, leftOut{d.Repository, one})
		}
		for _, f := range d.Files {
			file := changedFile{Repo: d.Repository, FileDiff: f}
			file.Viewed = marked[file.Mark()]
			r.Additions, r.Deletions = r.Additions+f.Additions, r.Deletions+f.Deletions
			if !file.Viewed {
				r.Unviewed++
			}
			at := slices.IndexFunc(r.Patches, func(p patch) bool { return p.Repo == file.Repo && p.Path == f.Path })
			if at >= 0 {
				p := &r.Patches[at]
				file.Anchor, p.File = p.Anchor, file
			}
			r.Paged = r.Paged || at < 0 || r.Patches[at].Cut || r.Patches[at].Folded || r.Since != nil
			r.Files = append(r.Files, file)
		}
	}
	r.Attention = newAttention(r.Files)
}

// Link returns the URL of the page with some parameters changed.
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

// Here returns the URL of the page itself.
func (r reviewView) Here() string {
	if r.From > 1 {
		return r.Link("from", r.From)
	}
	return r.Link()
}

// IsSince reports whether changes since a given round are shown.
func (r reviewView) IsSince(round int) bool { return r.Since != nil && *r.Since == round }

func (r *reviewView) add(diffs []job.DiffOutput) {
	for _, d := range diffs {
		r.Iteration, r.Next = d.Iteration, max(r.Next, d.NextFrom)
		if d.Tree != "" {
			r.Trees[d.Repository] = d.Tree
		}
		stored := d.Truncated && d.From == 0 // long lines are cut there
		for i, f := range d.Files {
			p := newPatch(d.Repository, f, fmt.Sprintf("f%d", len(r.Patches)))
			goesOn := d.NextFrom > 0 && i == len(d.Files)-1
			p.Cut = !f.Binary && p.isPart(goesOn) || stored && p.shortened()
			p.Folded = f.Additions+f.Deletions >= veryLarge && len(p.Rows) > 0 && r.From == 1 && r.Whole == ""
			r.Patches = append(r.Patches, p)
		}
	}
}

// steer requests another round with the written prompt and the comments on lines: as the answer to
// the review that the page showed, otherwise after the running turn.
func (c *Console) steer(v *visit, sent url.Values) error {
	id, question := job.ID(v.Param("id")), job.CheckpointID(sent.Get("question"))
	var err error
	if question == "" {
		_, err = v.api().Steer(v.Request().Context(), id, steerPrompt(sent))
	} else {
		_, err = v.api().Reply(v.Request().Context(), question, client.Reply{Decision: job.Steer, Text: steerPrompt(sent)})
	}
	if err == nil {
		return v.see(here.Job(id, "/review"))
	}
	e := v.asError(err)
	view, shown, readErr := v.newReview(id)
	if readErr != nil {
		return err
	}
	shown.Prompt, shown.Comments, shown.Faults = sent.Get("prompt"), commentsIn(sent), faultsOf(e)
	if question != "" && question != shown.Question {
		shown.Faults = []string{
			"You wrote this about an earlier round, so it was not sent. Look at the current change, then send it again.",
		}
	}
	if !shown.CanSteer {
		shown.Kept = writtenIn(sent)
	}
	return v.renderJob(statusOf(e), view)
}

func (c *Console) setViewed(v *visit, sent url.Values) error {
	mark, viewed := sent.Get("viewed"), sent.Has("viewed")
	if !viewed {
		mark = sent.Get("unviewed")
	}
	mark, anchor, _ := strings.Cut(mark, "#")
	repository, digest, _ := strings.Cut(mark, "/")
	id := job.ID(v.Param("id"))
	_, err := v.api().SetViewed(v.Request().Context(), id, repository, digest, viewed)
	if err == nil {
		return v.see(localPath(sent.Get("back")) + "#" + url.PathEscape(anchor))
	}
	e := v.asError(err)
	view, shown, readErr := v.newReview(id)
	if e.Kind != job.Conflict || readErr != nil {
		return err
	}
	shown.Unmarked = faultsOf(e)
	return v.renderJob(statusOf(e), view)
}

// decideAgain shows a change again if a decision on it was rejected. It returns false if the
// decision was not made on the change's page, or the change can no longer be shown.
func (v *visit) decideAgain(q question, sent url.Values, e *job.Error) (bool, error) {
	if q.Type != job.Review || sent.Get("iteration") == "" {
		return false, nil
	}
	view, shown, err := v.newReview(q.RequestID)
	if err != nil {
		return false, err // then the question is shown, which needs less
	}
	seen := number(sent.Get("iteration"))
	switch {
	case seen != shown.Iteration:
		shown.Outdated = fmt.Sprintf("You decided on %s, but the change is now at %s. Nothing was decided: look at it again.",
			job.RoundWords(seen, 0), job.RoundWords(shown.Iteration, 0))
	case !shown.Asks:
		return false, nil
	default:
		shown.Refused = faultsOf(e)
	}
	if shown.Reason = sent.Get("text"); !shown.Asks {
		shown.Kept = writtenIn(sent)
	}
	return true, v.renderJob(statusOf(e), view)
}

// commentPrefix begins the names of the controls for comments on lines; the file and the line
// follow.
const commentPrefix = "comment:"

// commentsIn returns the comments on lines that were sent, in the order of the lines.
func commentsIn(sent url.Values) []written {
	var all []written
	for name := range sent {
		if place, ok := strings.CutPrefix(name, commentPrefix); ok && strings.TrimSpace(sent.Get(name)) != "" {
			all = append(all, written{place, sent.Get(name)})
		}
	}
	slices.SortFunc(all, func(a, b written) int {
		fileA, lineA := placeOf(a.Label)
		fileB, lineB := placeOf(b.Label)
		return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(lineA, lineB), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// placeOf returns the file and the line of a comment: "service/main.go:7", or "service/main.go:7
// (removed)".
func placeOf(label string) (file string, line int) {
	at := strings.LastIndexByte(label, ':')
	number, _, _ := strings.Cut(label[at+1:], " ")
	line, _ = strconv.Atoi(number)
	return label[:max(at, 0)], line
}

// steerPrompt returns a prompt followed by the comments on lines, in the order of the lines.
func steerPrompt(sent url.Values) string {
	parts := []string{strings.TrimSpace(sent.Get("prompt"))}
	for _, comment := range commentsIn(sent) {
		parts = append(parts, comment.Label+": "+strings.TrimSpace(comment.Text))
	}
	return strings.ReplaceAll(strings.TrimSpace(strings.Join(parts, "\n\n")), "\r\n", "\n")
}

// attention is one reason to look at files of a change first, with those files.
type attention struct {
	Why   string
	Files []changedFile
}

// veryLarge is the number of changed lines from which on a file is easily skimmed.
const veryLarge = 1000

// lockFiles are written by package managers. The packages that they name are downloaded and run.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "go.sum",
	"Cargo.lock", "Gemfile.lock",
	"composer.lock", "poetry.lock", "Pipfile.lock", "uv.lock", "pdm.lock", "mix.lock", "pubspec.lock",
	"packages.lock.json", "gradle.lockfile", "flake.lock", "deno.lock",
}

// attentions are the reasons to look twice, in order. A file is listed under each of its reasons.
var attentions = []struct {
	why  string
	ifIt func(f job.FileDiff) bool
}{
	{"Lock files", func(f job.FileDiff) bool { return slices.Contains(lockFiles, path.Base(f.Path)) }},
	{"Deleted", func(f job.FileDiff) bool { return f.Status == job.FileDeleted }},
	{"Another mode", func(f job.FileDiff) bool { return f.Mode != "" }},
	{"Very large", func(f job.FileDiff) bool { return f.Additions+f.Deletions >= veryLarge }},
}

func newAttention(files []changedFile) []attention {
	var all []attention
	add := func(why string, f changedFile) {
		if at := slices.IndexFunc(all, func(a attention) bool { return a.Why == why }); at >= 0 {
			all[at].Files = append(all[at].Files, f)
		} else {
			all = append(all, attention{why, []changedFile{f}})
		}
	}
	for _, f := range files {
		if f.Suspicious != "" {
			add(strings.ToUpper(f.Suspicious[:1])+f.Suspicious[1:], f)
		}
	}
	for _, a := range attentions {
		for _, f := range files {
			if a.ifIt(f.FileDiff) {
				add(a.why, f)
			}
		}
	}
	return all
}
