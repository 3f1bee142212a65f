package lifecycle

import (
	"cmp"
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/kind"
)

// newJobOf is what any job of a kind begins with, whoever asks for it: whatever the
// kind's policy and the job's options decide is decided here and nowhere else.
func (s *Service) newJobOf(k *kind.Kind, userID string, input json.RawMessage, options job.Options) NewJob {
	return NewJob{
		Kind: k.Name, UserID: userID, Input: input, Options: options,
		EventPrefix: k.Policy.Events, Priority: cmp.Or(options.Priority, k.Policy.Priority),
		CallbackTimeout: cmp.Or(k.Policy.Timeout, s.opts.CallbackTimeout), MaxAttempts: k.Policy.MaxAttempts,
		HasWorkspace: isCaptured(k, options),
	}
}

// isCaptured reports whether the results of a job are captured from its
// repositories and may be reviewed, steered and published. Where a person plays
// Claude there is no working directory, so the result is all there is. Create
// refuses such jobs; there are those that were made before their kind had a
// workspace, and their followers.
func isCaptured(k *kind.Kind, options job.Options) bool {
	return k.Policy.Workspace != nil && options.Simulate != job.SimulateManual
}

// Change returns how a job works on repositories; a Conflict where its kind does
// not.
func (s *Service) Change(j job.Job) (*job.Change, error) {
	if k, ok := s.kinds.Get(j.Kind); ok {
		if change, err := k.Change(j.Input); change != nil || err != nil {
			return change, err
		}
	}
	return nil, job.Errorf(job.Conflict, "Jobs of the kind %q work on no repositories", j.Kind).
		WithHint("Only kinds with workspace: have a diff, logs and steering.")
}
