package checkpoint

import (
	"log/slog"
	"time"

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
}

// Service asks people and takes their replies.
type Service struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	waiters waiters
}

// New returns the service. Calls that wait for a reply hear of it at once where its
// Event is subscribed to the store, see store.Subscriber.
func New(s *store.Store, jobs *lifecycle.Service, opts Options, log *slog.Logger) *Service {
	if opts.Confidence == 0 {
		opts.Confidence = 0.9
	}
	if opts.ApprovalTimeout == 0 {
		opts.ApprovalTimeout = time.Hour
	}
	return &Service{store: s, jobs: jobs, opts: opts, log: log}
}
