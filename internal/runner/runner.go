package runner

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ringback/internal/checkpoint"
	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/process"
	"ringback/internal/store"
)

// Options say how turns are run. Zero values take the defaults.
type Options struct {
	// ClaudeBin is the CLI and ClaudeArgs what is added to its command line.
	ClaudeBin  string
	ClaudeArgs []string
	// Simulator is this very program, which stands in for the CLI in jobs that are
	// simulated; Simulate makes all be that this node takes.
	Simulator string
	Simulate  bool
	// CallbackBaseURL is where the CLI reaches this server.
	CallbackBaseURL string
	// Hold is how long a call that asks the user waits for the reply.
	Hold time.Duration
	// Structured takes results from the CLI's structured output instead of
	// callbacks.
	Structured bool
	// Environ is the server's environment, of which the CLI sees an allowlist.
	Environ []string
	// Dir is where processes keep their files.
	Dir string
	// Workers is how many processes run at once on this node.
	Workers int
	// Drain makes a stopping node wait for its turns instead of leaving them to
	// the next start.
	Drain bool
	// Linger is how long a process may finish by itself once its result was
	// accepted; default 5 s.
	Linger time.Duration
	// Grace is how long a process has between SIGTERM and SIGKILL; default 3 s.
	Grace time.Duration
	// OutputLimit is how many bytes a turn may print; default 64 MiB.
	OutputLimit int64
	// Heartbeat is how often the node tells that it lives; default 5 s.
	Heartbeat time.Duration
	// Backoff is the delay before the second attempt, doubled for each further
	// one; default 2 s.
	Backoff time.Duration
}

func (o Options) withDefaults() Options {
	if o.Linger == 0 {
		o.Linger = 5 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 3 * time.Second
	}
	if o.OutputLimit == 0 {
		o.OutputLimit = 64 << 20
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 5 * time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 2 * time.Second
	}
	return o
}

// Runner runs the turns of one node.
type Runner struct {
	store       *store.Store
	kinds       *kind.Registry
	checkpoints *checkpoint.Service
	opts        Options
	log         *slog.Logger
	slot        *slot
	// secrets are the values that the CLI knows and nobody may read.
	secrets []string
	sweeper *process.Sweeper

	mu      sync.Mutex
	running map[job.ID]*turn
	turns   sync.WaitGroup
	// free holds one token per worker that has nothing to do.
	free chan struct{}
	// ready says which partitions may have a job waiting.
	ready *readiness
	// suspects are turns that the store says are ours and we did not know when
	// last looking.
	suspects map[store.Held]bool
	stopping atomic.Bool
	// due is nudged when a deadline may have come closer.
	due chan struct{}
}

// New returns a runner that keeps its files under opts.Dir. It fails when the
// directory cannot be used.
func New(s *store.Store, kinds *kind.Registry, people *checkpoint.Service, opts Options, log *slog.Logger) (*Runner, error) {
	opts = opts.withDefaults()
	own, err := takeSlot(opts.Dir)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		store: s, kinds: kinds, checkpoints: people, opts: opts, log: log.With("node", own.node), slot: own,
		running: map[job.ID]*turn{}, free: make(chan struct{}, opts.Workers), ready: newReadiness(),
		due: make(chan struct{}, 1), secrets: secretsIn(claude.Environ(opts.Environ, 0)),
	}
	r.sweeper = process.NewSweeper(r.log)
	for range opts.Workers {
		r.free <- struct{}{}
	}
	return r, nil
}

// Node is the name under which the store knows this node.
func (r *Runner) Node() string { return r.slot.node }

// Running counts the processes of this node.
func (r *Runner) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// Run works until ctx ends. Then it takes no more jobs and returns once its
// processes have been handed over, or, when draining, have ended or drain ends.
func (r *Runner) Run(ctx, drain context.Context) {
	defer r.slot.release()
	r.reconcile(ctx, true)
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){r.dispatch, r.fireDeadlines, r.keepAlive, r.sweeper.Run} {
		loops.Go(func() { loop(ctx) })
	}
	<-ctx.Done()
	r.stopping.Store(true)
	loops.Wait()
	if r.opts.Drain {
		r.drain(drain)
	}
	r.each(func(t *turn) { t.leave() })
	r.turns.Wait()
	r.sweeper.Sweep()
}

// drain waits for the running turns until ctx ends.
func (r *Runner) drain(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		r.turns.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Event ends the process of a job that has ended, on whatever node that
// happened.
func (r *Runner) Event(e store.Published) {
	switch e.Happening {
	case job.OnReceived:
		r.over(e.RequestID, job.Received)
	case job.OnError:
		r.over(e.RequestID, job.Failed)
	case job.OnCancelled:
		r.over(e.RequestID, job.Cancelled)
	case job.OnRejected:
		r.over(e.RequestID, job.Rejected)
	case job.OnPending:
		// Claude was told to stop, and the reply has come: its process is in the way.
		r.mu.Lock()
		t := r.running[e.RequestID]
		r.mu.Unlock()
		if t != nil {
			go t.check()
		}
	case job.OnRunning, job.OnActivity, job.OnPartial, job.OnMessage, job.OnCheckpoint, job.OnResolved:
	}
}

// Wake looks for work in a partition.
func (r *Runner) Wake(p store.Partition) { r.ready.add(p) }

// Reset looks for work everywhere, and for jobs that ended unseen.
func (r *Runner) Reset() {
	r.ready.addAll()
	r.each(func(t *turn) { t.check() })
}

func (r *Runner) over(id job.ID, state job.State) {
	r.mu.Lock()
	t := r.running[id]
	r.mu.Unlock()
	if t != nil {
		t.over(state)
	}
}

func (r *Runner) each(do func(*turn)) {
	r.mu.Lock()
	turns := make([]*turn, 0, len(r.running))
	for _, t := range r.running {
		turns = append(turns, t)
	}
	r.mu.Unlock()
	for _, t := range turns {
		do(t)
	}
}

// WorkDir is where a job's processes work; empty when that is not on this node.
func (r *Runner) WorkDir(id job.ID) string {
	dir := r.slot.workDir(id)
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}
