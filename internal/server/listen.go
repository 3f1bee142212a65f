package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/api"
	"ringback/internal/callback"
	"ringback/internal/guard"
	"ringback/internal/metrics"
)

// listen listens at what a variable says. Its error says what to do.
func listen(ctx context.Context, variable, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	host, _, _ := net.SplitHostPort(addr)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s %s is in use, perhaps by another ringback: stop that, or set %s to another port, such as %s for any that is free",
			variable, addr, variable, net.JoinHostPort(host, "0"))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s %s: this user may not listen there. Ports below 1024 are for root; set %s to another, such as %s",
			variable, addr, variable, net.JoinHostPort(host, "3001"))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s %s: this machine has no such address. Set %s to one of its own, such as 127.0.0.1:3001", variable, addr, variable)
	}
	return nil, fmt.Errorf("%s %s: %w", variable, addr, err)
}

// servers are what a node serves, each at its listener.
type servers []served

type served struct {
	*http.Server
	listener net.Listener
}

// servers sets up the API, and the callbacks with it or at a listener of their own. Such
// a listener answers nothing else but whether the node lives: who can reach it can
// neither create jobs nor answer questions, not even with a key.
func (n *node) servers(m *metrics.Metrics) (servers, error) {
	c := n.opts.Config
	callbacks, err := callback.New(n.store, n.jobs, n.kinds, n.checkpoints, n.actions, callback.Options{
		Strict: c.CallbackStrict, Rate: c.CallbackRate, Hold: c.Hold, Observe: m.Callback,
		WorkDir: n.claudeDir, Home: n.home(),
	}, n.log)
	if err != nil {
		return nil, err
	}
	all := api.New(n.store, n.kinds, n.jobs, n.hub, n.checkpoints, api.Options{
		SlackSecret: c.SlackSecret, Keys: n.keys, JWTSecret: c.JWTSecret, TokenMaxAge: c.TokenMaxAge, CORSOrigins: c.CORSOrigins,
		Limit: n.connections.Middleware, CallbackBaseURL: n.callbackBaseURL(), Ready: n.ready, Sandbox: n.sandbox.description, Files: n.files, WorkspaceDir: n.workspaceDir, DiffPage: n.diffPage, Metrics: m.Handler(), Version: n.opts.Version, Contracts: sync.OnceValues(n.contracts), // most servers are never asked
	}, n.log)
	public := n.newEcho(c.ListenAddr)
	first := append(callback.Paths(), api.HealthPath)
	jobs := guard.NewJobs(n.refusals, first...)
	public.Use(jobs.Middleware, n.connections.First(first...))
	all.Register(public)
	pages := n.newConsole(all, public)
	pages.Register(public)
	public.HTTPErrorHandler = pages.Errors(public.HTTPErrorHandler)
	if n.callbacks == n.listener {
		callbacks.Register(public)
		return servers{n.newServer(public, n.connections.Listener(n.listener), jobs.Context)}, nil
	}
	own := n.newEcho(c.CallbackListenAddr)
	own.Use(guard.NewOrigins(nil).Middleware, n.connections.First(first...))
	all.RegisterHealth(own)
	callbacks.Register(own)
	return servers{
		n.newServer(public, n.connections.Listener(n.listener), jobs.Context),
		n.newServer(own, n.connections.CallbackListener(n.callbacks), asItIs),
	}, nil
}

func (n *node) newEcho(addr string) *echo.Echo {
	e := api.NewEcho(n.refusals)
	e.IPExtractor = guard.Addresses(n.opts.Config.TrustedProxies)
	if names, restricted := n.opts.Config.Hosts(addr); restricted {
		e.Pre(guard.NewHosts(names).Middleware)
	}
	return e
}

// connContextFunc is an http.Server's ConnContext.
type connContextFunc func(context.Context, net.Conn) context.Context

func asItIs(ctx context.Context, _ net.Conn) context.Context { return ctx }

func (n *node) newServer(handler http.Handler, listener net.Listener, note connContextFunc) served {
	return served{&http.Server{
		Handler: n.connections.Handler(handler), ConnState: n.connections.State, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return n.connections.Context(note(ctx, c), c) },
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}, listener}
}

// start serves, and returns where the first failure is told.
func (s servers) start() <-chan error {
	failed := make(chan error, len(s))
	for _, one := range s {
		go func() { failed <- one.Serve(one.listener) }()
	}
	return failed
}

// shutdown lets what is under way be answered, for a while.
func (s servers) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var faults []error
	for _, one := range s {
		if one.Shutdown(ctx) != nil {
			faults = append(faults, one.Close())
		}
	}
	return errors.Join(faults...)
}
