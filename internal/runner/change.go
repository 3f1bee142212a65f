package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/checkpoint"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/process"
	"ringback/internal/store"
	"ringback/internal/workspace"
)

// change is a job's work on repositories.
type change struct {
	job.Change
	space *workspace.Workspace
	// lost is whether what earlier turns did is gone with another machine.
	lost bool
}

// changeOf returns how a job works on repositories; nil when it does not.
func (r *Runner) changeOf(j job.Job) (*change, error) {
	k, err := r.kindOf(j.Kind)
	if err != nil {
		return nil, err
	}
	asked, err := k.Change(j.Input)
	if err != nil {
		return nil, &workspaceError{err}
	}
	if asked == nil {
		return nil, nil
	}
	c := &change{Change: *asked}
	if c.Repositories, err = workspace.Named(asked.Repositories); err != nil {
		return nil, &workspaceError{err}
	}
	c.space = r.places().Of(string(j.ID), c.Repositories)
	return c, nil
}

func (r *Runner) places() workspace.Places {
	return workspace.Places{Dir: r.opts.Dir, Environ: r.opts.Environ}
}

// decision is what a person said last of a job's change; "" when nobody has.
func decision(answers []job.Checkpoint, id job.ID) (d job.Decision, prompt string) {
	for _, a := range slices.Backward(answers) {
		if a.RequestID == id && a.Type == job.Review && a.Reply != nil {
			return a.Reply.Decision, a.Reply.Reason
		}
	}
	return "", ""
}

// awaited is a context that ends when the job needs the turn no more, or the
// server stops.
func (t *turn) awaited() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case <-ctx.Done():
		case <-t.ended:
			cancel(errors.New("the job has ended"))
		case <-t.left:
			cancel(errLeft)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// storeTimeout bounds a step in the store that is not to be cut off half-way.
const storeTimeout = 10 * time.Second

// errLeft is that the server stops; the next start goes on.
var errLeft = errors.New("the server stops")

// tell shows people what is being done for a job.
func (r *Runner) tell(ctx context.Context, id job.ID, text string) {
	facts, _, ok, err := r.store.Facts(ctx, id)
	if err != nil || !ok {
		return
	}
	activity, err := json.Marshal(job.Activity{Message: text, Type: job.Results, Progress: 90})
	if err != nil {
		return
	}
	digest := job.ActivityDigest(fmt.Appendf(activity, "%d", time.Now().UnixNano())) // the same step may come again
	_, _ = r.store.Progress(ctx, id, facts, activity, digest)                        // people miss one line
}

// capture keeps what a turn has changed and how the verifiers ended, then asks
// for review, or, where none is wanted, brings the change out. Done again after a
// crash, it begins anew.
func (t *turn) capture(c *change) error {
	ctx, cancel := t.awaited()
	defer cancel()
	r := t.r
	j, err := r.store.Get(ctx, t.id)
	if err != nil || !j.Submitted || j.State != job.Running {
		return err
	}
	steering, err := r.store.Steering(ctx, t.id, c.MaxIterations)
	if err != nil {
		return err
	}
	t.phase(ctx, job.Capturing)
	captured := store.Captured{Iteration: steering.CurrentIteration, Output: job.ResultInWords(j.Result).Content}
	diff, trees, err := c.space.Diff(ctx, 0)
	if err != nil {
		return err
	}
	for i := range diff {
		diff[i].Iteration = captured.Iteration
		if diff[i].Truncated {
			diff[i].Hint = howToSeeTheRest(t.id, diff[i])
		}
	}
	captured.Diff, captured.Trees = diff, trees
	if len(c.Verifiers) > 0 {
		t.phase(ctx, job.Verifying)
	}
	captured.Logs = c.space.Verify(ctx, process.OwnMarker(string(t.id)), c.Verifiers)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.store.SaveChange(ctx, t.id, captured); err != nil {
		return err
	}
	t.keep(ctx, c, trees)
	if !c.Review {
		return t.finalize(ctx, c)
	}
	return t.askForReview(ctx, steering, inWords(t.id, captured))
}

// howToSeeTheRest says where all lines of a diff are shown.
func howToSeeTheRest(id job.ID, d job.DiffOutput) string {
	what := "Long lines are cut here"
	if d.NextFrom > 0 {
		what = fmt.Sprintf("Here are the first %d of %d lines", d.NextFrom-1, d.TotalLines)
	}
	return fmt.Sprintf("%s. All of them: ringback diff --full %s, or GET /api/jobs/%s/diff?from=1&max_lines=10000 and so on from next_from; file= shows one file.", what, id, id)
}

