package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/people/notify"

	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
	"ringback/internal/server/metrics"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/turn/action"
	"ringback/internal/turn/runner"
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
	// TakeOver permits a start with an embedded store that is a copy, other than by Restore.
	TakeOver bool
	// Version is the version in /healthz.
	Version string
	// Hidden are directories that programs of jobs do not see, in addition to the node's own.
	Hidden []string
	// Level is the lowest level of the log, which operators can change.
	Level *slog.LevelVar
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
	// OperatorURL is the URL of the operators' listener, if there is one.
	OperatorURL string
	Store       string
	Claude      string
	// Sandbox describes the confinement of jobs.
	Sandbox string
	// EnvFile is the .env file that was read; empty for none.
	EnvFile  string
	Warnings []string
	Kinds    []string
}

// part starts a piece of a node. It returns what stops that piece; nil if nothing has to.
type part func(context.Context) (stop func(), err error)

// parts are all parts of a node, in the order in which they start. They stop in the reverse order: no new work,
// turns are handed over or drained, connections close, requests in progress end, and the store comes last.
func (n *node) parts() []part {
	return []part{
		n.startProcess, n.startWatchdog, n.startKinds, n.startKeys, n.startDataDir, n.startListeners, n.startStore, n.startSandbox,
		n.startMembership,
		n.startPeople,     // the rules for jobs, and what asks and notifies people
		n.startNode,       // its name in the store; from here on, no other node has its jobs
		n.startBackground, // what watches and tidies up
		n.startServers,
		n.startActions,
		n.startHub,
		n.startTurns,
	}
}

// Serve runs a node until ctx ends, and then stops its parts.
func Serve(ctx context.Context, o Options, log *slog.Logger) error {
	log = guard.ThinnedLog(log)
	n := &node{opts: o, log: log, refusals: guard.BoundedLog(log)}
	stop, err := start(ctx, n.parts())
	defer stop()
	if err != nil {
		return err
	}
	n.announce()
	n.notify("READY=1")
	err = n.wait(ctx)
	n.stopping.Store(true)
	n.log.Info("stopping")
	n.notify("STOPPING=1")
	return err
}

// start starts parts, up to the first that fails. stop stops those that have started.
func start(ctx context.Context, parts []part) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, stopPart := range slices.Backward(stops) {
			stopPart()
		}
	}
	for _, startPart := range parts {
		stopPart, err := startPart(ctx)
		if err != nil {
			return stop, err
		}
		if stopPart != nil {
			stops = append(stops, stopPart)
		}
	}
	return stop, nil
}

// wait returns when the node has to stop, and why; nil if ctx has ended.
func (n *node) wait(ctx context.Context) (err error) {
	select {
	case <-ctx.Done():
		return nil
	case err = <-n.unserved:
	case err = <-n.lost:
	}
	return err
}

