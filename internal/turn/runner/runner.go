package runner

import (
	"cmp"
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

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/turn/model"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
)

// Options configure how turns are run. Zero values mean the defaults.
type Options struct {
	// ClaudeBin is the CLI; ClaudeArgs are appended to its command line.
	ClaudeBin  string
	ClaudeArgs []string
	// FallbackModel is the Fallback of claude.Turn.
	FallbackModel string
	// Simulator is this program itself, which replaces the CLI in simulated jobs. If
	// Simulate is set, all jobs of this node are simulated.
	Simulator string
	Simulate  bool
	// CallbackBaseURL is the URL at which the CLI reaches this server if it is not in a sandbox.
	CallbackBaseURL string
	// Hold limits how long a call waits for the user's reply.
	Hold time.Duration
	// Structured takes results from the CLI's structured output instead of callbacks.
	Structured bool
	// Environ is the server's environment; the CLI sees an allowlist of it.
	Environ []string
	// Repositories are those that a request may name.
	Repositories outbound.Policy
	// ConversationLimit is the largest conversation, compressed, that is kept in the store
	// for other machines. If it is 0, none is kept.
	ConversationLimit limit.Bytes
	// ChangeLimit is the same for the changes of a job; 0 means workspace.DefaultSnapshotLimit.
	ChangeLimit limit.Bytes
	// MirrorsLimit limits the size of the mirrors of repositories in Dir; 0 means no limit.
	MirrorsLimit limit.Bytes
	// Sandbox confines the processes of a job; Doors are its ways out.
	Sandbox process.Sandbox
	Doors   door.Doors
	// Meter measures the usage of turns that the server proxies.
	Meter *model.Meter
	// Budgets are the daily budgets of each user and of all jobs.
	Budgets job.Spending
	// Dir is the data directory for the files of processes.
	Dir string
	// OwnStore is true if no other server can use the store.
	OwnStore bool
	// Workers is the number of concurrent processes on this node.
	Workers int
	// CheckFunc returns the reason why this node cannot run turns, or nil if it can.
	CheckFunc func() error
	// StoreRoomFunc returns why the store has no room for what only tells what turns do; nil if it has.
	StoreRoomFunc func() error
	// Drain makes a stopping node wait for its turns instead of leaving them to the next
	// start.
	Drain bool
	// Linger is the time for a process to finish by itself after its result was accepted;
	// default 5 s.
	Linger time.Duration
	// Exit is the time for a process to exit after the CLI has printed its result; default 15 s.
	Exit time.Duration
	// Grace is the time between SIGTERM and SIGKILL; default 3 s.
	Grace time.Duration
	// OutputLimit limits a turn's output, in bytes; default 64 MiB.
	OutputLimit int64
	// StartTimeout is the time for the CLI to print its first line; default 1 min.
	StartTimeout time.Duration
	// PrepareTimeout is the time for a turn's repositories to be made ready. Each git has a limit, too, but may not
	// end while a disk hangs. Default 2 h.
	PrepareTimeout time.Duration
	// Stop is the time that turns have to end, or to leave their process, when the server stops; default 30 s.
	Stop time.Duration
	// Heartbeat is the interval between the node's heartbeats; default 5 s.
	Heartbeat time.Duration
	// Backoff is the delay before the second attempt, doubled for each further one;
	// default 2 s.
	Backoff time.Duration
}

func (o Options) withDefaults() Options {
	o.Linger = cmp.Or(o.Linger, 5*time.Second)
	o.Exit = cmp.Or(o.Exit, 15*time.Second)
	o.Grace = cmp.Or(o.Grace, 3*time.Second)
	o.OutputLimit = cmp.Or(o.OutputLimit, outputLimit)
	o.StartTimeout = cmp.Or(o.StartTimeout, time.Minute)
	o.PrepareTimeout = cmp.Or(o.PrepareTimeout, lifecycle.ServerTime)
	o.Stop = cmp.Or(o.Stop, 30*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, 5*time.Second)
	o.Backoff = cmp.Or(o.Backoff, 2*time.Second)
	return o
}

// outputLimit is the default of Options.OutputLimit. A process is ended when its output is larger by a byte.
const outputLimit = 64 << 20