// keep stores what was changed for another machine; without it, that one would
// have to begin anew.
func (t *turn) keep(ctx context.Context, c *change, trees workspace.Trees) {
	snapshot, err := c.space.Snapshot(ctx, trees)
	if err == nil {
		var text json.RawMessage
		if text, err = json.Marshal(snapshot); err == nil {
			err = t.r.store.SaveSnapshot(ctx, t.id, text)
		}
	}
	if err != nil {
		t.r.log.Warn("could not keep a change for other machines", "requestId", t.id, "error", err)
	}
}

// restore brings back what another machine has kept. It is false where there is
// nothing.
func (t *turn) restore(ctx context.Context) (bool, error) {
	text, err := t.r.store.Snapshot(ctx, t.id)
	if err != nil || text == nil {
		return false, err
	}
	var snapshot workspace.Snapshot
	if err := json.Unmarshal(text, &snapshot); err != nil || snapshot == nil {
		return false, err
	}
	return true, t.change.space.Restore(ctx, snapshot)
}

// askForReview parks the job until somebody decides. A steer that came meanwhile
// decides at once.
func (t *turn) askForReview(ctx context.Context, steering job.SteeringState, message string) error {
	// The decision ends the turn, and with it ctx, before the answer is here.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	trees, err := t.r.store.Trees(ctx, t.id)
	if err != nil {
		return err
	}
	props, err := json.Marshal(job.Props{Iteration: steering.CurrentIteration, MaxIterations: steering.MaxIterations, Trees: trees})
	if err != nil {
		return err
	}
	outcome, _, details, err := t.r.checkpoints.Ask(ctx, checkpoint.Asking{
		RequestID: t.id, UserID: t.job.UserID, SessionID: t.job.SessionID, Type: job.Review, Message: message, Props: props,
		Subject: fmt.Sprintf("change:%d", steering.CurrentIteration), Deed: job.Deed{Action: "finalize"},
		MaxIterations: steering.MaxIterations,
	})
	switch {
	case err != nil:
		return err
	case details != nil:
		return fmt.Errorf("the question is not valid: %s", details[0].Message)
	case outcome != store.Asked && outcome != store.Repeated && outcome != store.Busy && !job.State(outcome).Terminal():
		return fmt.Errorf("asking for review: %s", outcome)
	}
	return nil
}

// inWords tells the chat of a change (seed 001).
func inWords(id job.ID, c store.Captured) string {
	var out strings.Builder
	if c.Iteration == 0 {
		fmt.Fprintf(&out, "Claude completed %s.\n\nChanges:\n```\n%s\n```\n\nDiff summary:\n", id, fenced(c.Output))
	} else {
		fmt.Fprintf(&out, "Steering iteration %d complete for %s.\n\n%s\n\nUpdated changes:\n", c.Iteration, id, c.Output)
	}
	for _, d := range c.Diff {
		writeFiles(&out, d)
	}
	for _, v := range c.Logs {
		if !v.Success {
			fmt.Fprintf(&out, "FAILED %s (exit code: %d)\n", v.Verifier, v.ExitCode)
		}
	}
	text := out.String()
	shown := excerpt.Head(text, 3500)
	if shown != text {
		shown += "\nAll of it: ringback diff " + string(id) + "\n"
	}
	return shown + "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
}

// writeFiles lists what has changed in a repository. What a reviewer must know of
// comes first: the list may be cut.
func writeFiles(out *strings.Builder, d job.DiffOutput) {
	fmt.Fprintf(out, "**%s**: %s\n", d.Repository, d.Summary)
	for _, l := range d.LeftOut {
		fmt.Fprintf(out, "  - %s CAUTION: it would not be pushed: %s\n", l.Path, l.Reason)
	}
	files := slices.SortedStableFunc(slices.Values(d.Files), func(a, b job.FileDiff) int {
		return cmp.Compare(min(len(b.Suspicious), 1), min(len(a.Suspicious), 1))
	})
	for i, f := range files {
		if i >= 20 && f.Suspicious == "" {
			fmt.Fprintf(out, "  … and %d more\n", len(files)-i)
			break
		}
		fmt.Fprintf(out, "  - %s (%s, +%d/-%d)", f.Path, f.Status, f.Additions, f.Deletions)
		if f.Suspicious != "" {
			out.WriteString(" CAUTION: " + f.Suspicious)
		}
		out.WriteString("\n")
	}
}

