package review

import (
	"context"
	"errors"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Step is the rest of a turn, which needs no process of Claude's: a Submission or a
// Publication.
type Step interface {
	// Run runs the step from its beginning. If ctx ends, it returns the cause, and if
	// another node has taken over the turn, lifecycle.ErrSuperseded; any other error is an
	// *Error. If the job is no longer running, it does nothing.
	Run(ctx context.Context) error
}

// Next returns the step that the job is at, according to its record and people's answers;
// nil if it is Claude's turn, as it always is without a change. The record decides whether the
// change is approved, and the answers contain what was approved.
func (c *Change) Next(answers []job.Checkpoint) Step {
	if c == nil || c.job.State != job.Running {
		return nil
	}
	if c.job.Approved {
		return Publication{c, approvedBy(answers, c.job)}
	}
	if c.job.Captured || c.job.Submitted && !c.workspace.IsGone() {
		return Submission{c}
	}
	return nil
}

// Error is the reason that a change could not be continued, for the job's record.
type Error struct {
	Code    job.Code
	Message string
	cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

func notReady(cause error) error {
	return &Error{job.CodeWorkspace, "The workspace could not be made ready: " + cause.Error(), cause}
}

// stepError returns the error of a step: what happened to its context or its turn, or an *Error.
func stepError(ctx context.Context, err error, code job.Code, what string) error {
	err = causeOr(ctx, err)
	if err == nil || ctx.Err() != nil || errors.Is(err, lifecycle.ErrSuperseded) {
		return err
	}
	return &Error{code, what + err.Error(), err}
}

// causeOr returns the cause of ctx if err is not nil and ctx has ended, else err.
func causeOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// detached returns a context for a call of the store that ends the turn, which cancels ctx
// before the call returns.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
