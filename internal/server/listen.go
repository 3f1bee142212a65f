package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/web/api"
	"ringback/internal/web/callback"
	"ringback/internal/web/console"
	"ringback/internal/web/guard"
	"ringback/internal/web/hub"
)

// listenTimeout limits the wait for an address that is in use. After a server was killed, a child that it
// was just starting may hold its socket for a moment.
const listenTimeout = time.Second

// listen listens on the address in a variable. Its error contains advice.
func listen(ctx context.Context, variable, addr string) (listener net.Listener, err error) {
	for begin := time.Now(); ; time.Sleep(listenTimeout / 50) {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Since(begin) > listenTimeout {
			break
		}
	}
	if err != nil {
		return nil, cannotListen(variable, addr, err)
	}
	return listener, nil
}

// address is a place at which a server listens. It starts without an optional one that is in use.
type address struct {
	variable, addr string
	optional       bool
}

// addresses are those of a configuration: of the API, of callbacks and of operators. The address is empty if there is no
// such listener, and for callbacks that the API's listener takes.
func addresses(c config.Config) [3]address {
	all := [...]address{
		{"LISTEN_ADDR", c.ListenAddr, false},
		{"CALLBACK_LISTEN_ADDR", "", false},
		{"OPERATOR_LISTEN_ADDR", c.OperatorListenAddr, !c.OperatorIsSet()},
	}
	if c.OwnCallbackListener() {
		all[1].addr = c.CallbackListenAddr
	}
	return all
}

// startListeners listens at the node's addresses. Several servers on one machine have the same default for
// operators: all but the first start without.
func (n *node) startListeners(ctx context.Context) (stop func(), err error) {
	var all [3]net.Listener
	stop = func() {
		for _, l := range all {
			if l != nil {
				_ = l.Close()
			}
		}
	}
	for i, p := range addresses(n.opts.Config) {
		if p.addr == "" {
			continue
		}
		l, err := listen(ctx, p.variable, p.addr)
		switch {
		case err == nil:
			all[i] = l
		case p.optional:
			n.noOperators = "There is no listener for operators: " + err.Error() + "."
		default:
			stop()
			return nil, err
		}
	}
	n.listener, n.callbacks, n.operators = all[0], all[1], all[2]
	if n.callbacks == nil {
		n.callbacks = n.listener
	}
	return stop, nil
}

// checkAddress returns an error if this machine does not have an address, or no such port. A server
// may be listening there now, so another port is tried.
func checkAddress(ctx context.Context, variable, addr string) error {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return cannotListen(variable, addr, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", (&net.TCPAddr{IP: at.IP, Zone: at.Zone}).String())
	if err != nil {
		return cannotListen(variable, addr, err)
	}
	return listener.Close()
}

// cannotListen adds advice to an error.
func cannotListen(variable, addr string, err error) error {
	host, _, _ := net.SplitHostPort(addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"%s %s is in use, perhaps by another ringback: stop that, or set %s to another port, such as %s for any that is free",
			variable, addr, variable, net.JoinHostPort(host, "0"))
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: this user may not listen there. Ports below 1024 are for root; set %s to another, such as %s",
			variable, addr, variable, net.JoinHostPort(host, "3001"))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf(
			"%s %s: this machine has no such address. Set %s to an address of this machine, such as 127.0.0.1:3001", variable, addr, variable)
	}
	return fmt.Errorf("%s %s: %w", variable, addr, err)
}

// servers are the HTTP servers of a node, each with its listener.
type servers []served

type served struct {
	*http.Server
	// listener is nil for the doors, which have one listener for each job.
	listener net.Listener
}

// startServers serves the API and the callbacks.
func (n *node) startServers(context.Context) (stop func(), err error) {
	all, err := n.servers()
	if err != nil {
		return nil, err
	}
	n.unserved = all.start()
	return func() {
		if err := all.shutdown(); err != nil {
			n.log.Warn("could not close all connections", "error", err)
		}
	}, nil
}

// servers sets up the API, and the callbacks with it or on their own listener. Such a
// listener otherwise only answers health checks: its callers can neither create jobs nor
// answer questions, not even with a key.
func (n *node) servers() (servers, error) {
	c := n.opts.Config
	callbacks, err := callback.New(n.store, n.jobs, n.checkpoints, n.actions, callback.Options{
		Strict: c.Strict(n.sandbox.InForce()), Rate: c.CallbackRate, Hold: c.Hold, Observe: n.metrics.Callback,
		WorkDir: n.claudeDir, Masked: n.masked, Home: process.Value(c.Environ, "HOME"),
	}, n.log)
	if err != nil {
		return nil, err
	}
	inbound, err := notify.ParseSecrets(c.InboundSecret)
	if err != nil {
		return nil, fmt.Errorf("INBOUND_WEBHOOK_SECRET: %w", err)
	}
	all := api.New(n.store, n.jobs, n.hub, n.checkpoints, api.Options{
		SlackSecret: c.SlackSecret, InboundSecrets: inbound, Keys: n.keys, JWTSecret: c.JWTSecret, TokenMaxAge: c.TokenMaxAge,
		Pages:       job.Pages(c.PublicURL),
		CORSOrigins: c.CORSOrigins, Limit: n.connections.Middleware, CallbackBaseURL: n.callbackBaseURL(),
		Ready: n.ready, RefusingFunc: n.refusing.Load, RoomFunc: n.checkStoreRoom, Budgets: budgetsOf(c), Files: n.files,
		WorkspaceDir: n.workspaceDir, DiffPage: n.diffPage, Version: n.opts.Version,
		Contracts: n.contracts, ReloadKinds: func() (job.KindsReload, error) { return n.reloadKinds(byAPI) },
	}, n.log)
	public := n.newEcho()
	checks := n.hosts(c.ListenAddr)
	if !c.Secured() {
		checks = append(checks, guard.RefuseForwarded(append(callback.Paths(), api.HealthPath)...))
	}
	all.Register(public, checks...)
	pages := console.New(console.Options{
		API: public, Open: all.Open(), IdentifyFunc: all.Identify, Cookie: api.Cookie, SignIns: n.store.SignIns,
		MarkFunc: api.ByConsole,
	}, n.refusals)
	pages.Register(public)
	public.HTTPErrorHandler = pages.Errors(public.HTTPErrorHandler)
	n.doors = n.newServer(n.connections, n.doorRoutes(callbacks), nil)
	n.doors.BaseContext = callerOf
	served := servers{n.newServer(n.connections, public, n.connections.Listener(n.listener)), n.doors}
	if n.operators != nil {
		served = append(served, n.operatorServer())
	}
	if n.callbacks == n.listener {
		callbacks.Register(public)
		return served, nil
	}
	own := n.newEcho()
	own.Use(guard.Checks(append(n.hosts(c.CallbackListenAddr), guard.NewOrigins(nil).Check)...))
	all.RegisterHealth(own)
	callbacks.Register(own)
	return append(served, n.newServer(n.connections, own, n.connections.CallbackListener(n.callbacks))), nil
}