// finalize brings an approved change out. What failed is told, and tried again
// with the next approval.
func (t *turn) finalize(ctx context.Context, c *change) error {
	r := t.r
	j, err := r.store.Get(ctx, t.id)
	if err != nil || j.State != job.Running {
		return err
	}
	t.phase(ctx, job.Publishing)
	done, err := r.store.Finalized(ctx, t.id)
	if err != nil {
		return err
	}
	trees, err := r.store.Trees(ctx, t.id)
	if err != nil {
		return err
	}
	todo := slices.DeleteFunc(slices.Clone(c.Repositories), func(repo job.Repository) bool {
		return slices.ContainsFunc(done, func(f job.Finalized) bool { return f.Repository == repo.Name && f.Error == "" })
	})
	all := slices.DeleteFunc(done, func(f job.Finalized) bool { return f.Error != "" })
	for _, repo := range todo { // each is noted at once: a restart goes on with the next
		now := r.places().Of(string(t.id), []job.Repository{repo}).Finalize(ctx, workspace.Finalization{
			RequestID: string(t.id), Trees: trees, Message: commitMessage(j), Commands: c.Finalize, PullRequest: c.PullRequest, Marker: process.OwnMarker(string(t.id)),
			Tell: func(text string) { r.tell(ctx, t.id, text) },
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.note(ctx, now)
		all = append(all, now...)
		if err := r.store.SaveFinalized(ctx, t.id, all); err != nil {
			return err
		}
	}
	if failed := failures(all); failed != "" {
		return t.notBroughtOut(ctx, c, failed)
	}
	return t.receive(ctx, j, all)
}

// note adds to the audit log what became of each repository.
func (t *turn) note(ctx context.Context, list []job.Finalized) {
	for _, f := range list {
		detail := f.Repository + ": " + cmp.Or(f.Error, f.URL, strings.TrimSpace(f.Branch+" "+f.Commit))
		if f.Unchanged {
			detail = f.Repository + ": nothing had changed"
		}
		if err := t.r.store.Note(ctx, t.id, "finished", detail, job.Deed{Action: "finalize"}); err != nil {
			t.r.log.Warn("could not note the end of a change", "requestId", t.id, "error", err)
		}
	}
}

func failures(list []job.Finalized) string {
	var lines []string
	for _, f := range list {
		if f.Error != "" {
			lines = append(lines, f.Repository+": "+f.Error)
		}
	}
	return strings.Join(lines, "\n")
}

func (t *turn) notBroughtOut(ctx context.Context, c *change, failed string) error {
	t.r.log.Warn("a change could not be brought out", "requestId", t.id, "error", failed)
	if !c.Review {
		return t.r.store.End(ctx, t.id, job.Failed, job.CodeFinalize, "The change could not be brought out: "+failed, t.n)
	}
	steering, err := t.r.store.Steering(ctx, t.id, c.MaxIterations)
	if err != nil {
		return err
	}
	return t.askForReview(ctx, steering, fmt.Sprintf("The approved change could not be brought out everywhere (turn %d):\n%s\n\nApprove to try what failed again.", t.n, excerpt.Head(failed, 2000)))
}

// commitMessage is Claude's own summary, with what was asked for as its title.
func commitMessage(j job.Job) string {
	var input struct {
		Prompt string `json:"prompt"`
	}
	_ = json.Unmarshal(j.Input, &input) // a kind without a prompt has its name as the title
	title, _, _ := strings.Cut(strings.TrimSpace(input.Prompt), "\n")
	if title == "" {
		title = j.Kind
	}
	return excerpt.Letters(title, 72) + "\n\n" + job.ResultInWords(j.Result).Content + "\n\nRingback-Request: " + string(j.ID)
}

// receive makes the result final, with what became of the repositories.
func (t *turn) receive(ctx context.Context, j job.Job, all []job.Finalized) error {
	var result map[string]any
	if err := json.Unmarshal(j.Result, &result); err != nil {
		return err
	}
	result["finalized"] = all
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	message := job.Text(job.FromAssistant, broughtOut(all))
	message.MessageType, message.UserID, message.SessionID = job.ResultMessage, j.UserID, j.SessionID
	outcome, err := t.r.store.Result(ctx, t.id, store.Submission{Digest: job.Digest(text), Result: text, Message: &message, Final: true})
	if err == nil && outcome != store.Accepted && outcome != store.Repeated {
		return fmt.Errorf("storing the result: %s", outcome)
	}
	return err
}

func broughtOut(all []job.Finalized) string {
	lines := []string{"Done."}
	for _, f := range all {
		switch {
		case f.Unchanged:
			lines = append(lines, f.Repository+": nothing had changed")
		case f.URL != "":
			lines = append(lines, f.Repository+": PR created: "+f.URL)
		default:
			lines = append(lines, f.Repository+": pushed to "+f.Branch+" as "+f.Commit)
			if f.CompareURL != "" {
				lines = append(lines, "Open a pull request: "+f.CompareURL)
			}
		}
		if f.Note != "" {
			lines = append(lines, f.Note)
		}
	}
	return strings.Join(lines, "\n")
}

// workspaceError is that repositories could not be made ready.
type workspaceError struct{ cause error }

func (e *workspaceError) Error() string {
	return "The workspace could not be made ready: " + e.cause.Error()
}
func (e *workspaceError) Unwrap() error { return e.cause }

// prepare makes the repositories ready.
func (t *turn) prepare() error {
	ctx, cancel := t.awaited()
	defer cancel()
	if err := t.r.store.Extend(ctx, t.id, ownTime); err != nil {
		return err
	}
	fresh, err := t.change.space.Prepare(ctx, func(text string) { t.r.tell(ctx, t.id, text) })
	if err == nil && fresh && t.n > 1 && t.job.Result != nil {
		var restored bool
		restored, err = t.restore(ctx)
		t.change.lost = !restored
	}
	if err == nil {
		err = t.change.space.Settle()
	}
	if err != nil {
		if errors.Is(err, errLeft) {
			return errLeft
		}
		return &workspaceError{err}
	}
	return t.r.store.Extend(ctx, t.id, 0)
}

// ownTime is how long the server itself may work for a job: clone, verify, bring
// out. The callback clock is for Claude.
const ownTime = 2 * time.Hour

// lookForChange is closed once the turn has submitted its change: nothing else
// tells of that.
func (t *turn) lookForChange() <-chan struct{} {
	if t.change == nil {
		return nil
	}
	submitted := make(chan struct{})
	go func() {
		for {
			select {
			case <-t.proc.Done():
				return
			case <-t.ended:
				return
			case <-t.left:
				return
			case <-time.After(500 * time.Millisecond):
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			j, err := t.r.store.Get(ctx, t.id)
			cancel()
			if err == nil && j.Turn == t.n && j.Submitted {
				close(submitted)
				return
			}
		}
	}()
	return submitted
}

// settleChange goes on with a change that was being captured or published when the
// server was lost: nothing of that is Claude's, so it costs no attempt. It is false
// where there is nothing to go on with.
func (r *Runner) settleChange(ctx context.Context, j job.Job) bool {
	c, err := r.changeOf(j)
	if err != nil || c == nil || j.State.Terminal() {
		return false
	}
	answers, err := r.store.Answers(ctx, j.ID)
	if err != nil {
		return false
	}
	if said, _ := decision(answers, j.ID); said == job.Approve {
		r.turns.Go(func() { r.runApproved(&store.Turn{Job: j, Begun: true}, c) })
		return true
	}
	if !j.Submitted || !c.space.Exists() {
		return false
	}
	t := r.track(j)
	t.change = c
	r.turns.Go(func() {
		defer r.untrack(t)
		err := t.capture(c)
		if errors.Is(err, errLeft) {
			return
		}
		end := store.TurnEnd{ID: t.id, Turn: t.n, Node: r.slot.node, Begun: true, Again: true, Note: store.Note{Reason: store.Lost}}
		if err != nil {
			r.log.Error("capturing a change", "requestId", t.id, "error", err)
			end.Code, end.Message = job.CodeWorkspace, "What was changed could not be read: "+err.Error()
		}
		r.endTurn(end)
	})
	return true
}

// runApproved is the turn of a change that was approved: it has no process.
func (r *Runner) runApproved(st *store.Turn, c *change) {
	t := r.track(st.Job)
	t.change = c
	defer r.untrack(t)
	ctx, cancel := t.awaited()
	defer cancel()
	r.log.Info("bringing out an approved change", "requestId", t.id, "turn", t.n)
	err := t.prepare()
	if err == nil && c.lost { // what was approved is gone: nothing else may be brought out
		err = &workspaceError{errors.New("what was approved is on another machine, and too large to be moved")}
	}
	if err == nil {
		err = r.store.Extend(ctx, t.id, ownTime)
	}
	if err == nil {
		err = t.finalize(ctx, c)
	}
	if errors.Is(err, errLeft) {
		return // the next start does it again
	}
	end := store.TurnEnd{ID: t.id, Turn: t.n, Node: r.slot.node, Begun: st.Begun, Again: true, Note: store.Note{Reason: store.Replied}}
	if err != nil {
		r.log.Error("bringing out a change", "requestId", t.id, "error", err)
		end.Code, end.Message = job.CodeFinalize, "The change could not be brought out: "+err.Error()
	}
	r.endTurn(end)
}

// fenced keeps a text from closing the fence it stands in.
func fenced(text string) string { return strings.ReplaceAll(text, "```", "'''") }
