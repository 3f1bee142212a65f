package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/server/config"
	"ringback/internal/web/guard"
)

// operatorServer serves what operators need and no one else may have: metrics, the reasons of a server that is not
// ready, the level of its log, and profiles. It asks for no key, so by default only this machine reaches it.
func (n *node) operatorServer() served {
	e := n.newEcho()
	checks := []guard.Check{refusePages}
	if config.IsLoopback(n.opts.Config.OperatorListenAddr) {
		checks = append(checks, guard.Hosts(nil))
	}
	counted := guard.NewConnections(guard.OperatorBudget)
	e.Use(guard.Checks(checks...), counted.Middleware)
	e.GET("/metrics", echo.WrapHandler(n.metrics.Handler()))
	e.GET("/readyz", func(c echo.Context) error {
		ready := n.ready(c.Request().Context())
		return c.JSON(ready.HTTPStatus(), ready)
	})
	e.GET("/log-level", n.showLogLevel)
	e.PUT("/log-level", n.setLogLevel)
	for path, serve := range map[string]http.HandlerFunc{
		"/*": pprof.Index, "/cmdline": pprof.Cmdline, "/profile": pprof.Profile, "/symbol": pprof.Symbol, "/trace": pprof.Trace,
	} {
		e.GET("/debug/pprof"+path, echo.WrapHandler(serve))
	}
	return n.newServer(counted, e, counted.Listener(n.operators))
}

// refusePages refuses what a page in a browser changes. Its own pages need nothing; and where other machines reach the
// listener, the names by which they do are not known, so any site's page could pose as its own (DNS rebinding).
func refusePages(c echo.Context) error {
	if c.Request().Header.Get(echo.HeaderOrigin) == "" {
		return nil
	}
	return job.Errorf(job.Forbidden, "No page in a browser can call this").WithHint("Use curl, for example: it sends no Origin.")
}

func (n *node) showLogLevel(c echo.Context) error {
	return c.String(http.StatusOK, n.opts.Level.Level().String()+"\n")
}

// setLogLevel changes the level until the server stops; LOG_LEVEL is that of the next start.
func (n *node) setLogLevel(c echo.Context) error {
	text, err := io.ReadAll(io.LimitReader(c.Request().Body, 64))
	if err != nil {
		return err
	}
	was, level := n.opts.Level.Level(), slog.Level(0)
	if err := level.UnmarshalText([]byte(strings.TrimSpace(string(text)))); err != nil {
		return job.Errorf(job.Invalid, "The body is not a level").WithHint("Send one word: DEBUG, INFO, WARN or ERROR.")
	}
	n.opts.Level.Set(level)
	n.log.WarnContext(c.Request().Context(), "log level changed", "from", was, "to", level, "address", c.RealIP())
	return n.showLogLevel(c)
}