// Runner runs the turns of one node.
type Runner struct {
	store   *store.Store
	jobs    *lifecycle.Service
	opts    Options
	log     *slog.Logger
	nodeDir *nodeDir
	// self identifies this start of the server among those that had the node's name.
	self       string
	superseded chan error
	// secrets are the values of this server's variables that must not appear in a turn's
	// output: Claude knows some, and may find others.
	secrets process.Secrets
	sweeper *process.Sweeper
	// transport returns what calls the model's API for turns. Reading the certificate authorities
	// takes a sixth of the server's start, and without a proxied turn nobody needs them.
	transport func() *http.Transport
	review    *review.Workflow

	mu sync.Mutex
	// owned are the turns of this node that this start knows of.
	owned map[job.ID]*ownedTurn
	// booked are the latest turns that this start has booked, by job.
	booked *lru.Cache[job.ID, int]
	// left are jobs with a latest turn that did not start here: another node may take them first.
	left *lru.Cache[job.ID, bool]
	// turns are the goroutines that run them.
	turns sync.WaitGroup
	// free holds one token per idle worker.
	free chan struct{}
	// lent holds a token for each turn that has temporarily given its worker back.
	lent chan struct{}
	// queue decides which waiting job is next.
	queue *store.Turns
	// unknownTurns are the turns that the store assigned to this node at the last check
	// and that this start did not know.
	unknownTurns map[store.OwnedTurn]bool
	// strays are the markers of processes of earlier starts that sweepStrays has not decided about.
	strays map[string]bool
	// taking is held for reading from taking a queue entry until its turn has started.
	taking sync.RWMutex
	// doubtful is set if the store may have assigned turns to this node that it does not know of.
	doubtful atomic.Bool
	beats    beats
	// notStarted counts the turns that could not start.
	notStarted atomic.Int64
	// stalled counts the turns that were ended because they hung.
	stalled atomic.Int64
	// clocks tracks which partition has the next due deadline.
	clocks *store.Schedule
	// rateLimits are those of Claude's account.
	rateLimits *rateLimits
	uses       apiUses
	ability    ability
	cli        installedCLI
}

// lentPerWorker limits how many turns per worker may clone, verify or publish while others run.
const lentPerWorker = 4

// knownEnds is the size of booked and of left.
const knownEnds = 10000

// New returns a runner that keeps its files under opts.Dir. It fails if the directory
// cannot be used.
func New(s *store.Store, jobs *lifecycle.Service, people *checkpoint.Service, opts Options, log *slog.Logger) (*Runner, error) {
	opts = opts.withDefaults()
	own, err := lockNodeDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		store: s, jobs: jobs, opts: opts, log: log.With("node", own.node), nodeDir: own,
		owned: map[job.ID]*ownedTurn{}, free: make(chan struct{}, opts.Workers),
		lent: make(chan struct{}, lentPerWorker*opts.Workers), queue: store.NewTurns(),
		clocks: store.NewSchedule(), secrets: process.SecretsOf(opts.Environ),
		transport:  sync.OnceValue(func() *http.Transport { return model.NewTransport(opts.Environ) }),
		beats:      beats{nodeTimeout: 6 * opts.Heartbeat},
		rateLimits: newRateLimits(opts), booked: newCache[job.ID, int](knownEnds), left: newCache[job.ID, bool](knownEnds),
		ability: ability{checkFunc: opts.CheckFunc, trialTime: opts.StartTimeout / 2, simulates: opts.Simulate, log: log},
		cli:     installedCLI{bin: opts.ClaudeBin, environ: opts.Environ, log: log},
		self:    process.OwnMarker(own.node), superseded: make(chan error, 1),
	}
	r.ability.trialFunc = r.startOnTrial
	r.sweeper = process.NewSweeper(r.log)
	r.review = review.New(s, jobs, people, r.workspaces(), own.node, r.log)
	for range opts.Workers {
		r.free <- struct{}{}
	}
	return r, nil
}

func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](size)
	if err != nil {
		panic("runner: " + err.Error()) // sizes are constants
	}
	return cache
}

// Node returns this node's name in the store.
func (r *Runner) Node() string { return r.nodeDir.node }

// Running returns the number of this node's turns.
func (r *Runner) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.owned)
}

// Workers returns how many turns this node runs at once.
func (r *Runner) Workers() int { return r.opts.Workers }

// Busy returns the number of workers that have a turn.
func (r *Runner) Busy() int { return max(0, r.Running()-len(r.lent)) }

// NotStarted returns the number of turns that could not start here.
func (r *Runner) NotStarted() int { return int(r.notStarted.Load()) }

