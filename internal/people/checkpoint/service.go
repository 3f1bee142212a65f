package checkpoint

import (
	"cmp"
	"log/slog"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

// Options configure how people are asked.
type Options struct {
	// Hold is the time that a call waits for the reply.
	Hold time.Duration
	// Confidence is the confidence that Claude's interpretation of a reply needs, 0 to 1; default
	// 0.9.
	Confidence float64
	// ApprovalTimeout is the lifetime of an approval; default 1 h.
	ApprovalTimeout time.Duration
	Pages           job.Pages
}

// Service asks people questions and processes their replies.
type Service struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	waiters waiters
}

// New returns the service. If its Event method is subscribed to the store, calls that wait for a
// reply return at once, see store.Subscriber.
func New(s *store.Store, jobs *lifecycle.Service, opts Options, log *slog.Logger) *Service {
	opts.Confidence = cmp.Or(opts.Confidence, 0.9)
	opts.ApprovalTimeout = cmp.Or(opts.ApprovalTimeout, time.Hour)
	return &Service{store: s, jobs: jobs, opts: opts, log: log}
}
