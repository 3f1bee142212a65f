package review

import (
	"context"

	"ringback/internal/job"
)

// Step is what is left of a turn for which no process of Claude's is needed: a
// Submission or a Publication.
type Step interface {
	// Run does it, from its beginning. Where ctx ends, it returns the cause, and where
	// another node has the turn, lifecycle.ErrSuperseded; any other error is an *Error. Where the job is not running any more, there is nothing to do.
	Run(ctx context.Context) error
}

// Next is the step that the job is at by its record and by what people have answered;
// nil where it is Claude's turn, as it always is without a change.
func (c *Change) Next(answers []job.Checkpoint) Step {
	if c == nil || c.job.State != job.Running {
		return nil
	}
	if decision, _ := Decision(answers, c.job.ID); decision == job.Approve {
		return Publication{c}
	}
	if c.job.Submitted && c.workspace.Exists() {
		return Submission{c}
	}
	return nil
}

// Error says why a change could not be gone on with, for the job's record.
type Error struct {
	Code    job.Code
	Message string
	cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what it comes from.
func (e *Error) Unwrap() error { return e.cause }

func notReady(cause error) error {
	return &Error{job.CodeWorkspace, "The workspace could not be made ready: " + cause.Error(), cause}
}

// causeOr returns why ctx has ended; where it has not, err.
func causeOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// detached is for a call of the store that ends the turn, and with it ctx, before its
// answer is here.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
