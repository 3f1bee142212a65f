package action

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
)

// Options configure how actions run.
type Options struct {
	// Environ is the server's environment. A command gets only a small part of it, plus
	// what its env: requests by ${NAME}.
	Environ []string
	// Sandbox confines commands to the directory of their job, and Doors provide their
	// network access.
	Sandbox process.Sandbox
	Doors   door.Doors
	// DataDir is the directory in which the masks of forbidden files are prepared.
	DataDir string
	// Dir returns the working directory of a job; empty if there is none. here is false if its files are
	// on another node.
	Dir func(node string, id job.ID) (dir string, here bool)
	// MakeDirFunc makes the working directory of a job on this node; may be nil.
	MakeDirFunc func(id job.ID) (dir string, err error)
	// Self is the path of this program, which commands refer to as ringback.
	Self string
	// Call posts a body to a webhook and returns the response. id stays the same when a
	// call is retried. The error can be a callError.
	Call func(ctx context.Context, url, id string, body []byte) (answer []byte, err error)
}

// Service runs actions.
type Service struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	ctx     context.Context //nolint:containedctx // it bounds what outlives its request
	stop    func()
	running sync.WaitGroup
}

// New returns the service.
func New(s *store.Store, jobs *lifecycle.Service, opts Options, log *slog.Logger) *Service {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Service{store: s, jobs: jobs, opts: opts, log: log, ctx: ctx, stop: func() { stop(errStopped) }}
}

// Stop interrupts the running actions; their outcome is recorded as unknown.
func (s *Service) Stop() {
	s.stop()
	s.Wait()
}

// Wait returns when no action is running.
func (s *Service) Wait() { s.running.Wait() }

// Here reports whether the action can run on this node: a command runs where the job's files are.
func (s *Service) Here(r Run) bool {
	_, here := s.opts.Dir(r.Header.Node, r.RequestID)
	return here || !r.Action.RunsCommand()
}

// Run is one run of an action.
type Run struct {
	ID        lifecycle.RunID
	RequestID job.ID
	Header    store.JobHeader
	Kind      string
	// Dir is the directory of the kind's file, which the program's path is relative to;
	// empty for a built-in kind.
	Dir    string
	Action *kind.Action
	// Tools are the rules for Claude's calls. A sandboxed command cannot read what they
	// deny, unless the action grants it.
	Tools approval.ToolRules
	Input map[string]any
	// Preview is the approved preview, made again at PreviewedAt; nil for an action without
	// a preview.
	Preview     *job.Preview
	PreviewedAt time.Time
}

var (
	errJobEnded = errors.New("its job has ended")
	errStopped  = errors.New("the server stopped")
)

// Start runs an action in the background and records its outcome, even if the call that
// asked for it is gone by then.
func (s *Service) Start(r Run) {
	s.running.Go(func() {
		ctx, cancel := context.WithCancelCause(s.ctx)
		defer cancel(nil)
		ctx, expired := context.WithTimeoutCause(ctx, r.Action.Timeout, errTimeout)
		defer expired()
		go s.watch(ctx, r, cancel)
		state, result := s.perform(ctx, r)
		s.book(r, state, result)
	})
}

// errGivenUp is returned when the run has been recorded as unknown because its server was
// silent for too long.
var errGivenUp = errors.New("the run was given up")

// goodFor is the maximum age of the check, made before an action starts, that its run is
// still pending. It is shorter than the lease of a run, and enough for a slow store.
const goodFor = lifecycle.RunLease / 3

// mayBegin returns nil if the run is still pending and its job has not ended, as of at most
// goodFor ago. If the server was suspended during the check, it checks again.
func (s *Service) mayBegin(ctx context.Context, r Run) error {
	for {
		begin := time.Now()
		known, err := s.store.Calls.ActionRun(ctx, r.RequestID, r.ID)
		var ofJob job.State
		if err == nil {
			ofJob, err = s.store.Calls.RenewRunLease(ctx, r.RequestID, r.ID)
		}
		switch {
		case err == nil && known.State != lifecycle.RunRunning:
			return errGivenUp
		case err == nil && (ofJob.Terminal() || ofJob == ""): // a deleted job has no state
			return errJobEnded
		case err == nil && lifecycle.Elapsed(begin) < goodFor:
			return nil
		}
		select { // while the store is unavailable, the run's lease expires
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lifecycle.RunHeartbeat / 20):
		}
	}
}

// watch renews the run's lease, and cancels the run when its job ends or the run was given
// up.
func (s *Service) watch(ctx context.Context, r Run, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(lifecycle.RunHeartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		state, err := s.store.Calls.RenewRunLease(ctx, r.RequestID, r.ID)
		if err == nil && state.Terminal() {
			cancel(errJobEnded)
			return
		}
		if known, err := s.store.Calls.ActionRun(ctx, r.RequestID, r.ID); err == nil && known.State != lifecycle.RunRunning {
			cancel(errGivenUp)
			return
		}
	}
}

// book stores the outcome of a run and retries while the store is unavailable. A run that was
// given up before stays unknown.
func (s *Service) book(r Run, state lifecycle.RunState, result []byte) {
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, 5*time.Second) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 5*time.Second)
		err := s.jobs.FinishAction(ctx, r.RequestID, r.ID, state, result)
		cancel()
		if err == nil {
			return
		}
		s.log.Error("could not record the end of an action", "requestId", r.RequestID, "run", r.ID, "error", err)
		select {
		case <-s.ctx.Done():
			return // its lease expires, and it is recorded as unknown
		case <-time.After(delay):
		}
	}
}

// Await returns a run once it has ended, or its current state after atMost.
func (s *Service) Await(ctx context.Context, id job.ID, run lifecycle.RunID, atMost time.Duration) (store.ActionRun, error) {
	const look = 50 * time.Millisecond
	end := time.Now().Add(atMost)
	for delay := look; ; delay = min(2*delay, time.Second) {
		r, err := s.store.Calls.ActionRun(ctx, id, run)
		if err != nil || r.State != lifecycle.RunRunning || time.Now().After(end) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(delay):
		}
	}
}
