package callback

import (
	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// late returns the error for a known request that is over, with the reason why nothing
// more can be submitted, in the same words as about an unknown one.
func (in *call) late(state job.State) error {
	reason := map[job.State]string{
		job.Expired:   "The job's deadline has passed.",
		job.Cancelled: "The job was cancelled.",
		job.Rejected:  "A person rejected the job's result.",
		job.Failed:    "The job has failed.",
		job.Received:  "The job's result was already accepted.",
	}[state]
	return job.Errorf(job.NotFound, "%s", in.unknown).
		WithHint("%s Nothing more can be submitted for it: stop now.", reason)
}

// errBusy refuses a question while another one waits.
var errBusy = job.Errorf(job.Conflict, "Another question of yours still waits for its answer").
	WithHint("Wait for that answer first; ask one question at a time.")

// outcomeError returns err, or why the outcome of a callback is not accepted; nil if it is.
func (in *call) outcomeError(o lifecycle.Outcome, err error) error {
	if err != nil || o.OK() {
		return err
	}
	return in.refused(o)
}

// refused turns the outcome of a callback that was not accepted into an error.
func (in *call) refused(o lifecycle.Outcome) error {
	switch o.Kind {
	case lifecycle.Unknown:
		return job.Errorf(job.NotFound, "%s", in.unknown)
	case lifecycle.Conflict:
		return job.Errorf(job.Conflict, "A different result was already accepted").
			WithHint("The first result counts. Do not submit again: your task is complete.")
	case lifecycle.Busy:
		return errBusy
	case lifecycle.Stale:
		return job.Errorf(job.Unavailable, "Other batches arrived at the same moment").WithHint("Send this batch again.")
	case lifecycle.Refused:
		switch {
		case o.State.Terminal():
			return in.late(o.State)
		case o.State.Parked():
			return job.Errorf(job.Conflict, "The user was asked and has not answered yet").
				WithHint("Nothing can be submitted until then. Stop now: you will be called again with the reply.")
		case o.State == job.Pending:
			return job.Errorf(job.Conflict, "The job is not running").WithHint("Stop now: it will be started again.")
		}
	default:
	}
	return job.Errorf(job.Internal, "Unexpected outcome %s", o)
}

func tooFast() error {
	return job.Errorf(job.TooMany, "Too many callbacks").
		WithHint("Wait a second, then send it again.")
}
