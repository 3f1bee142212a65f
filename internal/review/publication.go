package review

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/process"
	"ringback/internal/store"
	"ringback/internal/workspace"
)

// Publication is the step of a change that a person has approved. It is a turn without a
// process: Claude is not involved.
type Publication struct{ *Change }

// Run ensures that the approved trees are on this machine, and publishes them.
func (p Publication) Run(ctx context.Context) error {
	p.flow.log.Info("publishing an approved change", "requestId", p.job.ID, "turn", p.job.Turn)
	return stepError(ctx, p.run(ctx), job.CodeFinalize, "The change could not be published: ")
}

func (p Publication) run(ctx context.Context) error {
	err := p.makeReady(ctx)
	if err == nil && p.Lost { // nothing else may be published
		err = errors.New("what was approved is on another machine, and no copy of it could be stored; the question for its review " +
			"names the server and the reason: start that server again and retry the job while no other takes jobs, or have the change made " +
			"again, with a higher CHANGE_LIMIT if it was too large")
	}
	if err != nil {
		return notReady(err)
	}
	if err := p.flow.jobs.ExtendTurn(ctx, p.job.ID, p.holder(), lifecycle.ServerTime); err != nil {
		return err
	}
	return p.publish(ctx)
}

// publish commits and pushes the captured trees, and runs the finalizers. Failures are
// reported, and retried after the next approval.
func (c *Change) publish(ctx context.Context) error {
	j, err := c.flow.store.Get(ctx, c.job.ID)
	if err != nil || j.State != job.Running {
		return err
	}
	c.ShowPhase(ctx, job.Publishing)
	done, err := c.flow.store.Finalized(ctx, j.ID)
	if err != nil {
		return err
	}
	trees, err := c.flow.store.Trees(ctx, j.ID)
	if err != nil {
		return err
	}
	decided, err := c.decidedAt(ctx, j)
	if err != nil {
		return err
	}
	done = slices.DeleteFunc(done, func(f job.Finalized) bool { return f.Error != "" })
	var stopped error // an error of the store, which is not a repository's fault
	mayDo := func(ctx context.Context) error {
		err := c.holds(ctx)
		stopped = cmp.Or(stopped, err)
		return err
	}
	for _, repository := range c.Repositories { // recorded one by one: a restart continues with the next
		if slices.ContainsFunc(done, func(f job.Finalized) bool { return f.Repository == repository.Name }) {
			continue
		}
		one := c.flow.root.Of(string(j.ID), []job.Repository{repository}).Publish(ctx, workspace.PublishOptions{
			RequestID: string(j.ID), Trees: trees, Message: commitMessage(j), Time: decided, Commands: c.Finalize,
			Limits: c.Limits, PullRequest: c.PullRequest,
			Marker: process.OwnMarker(string(j.ID)), Report: func(text string) { c.reportProgress(ctx, text) }, MayFunc: mayDo,
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if stopped != nil {
			return stopped
		}
		if err := c.holds(ctx); err != nil { // the other node detects what was pushed, and reports it
			return err
		}
		done = append(done, one...)
		if err := c.flow.jobs.SaveChange(ctx, j.ID, c.holder(), store.FinalizedParts(done), audited(one)...); err != nil {
			return err
		}
	}
	if failed := failures(done); failed != "" {
		return c.notPublished(ctx, failed)
	}
	return c.receive(ctx, j, done)
}

// decidedAt returns when a person first approved the current change, or when the job was
// created if no review is needed. It is the same on every machine and on every retry.
func (c *Change) decidedAt(ctx context.Context, j job.Job) (time.Time, error) {
	answers, err := c.flow.store.Answers(ctx, j.ID)
	if err != nil {
		return time.Time{}, err
	}
	at := j.CreatedAt
	for _, answer := range slices.Backward(answers) {
		if answer.RequestID != j.ID || answer.Type != job.Review || answer.Reply == nil {
			continue
		}
		if answer.Reply.Decision != job.Approve {
			break // of an earlier round
		}
		at = answer.AnsweredAt
	}
	return at, nil
}

// audited returns the audit log's entries about published repositories.
func audited(list []job.Finalized) []job.AuditEntry {
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
			Event: "finished", Outcome: string(outcome), Detail: f.Repository + ": " + detail,
			Operation: job.Operation{Action: "finalize"},
		}
	}
	return entries
}

// notPublished asks for approval again if a person approved the change; otherwise it ends
// the job.
func (c *Change) notPublished(ctx context.Context, failed string) error {
	c.flow.log.Warn("a change could not be published", "requestId", c.job.ID, "error", failed)
	if !c.Review {
		ctx, cancel := detached(ctx)
		defer cancel()
		return c.flow.jobs.End(ctx, c.job.ID, job.Failed, job.CodeFinalize, "The change could not be published: "+failed, c.holder())
	}
	steering, err := c.flow.store.Steering(ctx, c.job.ID, c.MaxIterations)
	if err != nil {
		return err
	}
	return c.askForReview(ctx, steering, notPublishedText(c.job.Turn, failed))
}

// receive makes the result final, with the outcome for each repository.
func (c *Change) receive(ctx context.Context, j job.Job, all []job.Finalized) error {
	var result map[string]any
	if err := json.Unmarshal(j.Result, &result); err != nil {
		return err
	}
	result["finalized"] = all
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
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
