// Package doctor looks for what is stored and does not fit the records of jobs: a place
// that nobody holds any more, a list that misses a job, a job that nothing will move on.
// No rule leaves such a thing behind; a store that lost a part of itself does, and so does
// whoever writes to it by hand. A server examines its store when it starts and every
// quarter of an hour, and mends what it finds.
package doctor

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

// Doctor examines a store.
type Doctor struct {
	store *store.Store
	jobs  *lifecycle.Service
	log   *slog.Logger
}

// New returns a doctor for a store.
func New(s *store.Store, jobs *lifecycle.Service, log *slog.Logger) *Doctor {
	return &Doctor{store: s, jobs: jobs, log: log}
}

// Examine inspects the whole store while servers are running; if mend is set, it repairs what it
// finds. Error: Unavailable.
func (d *Doctor) Examine(ctx context.Context, mend bool) (job.Examination, error) {
	report := job.Examination{Findings: []job.Finding{}}
	counts, err := d.store.Tasks.NoticeCounts(ctx)
	if err == nil {
		report.OldestQuestion, err = d.store.Checkpoints.OldestOpen(ctx)
	}
	if err != nil {
		return report, err
	}
	report.Notifications = slices.DeleteFunc(counts, func(c job.NotificationCount) bool { return c.Waiting+c.GivenUp == 0 })
	err = d.store.Inspect(ctx, d.jobs, mend, report.Add)
	return report, err
}

// interval is the time between examinations of one store, by whatever node.
const interval = 15 * time.Minute

// Run examines the store now and then, and mends it, until ctx ends. Of several nodes one
// does.
func (d *Doctor) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		mine, err := d.store.Claim(ctx, "examination", interval)
		if err == nil && mine {
			d.examine(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *Doctor) examine(ctx context.Context) {
	d.migrate(ctx)
	report, err := d.Examine(ctx, true)
	for _, f := range report.Findings {
		d.log.Warn("store repaired", "problem", f.Problem, "key", f.Key, "member", f.Member, "requestId", f.RequestID)
	}
	if err != nil && ctx.Err() == nil {
		d.log.Warn("store check failed", "error", err)
	}
}
