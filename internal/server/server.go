package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/job/price"
	"ringback/internal/outbound"
	"ringback/internal/people/checkpoint"
	"ringback/internal/people/notify"
	"ringback/internal/people/outbox"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
	"ringback/internal/server/metrics"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/store/redisd"
	"ringback/internal/turn/action"
	"ringback/internal/turn/artifact"
	"ringback/internal/turn/model"
	"ringback/internal/turn/runner"
	"ringback/internal/turn/workspace"
	"ringback/internal/web/apikey"
	"ringback/internal/web/guard"
	"ringback/internal/web/hub"
)

// Role determines the work of a node.
type Role string

// The roles.
const (
	All    Role = "all"
	API    Role = "api"    // HTTP and WebSocket, no turns
	Worker Role = "worker" // turns; its HTTP serves health, metrics and callbacks
)

// Options are the settings from the command line.
type Options struct {
	Config config.Config
	Role   Role
	// Keys are keys of back ends in addition to those of the configuration.
	Keys []apikey.Key
	// Drain makes a stopping node wait for its turns, at most DrainTimeout. /readyz
	// immediately reports the stop; after DrainGrace, the node also refuses new jobs.
	Drain                    bool
	DrainGrace, DrainTimeout time.Duration
	// TakeOver permits a start with an embedded store that is a copy or a restored backup.
	TakeOver bool
	// Version is the version in /healthz.
	Version string
	// Reload reloads the kinds with each value; nil: nothing does but the API.
	Reload <-chan os.Signal
	// Watch reloads the kinds whenever their files change.
	Watch bool
	// Started, if set, is called once the server listens.
	Started func(Running)
}

// Running describes a started server.
type Running struct {
	URL string
	// CallbackURL is the URL of the callbacks' own listener, if there is one.
	CallbackURL string
	Store       string
	Claude      string
	// Sandbox describes the confinement of jobs.
	Sandbox string
	// EnvFile is the .env file that was read; empty for none.
	EnvFile  string
	Warnings []string
	Kinds    []string
}

// KindSources returns the built-in kinds and those of the user.
func KindSources(c config.Config) []kind.Source {
	user := kind.Source{Dir: c.PromptsDir, PromptsName: c.PromptsDir, SchemasName: c.SchemasDir}
	if c.PromptsDir != "" {
		user.Prompts = os.DirFS(c.PromptsDir)
	}
	if c.SchemasDir != "" {
		user.Schemas = os.DirFS(c.SchemasDir)
	}
	return []kind.Source{kind.Builtin(), user}
}

// Serve runs a node until ctx ends, then stops it in order: no new work, running
// requests finish, turns are handed over or drained, connections close.
func Serve(ctx context.Context, o Options, log *slog.Logger) error {
	log = guard.ThinnedLog(log)
	store.LogClient(log)
	if err := process.Protect(); err != nil {
		return err
	}
	// The other variables that are needed are in the configuration.
	kept := process.Pick(o.Config.Environ, process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies)
	if err := config.ReduceEnvironment(kept); err != nil {
		return err
	}
	if o.Role != API {
		if err := o.Config.CheckClaude(); err != nil {
			return err
		}
	}
	kinds, problems := kind.Load(KindSources(o.Config)...)
	if err := schema.Join(problems); err != nil {
		return fmt.Errorf("the kinds have problems (ringback check shows more):\n%w", err)
	}
	keys, err := openKeys(o)
	if err != nil {
		return err
	}
	watcher, err := newWatcher(o)
	if err != nil {
		return err
	}
	if watcher != nil {
		defer func() { _ = watcher.Close() }()
	}
	if o.Role != API || o.Config.RedisURL == "" {
		if err := openDataDir(o, log); err != nil {
			return err
		}
	}
	listener, err := listen(ctx, "LISTEN_ADDR", o.Config.ListenAddr)
	if err != nil {
		return err
	}
	defer listener.Close()
	callbacks := listener
	if o.Config.OwnCallbackListener() {
		if callbacks, err = listen(ctx, "CALLBACK_LISTEN_ADDR", o.Config.CallbackListenAddr); err != nil {
			return err
		}
		defer callbacks.Close()
	}
	db, err := openStore(ctx, o.Config, log)
	if err != nil {
		return err
	}
	defer db.close()
	confined, err := findSandbox(ctx, o.Config)
	if err != nil {
		return err
	}
	n := &node{opts: o, log: log, listener: listener, callbacks: callbacks, db: db, keys: keys, sandbox: confined, watcher: watcher}
	return n.run(ctx, kinds)
}

