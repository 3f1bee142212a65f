package runner

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"ringback/internal/checkpoint"
	"ringback/internal/door"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/limit"
	"ringback/internal/meter"
	"ringback/internal/outbound"
	"ringback/internal/process"
	"ringback/internal/review"
	"ringback/internal/store"
	"ringback/internal/upstream"
	"ringback/internal/workspace"
)

// Options say how turns are run. Zero values take the defaults.
type Options struct {
	// ClaudeBin is the CLI and ClaudeArgs what is added to its command line.
	ClaudeBin  string
	ClaudeArgs []string
	// FallbackModel is claude.Turn's Fallback.
	FallbackModel string
	// Simulator is this very program, which stands in for the CLI in jobs that are
	// simulated; Simulate makes all be that this node takes.
	Simulator string
	Simulate  bool
	// CallbackBaseURL is where the CLI reaches this server, if it is in no sandbox.
	CallbackBaseURL string
	// Hold is how long a call that asks the user waits for the reply.
	Hold time.Duration
	// Structured takes results from the CLI's structured output instead of
	// callbacks.
	Structured bool
	// Environ is the server's environment, of which the CLI sees an allowlist.
	Environ []string
	// Repositories says which ones a request may name.
	Repositories outbound.Policy
	// ConversationLimit is how large a conversation may be, compressed, to be kept in the
	// store for other machines; 0: none is.
	ConversationLimit limit.Bytes
	// ChangeLimit is the same for what a job has changed; 0: workspace.DefaultSnapshotLimit.
	ChangeLimit limit.Bytes
	// MirrorsLimit is how much the mirrors of repositories in Dir may take; 0: no limit.
	MirrorsLimit limit.Bytes
	// Sandbox confines what runs for a job, and Doors lead out of it.
	Sandbox process.Sandbox
	Doors   door.Doors
	// Meter counts what turns use whose requests the server passes on.
	Meter *meter.Meter
	// Budgets are those of a day, of each user and of all jobs.
	Budgets job.Spending
	// Dir is where processes keep their files.
	Dir string
	// Workers is how many processes run at once on this node.
	Workers int
	// CheckFunc says why this node cannot run turns; nil while it can. Default: it always can.
	CheckFunc func() error
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
	if o.CheckFunc == nil {
		o.CheckFunc = func() error { return nil }
	}
	return o
}

// Runner runs the turns of one node.
type Runner struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	nodeDir *nodeDir
	// secrets are the values of this server's variables that nobody may read in what a
	// turn prints: Claude knows some, and may come by others.
	secrets process.Secrets
	sweeper *process.Sweeper
	// transport calls the model's API for turns.
	transport http.RoundTripper
	review    *review.Workflow

	mu sync.Mutex
	// owned are the turns of this node that this start knows of.
	owned map[job.ID]*ownedTurn
	// booked are the latest turns whose end this start has booked, by their jobs.
	booked *lru.Cache[job.ID, int]
	// turns are the goroutines that run them.
	turns sync.WaitGroup
	// free holds one token per worker that has nothing to do.
	free chan struct{}
	// lent holds a token for each turn that has given its worker back for a while.
	lent chan struct{}
	// ready says which partitions may have a job waiting.
	ready *readiness
	// unknownTurns are those that the store said are ours, and we did not know, when
	// last looking.
	unknownTurns map[store.OwnedTurn]bool
	// taking is held for reading from taking a queue entry until its turn has started.
	taking sync.RWMutex
	// doubtful is whether the store may have given us what we do not know of.
	doubtful atomic.Bool
	beats    beats
	// notStarted counts the turns that could not start.
	notStarted atomic.Int64
	// stalled counts the turns that were ended because they hung.
	stalled atomic.Int64
	// clocks says where a deadline is due.
	clocks *store.Schedule
	// limits are those of Claude's account.
	limits  *limits
	meters  meters
	ability ability
	cli     installedCLI
}

// lentPerWorker limits how many turns per worker may clone, verify or publish while others run.
const lentPerWorker = 4

// knownEnds is of how many turns a node knows that it has booked their end.
const knownEnds = 10000