// running runs functions until stop is called, which waits until they have returned.
func running(functions ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, run := range functions {
		all.Go(func() { run(ctx) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// startProcess protects this process from those of jobs.
func (n *node) startProcess(context.Context) (stop func(), err error) {
	store.LogClient(n.log)
	if err := process.Protect(); err != nil {
		return nil, err
	}
	// The other variables that are needed are in the configuration.
	environ := n.opts.Config.Environ
	kept := process.Pick(environ, process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies)
	if err := config.ReduceEnvironment(kept); err != nil {
		return nil, err
	}
	if n.opts.Role != API {
		return nil, n.opts.Config.CheckClaude()
	}
	return nil, nil
}

// startBackground runs what serves no request and no turn.
func (n *node) startBackground(context.Context) (stop func(), err error) {
	return running(
		func(ctx context.Context) { n.store.Events.Subscribe(ctx, n.subscribers()...) },
		func(ctx context.Context) { process.EndStrays(ctx, n.log) },
		n.outbox.Run, doctor.New(n.store, n.jobs, n.log).Run, n.watchKeys, n.watchStore, n.staySettled, n.reloadOnSignal, n.watchKinds,
	), nil
}

// startHub keeps WebSockets alive. At the end, it closes them before the servers wait for their connections.
func (n *node) startHub(context.Context) (stop func(), err error) { return running(n.hub.Run), nil }

// node is a running server.
type node struct {
	opts Options
	log  *slog.Logger
	// refusals is the log for rejected requests.
	refusals *slog.Logger
	listener net.Listener
	// callbacks is the listener for callbacks: the same listener, or their own.
	callbacks net.Listener
	// operators is the operators' listener; nil if there is none. noOperators is the reason if there should be one.
	operators   net.Listener
	noOperators string
	// unserved receives the first failure of a listener, and lost the reason why the node cannot wait for its turns.
	unserved <-chan error
	lost     chan error
	// doors serves the callbacks of jobs in sandboxes.
	doors served
	db    *database
	// isCopy is true if the embedded store is a copy that this start takes over.
	isCopy bool
	// unwanted receives an error if this version must not use the store any more.
	unwanted chan error
	// keys are the keys of back ends; nil if there are none.
	keys    *apikey.Set
	sandbox sandbox
	// kinds are those at the start; jobs has the current ones.
	kinds   *kind.Registry
	reloads reloads
	// watcher watches the files of the kinds; nil if nothing does.
	watcher *fsnotify.Watcher
	// documents are those of the current kinds.
	documents documents

	store       *store.Store
	fitness     atomic.Pointer[fitness]
	disk        disk
	metrics     *metrics.Metrics
	connections *guard.Connections
	hub         *hub.Hub
	jobs        *lifecycle.Service
	checkpoints *checkpoint.Service
	outbox      *notify.Outbox
	// actions runs actions for Claude.
	actions *action.Service
	runner  *runner.Runner
	claude  config.Claude
	// stopDraining ends the wait for turns.
	stopDraining context.CancelFunc
	// misspelt are warnings about misspelt settings.
	misspelt []string
	// stopping is set when the node stops, refusing when it accepts no more jobs.
	stopping, refusing atomic.Bool
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

// readyTimeout is the time in which the store must respond for the node to count as ready. It is short
// because load balancers give up soon.
const readyTimeout = 800 * time.Millisecond

// ready returns whether the node can work, and why not.
func (n *node) ready(ctx context.Context) job.Readiness {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	problems, notices := n.storeFitness().texts()
	limits, err := n.store.Limits.List(ctx)
	if err != nil {
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
	r := job.Readiness{Status: "ready", Problems: problems, Sandbox: n.sandbox.description, Limits: limits, Warnings: slices.Concat(
		n.madeUp(), limitWarnings(limits), n.keyWarnings(), n.misspelt, notices,
		checkOwnAnswers(n.opts.Config, n.sandbox.InForce(), n.jobs.Kinds()),
	)}
	if len(problems) > 0 {
		r.Status = "not ready"
	}
	return r
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

// limitWarnings returns the limits that Claude's accounts have reached: jobs are
// accepted, but wait.
func limitWarnings(limits []job.Limit) (warnings []string) {
	for _, l := range limits {
		why := "at a limit"
		if l.Code == job.CodeSignedOut {
			why = "signed out"
		}
		warnings = append(
			warnings,
			"No job is started, because Claude is "+why+". "+l.Error+" At "+l.Until.Format(time.RFC3339)+" one job tries again.",
		)
	}
	return warnings
}

func (n *node) announce() {
	r := Running{
		URL: "http://" + n.listener.Addr().String(), Store: n.db.description, Kinds: n.jobs.Kinds().Names(),
		Claude: n.claude.Bin, Sandbox: n.sandbox.description, EnvFile: n.opts.Config.EnvFile,
	}
	if n.callbacks != n.listener {
		r.CallbackURL = "http://" + n.callbacks.Addr().String()
	}
	if n.operators != nil {
		r.OperatorURL = "http://" + n.operators.Addr().String()
	}
	r.Warnings = []string{n.db.warning, n.sandbox.warning, n.noOperators}
	r.Warnings = slices.DeleteFunc(r.Warnings, func(text string) bool { return text == "" })
	for _, text := range n.storeFitness().Warnings {
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
		"listening", "url", r.URL, "callbackUrl", r.CallbackURL, "operatorUrl", r.OperatorURL, "config", n.opts.Config,
		"apiKeys", n.keys.Len(), "store", r.Store, "claude", r.Claude, "sandbox", r.Sandbox, "envFile", r.EnvFile,
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