// database is the store together with what runs it.
type database struct {
	client      redis.UniversalClient
	description string
	// subject is the prefix of messages about its setup; empty if there is nothing to check.
	subject  string
	warning  string
	stop     func()
	embedded *redisd.Embedded // nil for another store
}

// failed receives an error if an embedded store cannot be kept running; nil for another store.
func (d *database) failed() <-chan error {
	if d.embedded == nil {
		return nil
	}
	return d.embedded.Failed
}

func (d *database) close() {
	_ = d.client.Close()
	d.stop()
}

func openStore(ctx context.Context, c config.Config, log *slog.Logger) (*database, error) {
	if c.RedisURL != "" {
		client, err := store.Connect(c.RedisURL)
		if err != nil {
			return nil, err
		}
		return &database{
			client: client, description: "Redis at " + hostOf(c.RedisURL), subject: redisAt(c.RedisURL), stop: func() {},
		}, nil
	}
	space, err := freeSpace(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	embedded, err := redisd.StartEmbedded(ctx, redisd.Embedding{
		Dir: c.DataDir, WritableFunc: func() error { return checkDataDir(c.DataDir) },
		Reserve: int64(reserveOf(space.Total)), Log: log, //nolint:gosec // it is a few MiB
	})
	if err != nil {
		return nil, err
	}
	d := &database{
		client: embedded.Client, description: embedded.Description, stop: embedded.Close, embedded: embedded,
	}
	if embedded.Durable {
		d.subject = "the embedded Redis"
	} else {
		d.warning = "The store is in memory only: jobs are lost when the server stops."
	}
	return d, nil
}

// hostOf returns the address of a Redis without its password.
func hostOf(redisURL string) string {
	_, rest, _ := strings.Cut(redisURL, "://")
	host := rest[strings.LastIndexByte(rest, '@')+1:]
	host, _, _ = strings.Cut(host, "?")
	return host
}

// redisAt names an external Redis in messages about its setup.
func redisAt(redisURL string) string { return "REDIS_URL: the Redis at " + hostOf(redisURL) }

// node is a running server.
type node struct {
	opts Options
	log  *slog.Logger
	// refusals is the log for rejected requests.
	refusals *slog.Logger
	listener net.Listener
	// callbacks is the listener for callbacks: the same listener, or their own.
	callbacks net.Listener
	// doors serves the callbacks of jobs in sandboxes.
	doors served
	db    *database
	// isCopy is true if the embedded store is a copy that this start takes over.
	isCopy bool
	// keys are the keys of back ends; nil if there are none.
	keys    *apikey.Set
	sandbox sandbox
	reloads reloads
	// watcher watches the files of the kinds; nil if nothing does.
	watcher *fsnotify.Watcher
	// documents are those of the current kinds.
	documents documents

	store       *store.Store
	fitness     fitness
	disk        disk
	metrics     *metrics.Metrics
	connections *guard.Connections
	hub         *hub.Hub
	jobs        *lifecycle.Service
	checkpoints *checkpoint.Service
	outbox      *outbox.Outbox
	// actions runs actions for Claude.
	actions *action.Service
	runner  *runner.Runner
	claude  config.Claude
	// misspelt are warnings about misspelt settings.
	misspelt []string
	// stopping is set when the node stops, refusing when it accepts no more jobs.
	stopping, refusing atomic.Bool
}

func (n *node) run(ctx context.Context, kinds *kind.Registry) error {
	c := n.opts.Config
	n.store = store.New(n.db.client, store.Options{
		Retention: c.Retention, NodeTimeout: c.NodeTimeout, Wait: store.Wait{Replicas: c.RedisWait, Timeout: c.RedisWaitTimeout},
	}, n.log)
	if err := n.prepare(ctx); err != nil {
		return err
	}
	staying, stopStaying := context.WithCancel(context.WithoutCancel(ctx))
	unwanted, quit := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(quit)
		unwanted <- n.stay(staying)
	}()
	defer func() {
		stopStaying()
		<-quit
	}()
	n.connections, n.refusals = guard.NewConnections(budget(c)), guard.BoundedLog(n.log)
	n.hub = hub.New(
		n.store, hub.Options{Limits: webSocketLimits(c), Refused: func(limit string) { n.metrics.WebSocketRefused(limit) }},
		n.log,
	)
	trusted, guarded, err := newWebhooks(c)
	if err != nil {
		return err
	}
	n.metrics = n.newMetrics()
	n.jobs = lifecycle.New(n.store, kinds, lifecycle.Options{
		CallbackTimeout: c.CallbackTimeout, Retention: c.Retention, QueueTimeout: c.HumanTimeout, HumanTimeout: c.HumanTimeout,
		UserLimit: c.UserLimit, UserQuota: job.Quota{AtOnce: c.JobsPerUserAtOnce, PerDay: c.JobsPerUserPerDay},
		Budgets: budgetsOf(c), StateChangedFunc: n.stateChanged, ConcludedFunc: n.concluded,
		Notify: notified(c).Ways(), ComposeFunc: outbox.Compose(job.Pages(c.PublicURL)),
		Structured: !c.UseCallback, Repositories: n.repositories(),
		KindsDir: c.PromptsDir, NodeTimeout: c.NodeTimeout,
	})
	n.checkpoints = checkpoint.New(n.store, n.jobs, checkpoint.Options{
		Hold: c.Hold, Confidence: c.NLConfidence, ApprovalTimeout: c.ApprovalTimeout, Pages: job.Pages(c.PublicURL),
	}, n.log)
	n.outbox = outbox.New(n.store, outbox.Handlers{
		StartInterpretingFunc: n.checkpoints.StartInterpreting, FinishInterpretingFunc: n.checkpoints.FinishInterpreting,
		FollowFunc: n.jobs.Follow,
	}, outbox.Notifier{Addresses: notified(c), TrustedFunc: trusted.Notify, GuardedFunc: guarded.Notify}, n.log)
	if err := n.newActions(trusted); err != nil {
		return err
	}
	n.claude = c.FindClaude()
	n.misspelt, _ = misspeltSettings(c, kinds)
	if err := n.becomeNode(ctx); err != nil {
		return err
	}
	servers, err := n.servers()
	if err != nil {
		return err
	}
	return n.serve(ctx, servers, unwanted)
}

