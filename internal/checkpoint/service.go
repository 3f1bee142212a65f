package checkpoint

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// Options say how people are asked.
type Options struct {
	// Hold is how long a call that asks waits for the reply; default 45 s.
	Hold time.Duration
	// Confidence is how sure Claude must be of what a reply means, 0 to 1;
	// default 0.9.
	Confidence float64
	// ApprovalTimeout is how long an approval may be used; default 1 h.
	ApprovalTimeout time.Duration
	// Resume tells whoever asked from outside what the reply is; nil: nobody.
	Resume ResumeFunc
	// Tell tells the outside of a job, by a webhook or in Slack; nil: nobody. id is
	// the same each time one thing is told. j has ended, or asks c.
	Tell func(ctx context.Context, way store.TaskKind, id string, j job.Job, c *job.Checkpoint) error
	// Retry says whether, and after how long, a call of Resume that failed is made
	// again.
	Retry func(err error, attempt int) (time.Duration, bool)
}

// Service asks people and takes their replies.
type Service struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	waiters waiters
	// calls are tasks that call somebody else's server.
	calls sync.WaitGroup
	// nudge says that there may be tasks.
	nudge chan struct{}
}

// New returns the service. It hears of replies and of tasks once its Event and
// Wake are subscribed to the store, see store.Subscriber.
func New(s *store.Store, jobs *lifecycle.Service, opts Options, log *slog.Logger) *Service {
	if opts.Confidence == 0 {
		opts.Confidence = 0.9
	}
	if opts.ApprovalTimeout == 0 {
		opts.ApprovalTimeout = time.Hour
	}
	return &Service{store: s, jobs: jobs, opts: opts, log: log, nudge: make(chan struct{}, 1)}
}