// doorRoutes returns the routes that a job in a sandbox may call: its callbacks.
func (n *node) doorRoutes(callbacks *callback.Handler) *echo.Echo {
	e := api.NewEcho(n.refusals)
	e.IPExtractor = echo.ExtractIPDirect()
	e.Use(guard.Checks(guard.Routes(n.refusals, callback.Caller, callback.Paths()...)))
	callbacks.Register(e)
	return e
}

// doorListener accepts the callbacks of one job.
type doorListener struct {
	net.Listener
	id job.ID
}

// serveDoor serves the callbacks of one job until its listener is closed.
func (n *node) serveDoor(l net.Listener, id job.ID) {
	_ = n.doors.Serve(doorListener{n.connections.DoorListener(l), id})
}

// callerOf is the BaseContext of the server at the doors.
func callerOf(l net.Listener) context.Context {
	if door, ok := l.(doorListener); ok {
		return callback.WithCaller(context.Background(), door.id)
	}
	return context.Background()
}

func (n *node) newEcho() *echo.Echo {
	e := api.NewEcho(n.refusals)
	e.IPExtractor = guard.Addresses(n.opts.Config.TrustedProxies)
	return e
}

// hosts returns the check for the names under which a listener may be called; none if any
// name will do.
func (n *node) hosts(addr string) []guard.Check {
	names, restricted := n.opts.Config.Hosts(addr)
	if !restricted {
		return nil
	}
	var probed []string
	if !config.IsLoopback(addr) { // load balancers call it by its address
		probed = []string{api.HealthPath, api.ReadyPath}
	}
	return []guard.Check{guard.Hosts(names, probed...)}
}

// newServer returns a server that counts its connections. Each of its answers has the id of its request.
func (n *node) newServer(counted *guard.Connections, handler http.Handler, listener net.Listener) served {
	tracked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(guard.Identify(store.TrackWrites(r.Context()), w, r)))
	})
	return served{&http.Server{
		Handler: counted.Handler(tracked), ConnState: counted.State, ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: 30 * time.Second,
		ConnContext: counted.Context, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}, listener}
}

// start starts serving, and returns a channel that receives the first failure.
func (s servers) start() <-chan error {
	failed := make(chan error, len(s))
	for _, one := range s {
		if one.listener != nil {
			go func() { failed <- one.Serve(one.listener) }()
		}
	}
	return failed
}

// shutdown waits a while for pending requests, and then closes the servers. All of them have the same
// time, so that a slow download from one takes none from the callbacks of another.
func (s servers) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	faults := make([]error, len(s))
	var all sync.WaitGroup
	for i, one := range s {
		all.Go(func() {
			if one.Shutdown(ctx) != nil {
				faults[i] = one.Close()
			}
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// stopGrace is the time that pending requests have to end when the server stops.
const stopGrace = 10 * time.Second

// callbackBaseURL returns the base URL, with the actual port if the system chose it.
func (n *node) callbackBaseURL() string {
	base := n.opts.Config.CallbackBaseURL
	if rest, ok := strings.CutSuffix(base, ":0"); ok {
		_, port, _ := net.SplitHostPort(n.callbacks.Addr().String())
		return rest + ":" + port
	}
	return base
}

// budget divides this process's file descriptors.
func budget(c config.Config) guard.Budget {
	return guard.DivideDescriptors(guard.Descriptors(), c.Workers, c.WebSockets)
}

// webSocketLimits returns the node's limits on WebSockets. By default neither a user nor
// an address can take all of them.
func webSocketLimits(c config.Config) hub.Limits {
	all := budget(c).WebSockets
	return hub.Limits{
		Node: all, User: cmp.Or(c.WebSocketsPerUser, max(1, all/2)), Address: cmp.Or(c.WebSocketsPerAddr, max(1, all*3/4)),
	}
}

// fewWebSockets is the number below which a low limit of open files causes a warning.
const fewWebSockets = 100

// checkDescriptors warns if the system gives a node few descriptors.
func checkDescriptors(c config.Config) []string {
	most := budget(c).WebSockets
	if most >= fewWebSockets || c.WebSockets > 0 && most >= c.WebSockets {
		return nil
	}
	return []string{fmt.Sprintf(
		"The limit of open files is %d, which is room for %d WebSockets besides callbacks and %d workers: raise it (ulimit -n, LimitNOFILE=)",
		guard.Descriptors(), most, c.Workers)}
}