// New returns a runner that keeps its files under opts.Dir. It fails when the
// directory cannot be used.
func New(s *store.Store, jobs *lifecycle.Service, people *checkpoint.Service, opts Options, log *slog.Logger) (*Runner, error) {
	opts = opts.withDefaults()
	booked, err := lru.New[job.ID, int](knownEnds)
	if err != nil {
		return nil, err
	}
	own, err := takeNodeDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		store: s, jobs: jobs, opts: opts, log: log.With("node", own.node), nodeDir: own,
		owned: map[job.ID]*ownedTurn{}, free: make(chan struct{}, opts.Workers), lent: make(chan struct{}, lentPerWorker*opts.Workers), ready: newReadiness(),
		clocks: store.NewSchedule(), secrets: process.SecretsOf(opts.Environ), transport: upstream.NewTransport(opts.Environ),
		beats:  beats{nodeTimeout: 6 * opts.Heartbeat},
		limits: newLimits(opts), meters: meters{turn: map[job.ID]*meter.Turn{}}, booked: booked, ability: ability{checkFunc: opts.CheckFunc, log: log},
		cli: installedCLI{bin: opts.ClaudeBin, environ: opts.Environ, log: log},
	}
	r.sweeper = process.NewSweeper(r.log)
	r.review = review.New(s, jobs, people, r.workspaces(), own.node, r.log)
	for range opts.Workers {
		r.free <- struct{}{}
	}
	return r, nil
}

// Node is the name under which the store knows this node.
func (r *Runner) Node() string { return r.nodeDir.node }

// Running counts the turns of this node.
func (r *Runner) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.owned)
}

// Workers is how many turns this node runs at once.
func (r *Runner) Workers() int { return r.opts.Workers }

// Busy counts the workers that have a turn.
func (r *Runner) Busy() int { return max(0, r.Running()-len(r.lent)) }

// NotStarted counts the turns that could not start here.
func (r *Runner) NotStarted() int { return int(r.notStarted.Load()) }

// Stalled counts the turns that were ended here because they hung.
func (r *Runner) Stalled() int { return int(r.stalled.Load()) }

// Heartbeat is when the last sign of life was given that has reached the store; zero before the
// first.
func (r *Runner) Heartbeat() time.Time { return r.beats.latest() }

// Run works until ctx ends. Then it takes no more jobs, waits for its turns if it is
// to drain, until they or drain end, hands over those that are left, and returns.
func (r *Runner) Run(ctx, drain context.Context) {
	defer r.nodeDir.release()
	// Turns go on, and what they need, while no new ones are taken.
	serving, handOver := context.WithCancelCause(context.WithoutCancel(ctx))
	defer handOver(nil)
	r.beat(serving) // before it takes anything: what a node holds that never gave a sign of life, nobody misses
	r.reconcileTurns(ctx, serving, true)
	var taking, keeping sync.WaitGroup
	taking.Go(func() { r.dispatch(ctx, serving) })
	taking.Go(func() { r.reconcile(ctx, serving) })
	keeping.Go(func() { r.keepAlive(serving) })
	keeping.Go(func() { r.fireDeadlines(serving) })
	keeping.Go(func() { r.sweeper.Run(serving) })
	if !r.opts.Simulate {
		keeping.Go(func() { r.cli.version(serving) }) // so that no turn has to wait for it
	}
	<-ctx.Done()
	taking.Wait()
	if r.opts.Drain {
		r.drain(drain)
	}
	handOver(errShutdown)
	r.turns.Wait()
	keeping.Wait()
	r.farewell()
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

// Event tells a turn of this node what became of its job, on whatever node that
// happened.
func (r *Runner) Event(e store.EventEnvelope) {
	switch e.Type {
	case job.EventReceived:
		r.jobEnded(e.RequestID, errDelivered)
	case job.EventError, job.EventCancelled, job.EventRejected:
		r.jobEnded(e.RequestID, errJobEnded)
	case job.EventPending: // the reply has come to a question, and the process that asked is in the way
		if t := r.ownedTurnOf(e.RequestID); t != nil {
			go t.check()
		}
	case job.EventRunning: // another phase: Claude may have submitted its change; or it was interrupted
		if t := r.ownedTurnOf(e.RequestID); t != nil && t.step == nil {
			go t.check()
		}
	default:
	}
}

// Queued looks for work in a partition.
func (r *Runner) Queued(p store.Partition) { r.ready.add(p) }

// Resubscribed looks for work everywhere, and for jobs that ended unseen.
func (r *Runner) Resubscribed() {
	r.ready.addAll()
	r.clocks.All()
	r.doubtful.Store(true)
	go r.checkAll() // the caller is waited for by everyone's events
}

// checkAll compares all turns of this node with the store.
func (r *Runner) checkAll() {
	r.mu.Lock()
	turns := slices.Collect(maps.Values(r.owned))
	r.mu.Unlock()
	for _, t := range turns {
		t.check()
	}
}

// workspaces is where the jobs of this data directory have their repositories.
func (r *Runner) workspaces() workspace.Root {
	return workspace.Root{Dir: r.opts.Dir, Environ: r.opts.Environ, SnapshotLimit: r.opts.ChangeLimit, Sandbox: r.opts.Sandbox, Doors: r.opts.Doors, Requests: r.opts.Repositories}
}

// WorkDir is where a job's processes work; empty when that is not on this node.
func (r *Runner) WorkDir(id job.ID) string {
	dir := r.nodeDir.workDir(id)
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}