// storePatience limits the time for which a start waits for a Redis that is not available.
const storePatience = 15 * time.Second

// prepare waits for a Redis that is just starting.
func (n *node) prepare(ctx context.Context) (err error) {
	if n.isCopy, err = n.db.isCopy(ctx, n.opts); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	for {
		err := n.judgeStore(ctx)
		if err == nil {
			err = n.join(ctx)
		}
		if err == nil {
			err = n.store.Prepare(ctx)
		}
		if _, wrong := errors.AsType[unfit](err); err == nil || wrong || errors.Is(err, store.ErrFormat) {
			return err
		}
		n.log.Warn("waiting for the store", "store", n.db.description, "error", err)
		select {
		case <-ctx.Done():
			if full := checkDataDir(n.opts.Config.DataDir); n.db.embedded != nil && full != nil {
				err = full
			}
			return fmt.Errorf("the store (%s) does not answer: %w", n.db.description, err)
		case <-time.After(time.Second):
		}
	}
}

// becomeNode takes this node's name in the store, if it runs turns, and the place of an embedded store.
func (n *node) becomeNode(ctx context.Context) (err error) {
	if n.opts.Role != API {
		if n.runner, err = n.newRunner(); err != nil {
			return err
		}
		if err := n.hold(ctx); err != nil {
			return err
		}
	}
	return n.settle(ctx)
}

