package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/workspace"
)

// Publication is the step of a change that a person has approved. It is a turn without a
// process: Claude is not involved.
type Publication struct {
	*Change
	approved approved
}

// approved is what may be published: the tree of each repository, and the time of the commits. The
// time is the same on every machine and on every retry. review is the question that was answered last;
// empty if none was asked.
type approved struct {
	trees  workspace.Trees
	at     time.Time
	review job.CheckpointID
}

// approvedBy returns the trees that the latest review of a job has shown, and when a person first
// approved them.
func approvedBy(answers []job.Checkpoint, j job.Job) (a approved) {
	for _, answer := range slices.Backward(answers) {
		if answer.RequestID != j.ID || answer.Type != job.Review || answer.Reply == nil {
			continue
		}
		var shown job.Props
		if answer.Reply.Decision != job.Approve || job.UnmarshalExact(answer.Props, &shown) != nil {
			break
		}
		if a.trees != nil && !maps.Equal(a.trees, shown.Trees) {
			break // of an earlier round
		}
		a = approved{trees: shown.Trees, at: answer.AnsweredAt, review: cmp.Or(a.review, answer.ID)}
	}
	return a
}

// Run ensures that the approved trees are on this machine, and publishes them.
func (p Publication) Run(ctx context.Context) error {
	p.flow.log.Info("publishing change", "requestId", p.job.ID, "turn", p.job.Turn)
	return stepError(ctx, p.run(ctx), job.CodeFinalize, "The change could not be published: ")
}

func (p Publication) run(ctx context.Context) error {
	err := p.bring(ctx, "what was approved")
	if refused, ok := errors.AsType[*workspace.CloneError](err); ok && ctx.Err() == nil {
		return p.notCloned(ctx, refused)
	}
	if err != nil {
		return err
	}
	if err := p.flow.jobs.ExtendTurn(ctx, p.job.ID, p.holder(), lifecycle.ServerTime); err != nil {
		return err
	}
	return p.publish(ctx, p.approved)
}

