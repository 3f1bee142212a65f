package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

// newJobOf returns the settings for any new job of a kind. Everything that the kind's policy and
// the job's options decide is decided only here.
func (s *Service) newJobOf(k *kind.Kind, userID string, input json.RawMessage, options job.Options) NewJob {
	return NewJob{
		Kind: k.Name, KindVersion: k.Version, Definition: k.Definition, Title: k.Title(input), UserID: userID, Input: input,
		Options:     options,
		EventPrefix: k.Policy.Events, Priority: cmp.Or(options.Priority, k.Policy.Priority),
		CallbackTimeout: cmp.Or(k.Policy.Timeout, s.opts.CallbackTimeout), MaxAttempts: k.Policy.MaxAttempts,
		HasWorkspace: k.Policy.Workspace != nil, BudgetUSD: cmp.Or(options.BudgetUSD, k.Policy.BudgetUSD),
	}
}

// Change returns the settings for a job's work on repositories, or a Conflict error if its kind has
// none.
func (s *Service) Change(ctx context.Context, j job.Job) (*job.Change, error) {
	k, err := s.KindOf(ctx, j)
	if err != nil {
		return nil, err
	}
	if change, err := k.Change(j.Input); change != nil || err != nil {
		return change, err
	}
	return nil, job.Errorf(job.Conflict, "Jobs of the kind %q work on no repositories", j.Kind).
		WithHint("Only kinds with workspace: have a diff, logs and steering.")
}