func (n *node) hold(ctx context.Context) error {
	for began := time.Now(); ; {
		err := n.runner.Hold(ctx)
		if err == nil || errors.Is(err, store.ErrHeld) || time.Since(began) > storePatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// notified returns the addresses for notifications about jobs.
func notified(c config.Config) outbox.Addresses {
	return outbox.Addresses{Webhook: c.WebhookURL, Slack: c.SlackURL}
}

// newWebhooks returns a client for addresses in the configuration and in kinds, and one
// for addresses that came with a request.
func newWebhooks(c config.Config) (trusted, guarded *notify.Webhook, err error) {
	if trusted, err = notify.NewWebhook(c.WebhookSecret, false); err != nil {
		return nil, nil, fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	guarded, err = notify.NewWebhook(c.WebhookSecret, !c.WebhookPrivate)
	return trusted, guarded, err
}

func (n *node) newActions(trusted *notify.Webhook) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if left := process.EndOrphans(); left > 0 {
		n.log.Warn("killed leftover processes of a server that died", "processes", left)
	}
	n.actions = action.New(
		n.store, n.jobs,
		action.Options{
			Environ: n.opts.Config.Environ, Sandbox: n.sandbox.Sandbox, Doors: n.jobDoors(), DataDir: n.opts.Config.DataDir,
			Dir: n.workDir, MakeDirFunc: n.makeWorkDir, Self: self, Call: trusted.Send,
		},
		n.log,
	)
	return nil
}

// jobDoors returns the ways out of the sandboxes.
func (n *node) jobDoors() door.Doors {
	return door.Doors{
		CallbackFunc: n.serveDoor, TunnelFunc: n.connections.TunnelListener, Environ: n.opts.Config.Environ, Log: n.refusals,
	}
}

// repositories returns the policy for repositories in requests. A node with only one of
// the two roles cannot identify the requester, so its policy is not open.
func (n *node) repositories() outbound.Policy {
	c, whole := n.opts.Config, n.opts.Role == All
	return outbound.Policy{
		Open: !c.Secured() && whole, Private: c.RepositoryPrivate, Paths: c.RepositoryPaths, Data: c.DataDir, Local: whole,
	}
}

// hasFilesOf reports whether this node has the files of a job, given the node of its latest turn. What another
// turn of the job left here does not count.
func (n *node) hasFilesOf(node string) bool { return n.runner != nil && n.runner.Node() == node }

// workDir returns the directory of a job's files; empty if there is none. here is false if they are on
// another node. Those of a job that a person plays are on the node that was asked to run an action.
func (n *node) workDir(node string, id job.ID) (dir string, here bool) {
	if n.runner == nil || node != "" && !n.hasFilesOf(node) {
		return "", node == ""
	}
	return n.runner.WorkDir(id), true
}

// files returns the files of a job whose latest turn a node ran; empty for one that a person plays.
func (n *node) files(node string, id job.ID) (artifact.Dir, bool) {
	if node == "" && n.runner != nil {
		node = n.runner.Node()
	}
	return runner.Files(n.opts.Config.DataDir, node, id)
}

// makeWorkDir makes the directory of a job's files; it returns "" on a node without any.
func (n *node) makeWorkDir(id job.ID) (string, error) {
	if n.runner == nil {
		return "", nil
	}
	return n.runner.MakeWorkDir(id)
}

// masked reports whether the turn of a job on this node runs in a sandbox, without access to
// what deny rules forbid.
func (n *node) masked(node string, id job.ID) bool { return n.hasFilesOf(node) && n.runner.Masked(id) }

// claudeDir returns Claude's working directory for a job, if it is on this node.
func (n *node) claudeDir(node string, id job.ID) string {
	if !n.hasFilesOf(node) {
		return ""
	}
	return cmp.Or(n.workspaceDir(id), n.runner.WorkDir(id))
}

// workspaceDir returns the directory of a job's repositories, if it is on this node.
func (n *node) workspaceDir(id job.ID) string {
	tree := workspace.Root{Dir: n.opts.Config.DataDir}.Of(string(id), nil).Dir()
	if _, err := os.Stat(tree); err != nil {
		return ""
	}
	return tree
}

func (n *node) newRunner() (*runner.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := n.opts.Config
	prices, err := pricesOf(c)
	if err != nil {
		return nil, err
	}
	o := turnOptions(c)
	o.ClaudeBin, o.Simulator, o.Simulate, o.CallbackBaseURL = n.claude.Bin, self, n.claude.Simulated, n.callbackBaseURL()
	o.Sandbox, o.Doors, o.Repositories = n.sandbox.Sandbox, n.jobDoors(), n.repositories()
	o.OwnStore = n.db.embedded != nil
	o.Meter, o.CheckFunc, o.Drain = model.NewMeter(n.store, prices, n.log), n.checkTurns, n.opts.Drain
	o.StoreRoomFunc = n.checkStoreRoom
	return runner.New(n.store, n.jobs, n.checkpoints, o, n.log)
}

// turnOptions returns the options of turns that depend only on the configuration.
func turnOptions(c config.Config) runner.Options {
	return runner.Options{
		ClaudeArgs: strings.Fields(c.ClaudeArgs), FallbackModel: c.FallbackModel, CallbackBaseURL: c.CallbackBaseURL, Hold: c.Hold,
		Structured: !c.UseCallback, Environ: c.Environ, Budgets: budgetsOf(c), Dir: c.DataDir,
		ConversationLimit: limit.Bytes(c.ConversationLimit), ChangeLimit: limit.Bytes(c.ChangeLimit),
		MirrorsLimit: limit.Bytes(c.MirrorsLimit),
		Workers:      c.Workers, Heartbeat: c.NodeTimeout / 6, Backoff: c.RetryBackoff,
	}
}

func pricesOf(c config.Config) (*price.Table, error) {
	prices, err := price.Load(c.PricesFile)
	if err != nil {
		return nil, fmt.Errorf("PRICES_FILE %s: %w", c.PricesFile, err)
	}
	return prices, nil
}

// budgetsOf returns the daily budgets that do not depend on a kind.
func budgetsOf(c config.Config) job.Spending {
	return job.Spending{User: price.FromUSD(c.BudgetPerUserPerDay), Server: price.FromUSD(c.BudgetPerDay)}
}

// checkTurns returns an error if no turn could start on this node now.
func (n *node) checkTurns() error {
	_, err := readDisk(&n.disk, "turns", func() (string, error) {
		err := cmp.Or(checkDataDir(n.opts.Config.DataDir), checkRoom(n.opts.Config.DataDir, 1))
		if err != nil || n.claude.Simulated {
			return "", err
		}
		bin, err := exec.LookPath(n.claude.Bin)
		if err != nil {
			err = fmt.Errorf("CLAUDE_BIN %s cannot be run: %w", n.claude.Bin, errors.Unwrap(err))
		}
		return bin, err
	})
	return err
}

// fullDisk is the part of what jobs should leave free below which a disk counts as full.
const fullDisk = 64

// checkStoreRoom returns an error if the disk of an embedded store is full. What runs, and what people decide, is
// still stored, in the store's own reserve; new jobs would use that up. A disk that does not answer is not full:
// the store's own calls fail then, and lose nothing.
func (n *node) checkStoreRoom() error {
	if n.db.embedded == nil {
		return nil
	}
	_, err := readDisk(&n.disk, "room", func() (any, error) { return nil, checkRoom(n.opts.Config.DataDir, fullDisk) })
	if errors.Is(err, errDiskHangs) {
		return nil
	}
	return err
}

// callbackBaseURL returns the base URL, with the actual port if the system chose it.
func (n *node) callbackBaseURL() string {
	base := n.opts.Config.CallbackBaseURL
	if rest, ok := strings.CutSuffix(base, ":0"); ok {
		_, port, _ := net.SplitHostPort(n.callbacks.Addr().String())
		return rest + ":" + port
	}
	return base
}

// ready returns the problems that prevent the node from working, and warnings.
func (n *node) ready(ctx context.Context) (problems, warnings []string) {
	problems, notices := n.fitness.texts()
	if err := n.store.Ping(ctx); err != nil {
		problem, _ := whyUnusable(err)
		problems = []string{problem}
	}
	if n.stopping.Load() {
		problems = append(problems, "The server is stopping.")
	}
	if n.runner != nil {
		if problem := n.runner.Problem(); problem != nil {
			problems = append(problems, "No turn can start here: "+problem.Error())
		}
	} else if problem := n.checkStoreRoom(); problem != nil {
		problems = append(problems, problem.Error())
	}
	return problems, slices.Concat(
		n.madeUp(), n.limitWarnings(ctx), n.keyWarnings(), n.misspelt, notices,
		checkOwnAnswers(n.opts.Config, n.sandbox.InForce(), n.jobs.Kinds()),
	)
}

// madeUp warns if results are made up.
func (n *node) madeUp() []string {
	if !n.claude.Simulated || n.runner == nil {
		return nil
	}
	return []string{fmt.Sprintf(
		"No Claude CLI runs here (CLAUDE_BIN=%s): jobs run on the SIMULATED Claude and their results are made up.", n.claude.Bin,
	)}
}

// subscribers are the parts of the node that subscribe to the store's events.
func (n *node) subscribers() []store.Subscriber {
	all := []store.Subscriber{
		{EventFunc: n.hub.Event, TextFunc: n.hub.Text, ResubscribedFunc: n.hub.Resubscribed},
		{EventFunc: n.metrics.Event},
		{EventFunc: n.checkpoints.Event, ResubscribedFunc: n.checkpoints.Resubscribed},
		{TaskFunc: n.outbox.Task, ResubscribedFunc: n.outbox.Resubscribed},
	}
	if n.runner != nil {
		all = append(
			all,
			store.Subscriber{
				EventFunc: n.runner.Event, QueuedFunc: n.runner.Queued, ClockFunc: n.runner.Clock,
				ResubscribedFunc: n.runner.Resubscribed,
			},
		)
	}
	return all
}

func (n *node) serve(ctx context.Context, servers servers, unwanted <-chan error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background, stopBackground := context.WithCancel(context.Background())
	defer stopBackground()
	var parts sync.WaitGroup
	parts.Go(func() { n.store.Subscribe(background, n.subscribers()...) })
	parts.Go(func() { n.outbox.Run(background) })
	parts.Go(func() { process.EndStrays(background, n.log) })
	parts.Go(func() { n.watchKeys(background) })
	parts.Go(func() { doctor.New(n.store, n.jobs, n.log).Run(background) })
	parts.Go(func() { n.watchStore(background) })
	parts.Go(func() { n.staySettled(background) })
	parts.Go(func() { n.reloadOnSignal(background) })
	if n.watcher != nil {
		parts.Go(func() { n.watchKinds(background) })
	}

	hubCtx, stopHub := context.WithCancel(background)
	defer stopHub()
	parts.Go(func() { n.hub.Run(hubCtx) })

	failed := servers.start()

	drainCtx, stopDraining := context.WithCancel(background)
	defer stopDraining()
	var turns sync.WaitGroup
	if n.runner != nil {
		turns.Go(func() { n.runner.Run(ctx, drainCtx) })
	}
	n.announce()

	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	case err = <-n.db.failed(): // without the store, the node cannot wait for anything
		stopDraining()
	case err = <-unwanted: // another version writes the store now
		stopDraining()
	case err = <-n.superseded(): // another server has this one's turns now
		stopDraining()
	}
	stop()
	n.stopping.Store(true)
	n.log.Info("stopping")
	n.stopTurns(drainCtx, &turns, stopDraining)
	stopHub()
	n.actions.Stop()
	if shutdownErr := servers.shutdown(); err == nil {
		err = shutdownErr
	}
	stopBackground()
	parts.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// superseded is nil if the node runs no turns.
func (n *node) superseded() <-chan error {
	if n.runner == nil {
		return nil
	}
	return n.runner.Superseded()
}

// stopTurns stops the runner. Callbacks are still served until then, because draining
// turns need them.
func (n *node) stopTurns(drainCtx context.Context, turns *sync.WaitGroup, stopDraining func()) {
	if n.opts.Drain {
		timer := time.AfterFunc(n.opts.DrainTimeout, stopDraining)
		defer timer.Stop()
		select { // load balancers poll /readyz, and send jobs until then
		case <-time.After(n.opts.DrainGrace):
		case <-drainCtx.Done():
		}
		n.refusing.Store(true)
	}
	turns.Wait()
}

func (n *node) announce() {
	r := Running{
		URL: "http://" + n.listener.Addr().String(), Store: n.db.description, Kinds: n.jobs.Kinds().Names(),
		Claude: n.claude.Bin, Sandbox: n.sandbox.description, EnvFile: n.opts.Config.EnvFile,
	}
	if n.callbacks != n.listener {
		r.CallbackURL = "http://" + n.callbacks.Addr().String()
	}
	r.Warnings = slices.DeleteFunc([]string{n.db.warning, n.sandbox.warning}, func(text string) bool { return text == "" })
	for _, text := range n.fitness.last.Warnings {
		r.Warnings = append(r.Warnings, n.db.subject+" "+text+".")
	}
	if n.claude.Simulated {
		r.Claude = "simulated"
	}
	r.Warnings = append(r.Warnings, n.madeUp()...)
	if n.claude.Problem != "" {
		r.Warnings = append(r.Warnings, n.claude.Problem+". Jobs wait until it can.")
	}
	r.Warnings = append(r.Warnings, setupWarnings(n.opts.Config, n.sandbox, n.jobs.Kinds())...)
	for _, k := range n.jobs.Kinds().All() {
		r.Warnings = append(r.Warnings, kindProblems(n.opts.Config, k)...)
	}
	if !n.opts.Config.UseCallback {
		r.Warnings = append(r.Warnings, "USE_CALLBACK_CLAUDE=false: results are taken from the CLI's structured output. "+
			"Claude cannot report progress, ask or act, so jobs of these kinds are refused: "+
			strings.Join(needCallbacks(n.jobs.Kinds()), ", ")+".")
	}
	n.log.Info(
		"listening", "url", r.URL, "callbackUrl", r.CallbackURL, "config", n.opts.Config, "apiKeys", n.keys.Len(), "store", r.Store,
		"claude", r.Claude, "sandbox", r.Sandbox, "envFile", r.EnvFile,
	)
	if n.opts.Started != nil {
		n.opts.Started(r)
	}
}

func needCallbacks(kinds *kind.Registry) []string {
	var names []string
	for _, k := range kinds.All() {
		if k.NeedsCallbacks() != "" {
			names = append(names, k.Name)
		}
	}
	return names
}