// notCloned records that a repository could not be cloned to publish the change from this machine.
func (p Publication) notCloned(ctx context.Context, refused *workspace.CloneError) error {
	outcomes, err := p.outcomes(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(outcomes, func(f job.Finalized) bool { return f.Repository == refused.Repository })
	outcomes[i].Error = refused.Unwrap().Error()
	err = p.flow.jobs.SaveFinalized(ctx, p.job.ID, p.holder(), outcomes, audited(outcomes[i:i+1], p.approved.review)...)
	if err != nil {
		return err
	}
	return p.notPublished(ctx, p.approved.trees, failures(outcomes))
}

// outcomes returns the outcome of an earlier attempt or round for each repository.
func (c *Change) outcomes(ctx context.Context) ([]job.Finalized, error) {
	earlier, err := c.flow.store.Changes.Finalized(ctx, c.job.ID)
	outcomes := make([]job.Finalized, len(c.Repositories))
	for i, r := range c.Repositories {
		outcomes[i] = job.Finalized{Repository: r.Name}
		if n := slices.IndexFunc(earlier, func(f job.Finalized) bool { return f.Repository == r.Name }); n >= 0 {
			outcomes[i] = earlier[n]
		}
	}
	return outcomes, err
}

// publish commits and pushes the approved trees, and runs the finalizers. Failures are
// reported, and retried after the next approval.
func (c *Change) publish(ctx context.Context, yes approved) error {
	j, err := c.flow.store.Get(ctx, c.job.ID)
	if err != nil || j.State != job.Running {
		return err
	}
	c.ShowPhase(ctx, job.Publishing)
	outcomes, err := c.outcomes(ctx)
	if err != nil {
		return err
	}
	for i, r := range c.Repositories { // recorded one by one: a restart continues with the next
		tree := yes.trees[r.Name]
		switch {
		case tree == "":
			outcomes[i].Error = "It is not part of what was approved."
		case !outcomes[i].Has(tree, c.Finalize):
			if err := c.publishOne(ctx, j, r, yes, outcomes, i); err != nil {
				return err
			}
		}
	}
	if failed := failures(outcomes); failed != "" {
		return c.notPublished(ctx, yes.trees, failed)
	}
	return c.receive(ctx, j, outcomes)
}

// publishOne publishes the approved tree of a repository and records the outcome as outcomes[i], which
// contains that of an earlier attempt or round.
func (c *Change) publishOne(
	ctx context.Context, j job.Job, r job.Repository, yes approved, outcomes []job.Finalized, i int,
) error {
	var stopped error // an error of the store, which is not the repository's fault
	done, err := c.flow.root.Of(string(j.ID), []job.Repository{r}).Publish(ctx, workspace.PublishOptions{
		RequestID: string(j.ID), Trees: yes.trees, Message: commitMessage(j), Time: yes.at, Commands: c.Finalize,
		Limits: c.Limits, PullRequest: c.PullRequest, Earlier: outcomes[i],
		Marker: process.OwnMarker(string(j.ID)), Report: func(text string) { c.reportProgress(ctx, text) },
		MayFunc: func(ctx context.Context, begun job.Finalized) error {
			err := c.begins(ctx, outcomes, i, begun)
			stopped = cmp.Or(stopped, err)
			return err
		},
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if stopped != nil {
		return stopped
	}
	if _, ok := errors.AsType[*workspace.DamagedError](err); ok {
		return cmp.Or(c.renew(ctx, yes.trees), err)
	}
	if err := cmp.Or(err, c.holds(ctx)); err != nil { // who continues detects what was pushed, and reports it
		return err
	}
	outcomes[i] = done[0]
	return c.flow.jobs.SaveFinalized(ctx, j.ID, c.holder(), outcomes, audited(done, yes.review)...)
}

// renew removes a damaged workspace if there is a copy of the change, with which the next attempt begins.
func (c *Change) renew(ctx context.Context, captured workspace.Trees) error {
	snapshot, err := c.copyOf(ctx, captured)
	if err != nil || snapshot == nil {
		return err
	}
	c.flow.log.Warn("damaged workspace removed: it is made again", "requestId", c.job.ID, "turn", c.job.Turn)
	return c.workspace.Remove()
}

// begins records what has happened to a repository so far, and that its remote may have changed, before it
// does: if the server dies or the job ends before the outcome is recorded, nothing counts as published
// there.
func (c *Change) begins(ctx context.Context, outcomes []job.Finalized, i int, begun job.Finalized) error {
	begun.Error = "It was interrupted."
	if !reflect.DeepEqual(outcomes[i], begun) {
		outcomes[i] = begun
		if err := c.flow.jobs.SaveFinalized(ctx, c.job.ID, c.holder(), outcomes); err != nil {
			return err
		}
	}
	return c.holds(ctx)
}

// audited returns the audit log's entries about published repositories. review has approved them.
func audited(list []job.Finalized, review job.CheckpointID) []job.AuditEntry {
	entries := make([]job.AuditEntry, len(list))
	for i, f := range list {
		outcome, detail := lifecycle.RunSucceeded, cmp.Or(f.URL, strings.TrimSpace(f.Branch+" "+f.Commit))
		switch {
		case f.Unchanged:
			detail = "nothing had changed"
		case f.Error != "":
			outcome, detail = lifecycle.RunFailed, f.Error
		}
		entries[i] = job.AuditEntry{
			Event: "finished", Outcome: string(outcome), Detail: f.Repository + ": " + detail, CheckpointID: review,
			Operation: job.Operation{Action: "finalize"},
		}
	}
	return entries
}

// notPublished asks for approval again if a person approved the change; otherwise it ends
// the job.
func (c *Change) notPublished(ctx context.Context, trees workspace.Trees, failed string) error {
	c.flow.log.Warn("publication failed", "requestId", c.job.ID, "error", failed)
	if !c.Review {
		ctx, cancel := detached(ctx)
		defer cancel()
		return c.flow.jobs.End(ctx, c.job.ID, job.Failed, job.CodeFinalize, "The change could not be published: "+failed, c.holder())
	}
	steering, err := c.flow.store.Changes.Steering(ctx, c.job.ID, c.MaxIterations)
	if err != nil {
		return err
	}
	return c.askForReview(ctx, steering, trees, notPublishedText(c.job.Turn, failed), failed)
}

// receive makes the result final, with the outcome for each repository.
func (c *Change) receive(ctx context.Context, j job.Job, all []job.Finalized) error {
	var result map[string]any
	if err := job.UnmarshalExact(j.Result, &result); err != nil {
		return err
	}
	result["finalized"] = all
	text := job.MustJSON(result)
	message := job.Text(job.FromAssistant, resultMessage(all))
	message.MessageType, message.UserID, message.SessionID = job.ResultMessage, j.UserID, j.SessionID
	ctx, cancel := detached(ctx)
	defer cancel()
	outcome, err := c.flow.jobs.Accept(
		ctx, j.ID,
		lifecycle.Submission{Digest: job.Digest(text), Result: text, Message: &message, Final: true, Holder: c.holder()},
	)
	if err == nil && !outcome.OK() {
		return fmt.Errorf("storing the result: %s", outcome)
	}
	return err
}
