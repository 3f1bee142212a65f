package server

import (
	"context"
	"log/slog"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
)

// Examine searches the store of a configuration for inconsistent records of jobs,
// without a server. If mend is set, it repairs them.
func Examine(ctx context.Context, c config.Config, mend bool) (job.Examination, error) {
	quiet := slog.New(slog.DiscardHandler)
	store.LogClient(quiet)
	db, err := openStore(ctx, c, quiet)
	if err != nil {
		return job.Examination{}, err
	}
	defer db.close()
	s := store.New(db.client, store.Options{Retention: c.Retention, NodeTimeout: c.NodeTimeout}, quiet)
	if err := s.Prepare(ctx); err != nil {
		return job.Examination{}, err
	}
	jobs := lifecycle.New(s, nil, lifecycle.Options{UserLimit: c.UserLimit})
	return doctor.New(s, jobs, quiet).Examine(ctx, mend)
}
