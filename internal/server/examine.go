package server

import (
	"context"
	"log/slog"

	"ringback/internal/config"
	"ringback/internal/doctor"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// Examine looks for what does not fit the records of jobs in the store of a
// configuration, without a server; with mend it puts that right.
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