// Stalled returns the number of turns that were ended here because they hung.
func (r *Runner) Stalled() int { return int(r.stalled.Load()) }

// Heartbeat returns when the last heartbeat that has reached the store was sent; zero before
// the first.
func (r *Runner) Heartbeat() time.Time { return r.beats.latest() }

// Run works until ctx ends. Then it takes no more jobs. If Drain is set, it waits for
// its turns until they or drain end. It leaves the remaining ones to the next start,
// and returns.
func (r *Runner) Run(ctx, drain context.Context) {
	defer r.nodeDir.release()
	// Turns, and what they need, continue while no new ones are taken.
	serving, handOver := context.WithCancelCause(context.WithoutCancel(ctx))
	defer handOver(nil)
	r.findStrays()
	r.beat(serving) // heartbeat before taking work; otherwise no other node would reclaim it if this one dies
	r.reconcileTurns(ctx, serving, true)
	var taking, keeping sync.WaitGroup
	taking.Go(func() { r.dispatch(ctx, serving) })
	taking.Go(func() { r.reconcile(ctx, serving) })
	keeping.Go(func() { r.keepAlive(serving) })
	keeping.Go(func() { // whichever node has set a deadline: every node is notified of the earliest one
		r.clocks.Run(serving, func(ctx context.Context, p store.Partition) (time.Duration, error) {
			return r.store.Deadlines.FireDue(ctx, p, r.jobs)
		})
	})
	keeping.Go(func() { r.sweeper.Run(serving) })
	if !r.opts.Simulate {
		keeping.Go(func() { r.cli.version(serving) }) // so that no turn has to wait for it
	}
	<-ctx.Done()
	taking.Wait()
	if r.opts.Drain {
		await(drain, &r.turns)
	}
	handOver(errShutdown)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Stop)
	defer cancel()
	await(stop, &r.turns, &keeping) // one may hang, with its disk
	r.farewell()
	r.sweeper.Sweep()
}

// await waits for groups until ctx ends.
func await(ctx context.Context, groups ...*sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		for _, g := range groups {
			g.Wait()
		}
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Event notifies a turn of this node of a change to its job, which may have happened on
// any node.
func (r *Runner) Event(e store.EventEnvelope) {
	switch e.Type {
	case job.EventReceived:
		r.jobEnded(e.RequestID, errDelivered)
	case job.EventError, job.EventCancelled:
		r.jobEnded(e.RequestID, errJobEnded)
	case job.EventRejected:
		r.jobEnded(e.RequestID, errJobEnded)
		go r.rejected(e.RequestID)
	case job.EventPending: // the question was answered, and the next turn waits for the process that asked
		if t := r.ownedTurnOf(e.RequestID); t != nil {
			go t.check()
		}
	case job.EventRunning: // another phase: Claude may have submitted its change; or the turn was interrupted
		if t := r.ownedTurnOf(e.RequestID); t != nil && t.step == nil {
			go t.check()
		}
	default:
	}
}

// Queued notes that a job was queued.
func (r *Runner) Queued(q store.Queued) { r.queue.Queued(q) }

// Resubscribed checks all partitions for work, and all turns for a missed end of their job.
func (r *Runner) Resubscribed() {
	r.queue.LookAll()
	r.clocks.All()
	r.doubtful.Store(true)
	go r.checkAll() // the caller delivers all events and must not block
}

func (r *Runner) checkAll() {
	r.mu.Lock()
	turns := slices.Collect(maps.Values(r.owned))
	r.mu.Unlock()
	for _, t := range turns {
		t.check()
	}
}

func (r *Runner) workspaces() workspace.Root {
	return workspace.Root{
		Dir: r.opts.Dir, Environ: r.opts.Environ, SnapshotLimit: r.opts.ChangeLimit, Sandbox: r.opts.Sandbox,
		Doors: r.opts.Doors, Requests: r.opts.Repositories,
	}
}

// WorkDir returns the working directory of a job's processes; empty if it is not on this node.
func (r *Runner) WorkDir(id job.ID) string {
	dir := r.nodeDir.workDir(id)
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// MakeWorkDir makes the working directory of a job on this node.
func (r *Runner) MakeWorkDir(id job.ID) (string, error) {
	dir := r.nodeDir.workDir(id)
	return dir, os.MkdirAll(dir, 0o700)
}

// Clock checks a partition for due deadlines.
func (r *Runner) Clock(p store.Partition) { r.clocks.Now(p) }
