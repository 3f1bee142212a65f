package review

import (
	"context"
	"fmt"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/turn/workspace"
)

// Submission is the step of a change that Claude has submitted.
type Submission struct{ *Change }

// Submission returns the step that follows the end of Claude's process. If nothing was
// submitted, it does nothing.
func (c *Change) Submission() Submission { return Submission{c} }

// Run captures the change, runs the verifiers and asks for review, or publishes the change
// if it needs none.
func (s Submission) Run(ctx context.Context) error {
	return stepError(ctx, s.run(ctx), job.CodeWorkspace, "What was changed could not be read: ")
}

func (s Submission) run(ctx context.Context) error {
	j, err := s.flow.store.Get(ctx, s.job.ID)
	if err != nil || !j.Submitted || j.State != job.Running {
		return err
	}
	if j.Turn != s.job.Turn {
		return lifecycle.ErrSuperseded
	}
	steering, err := s.flow.store.Changes.Steering(ctx, j.ID, s.MaxIterations)
	if err != nil {
		return err
	}
	s.ShowPhase(ctx, job.Capturing)
	captured, onlyHere, err := s.captured(ctx, j, steering.CurrentIteration)
	if err != nil {
		return err
	}
	if captured.Logs, err = s.verify(ctx, captured.Trees); err != nil {
		return err
	}
	if err := s.flow.jobs.SaveChange(ctx, j.ID, s.holder(), captured.VerifiedParts()); err != nil {
		return err
	}
	if !s.Review {
		// If no other machine can have it, a part of it may be public there: Claude must not make another.
		if err := s.flow.jobs.KeepSubmission(ctx, j.ID, s.holder()); err != nil {
			return err
		}
		return s.publish(ctx, approved{trees: captured.Trees, at: j.CreatedAt})
	}
	message := summaryText(j.ID, captured)
	if onlyHere != "" {
		message += "\n\n" + onlyHereText(onlyHere)
	}
	return s.askForReview(ctx, steering, captured.Trees, message, "")
}

// captured returns the submitted change, without the verifiers' results: the one that is stored, or what
// is in the workspace, which is stored first. So the node of any later phase may be lost. If there is no
// copy for other machines, onlyHere is the reason, for people.
func (s Submission) captured(ctx context.Context, j job.Job, iteration int) (c store.Captured, onlyHere string, err error) {
	c = store.Captured{Iteration: iteration, Output: job.NewResultMessage(j.Result).Content, Logs: []job.VerifierOutput{}}
	if j.Captured {
		if c.Diff, c.Trees, err = s.flow.store.Changes.Capture(ctx, j.ID); err == nil {
			err = s.bring(ctx, "the change that was submitted")
		}
		return c, "", err
	}
	err = s.repeat(ctx, captureFor, "Reading a change", func() (err error) {
		c.Diff, c.Trees, err = s.workspace.Diff(ctx, 0)
		return err
	})
	if err != nil {
		return c, "", err
	}
	for i := range c.Diff {
		c.Diff[i].Iteration = iteration
		if c.Diff[i].Truncated {
			c.Diff[i].Hint = truncationHint(j.ID, c.Diff[i])
		}
	}
	if onlyHere, err = s.keep(ctx, c); err != nil {
		return c, "", err
	}
	return c, onlyHere, s.repeat(ctx, captureFor, "Noting a capture", func() error { return s.workspace.MarkReady(c.Trees, false) })
}

func (s Submission) verify(ctx context.Context, trees workspace.Trees) ([]job.VerifierOutput, error) {
	rules := workspace.VerifierRules{
		Network: s.Network, Tools: s.kind.Policy.ToolRules(), Trees: trees, AtOnce: s.VerifiersAtOnce,
		ReadyFunc: func() error {
			s.ShowPhase(ctx, job.Verifying)
			return s.holds(ctx)
		},
	}
	return s.workspace.Verify(ctx, process.OwnMarker(string(s.job.ID)), rules, s.Verifiers)
}

// askForReview parks the job until a person decides about the trees. If a steer arrived in the
// meantime, that is the decision. notPublished is why the change that was approved before was not
// published; empty if none was.
func (c *Change) askForReview(
	ctx context.Context, steering job.SteeringState, trees workspace.Trees, message, notPublished string,
) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	j, err := c.flow.store.Get(ctx, c.job.ID)
	if err != nil {
		return err
	}
	if public := job.PublishedWords(j.PublishedCommits); public != "" { // by an earlier approval
		message += "\n\n" + public
	}
	props := job.MustJSON(job.Props{Iteration: steering.CurrentIteration, MaxIterations: steering.MaxIterations, Trees: trees})
	outcome, _, err := c.flow.people.Ask(ctx, checkpoint.Request{
		RequestID: c.job.ID, Holder: c.holder(), UserID: c.job.UserID, SessionID: c.job.SessionID, Type: job.Review,
		Message: message, Props: props,
		ApprovalKey: fmt.Sprintf("change:%d", steering.CurrentIteration), AuditFields: job.Operation{Action: "finalize"},
		MaxIterations: steering.MaxIterations, NotPublished: notPublished,
	})
	switch {
	case err != nil:
		return err
	case outcome.OK(), outcome.Kind == lifecycle.Busy, outcome.State.Terminal():
		return nil
	}
	return fmt.Errorf("asking for review: %s", outcome)
}
