package runner

import (
	"context"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"ringback/internal/job"
)

// knownTokens is the number of remembered tokens per turn: a conversation repeats them in each
// request.
const knownTokens = 1000

// hearing returns a function that records the offers that appear in a turn's requests to the
// model, and are therefore delivered. It waits while the store is unavailable, so an offer is
// repeated only if it was never in a request.
func (r *Runner) hearing(j job.Job) func(context.Context, []string) error {
	known, err := lru.New[string, bool](knownTokens)
	if err != nil {
		panic("runner: " + err.Error()) // the size is a constant
	}
	return func(ctx context.Context, tokens []string) error {
		tokens = slices.DeleteFunc(tokens, known.Contains)
		if len(tokens) == 0 {
			return nil
		}
		if err := r.withStore(ctx, j.ID, func() error { return r.jobs.HearWords(ctx, j.ID, j.Turn, tokens) }); err != nil {
			return err
		}
		for _, token := range tokens {
			known.Add(token, true)
		}
		return nil
	}
}
