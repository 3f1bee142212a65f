package guard

import (
	"context"
	"log/slog"
	"net"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/process"
)

// Jobs keeps what runs for jobs away from everything but the callbacks, whatever it knows:
// Claude is not to answer its own questions, nor to ask for jobs as somebody else. It is
// known by the program at the other end of the connection, see process.Peer, at each
// request anew: a connection can be handed on.
type Jobs struct {
	peers process.Peers
	// routes are those that it may call.
	routes []string
	log    *slog.Logger
}

// NewJobs returns a guard that leaves these routes to everybody.
func NewJobs(log *slog.Logger, routes ...string) *Jobs { return &Jobs{routes: routes, log: log} }

type peerKey struct{}

// Context notes the other end of a connection, for a ConnContext.
func (j *Jobs) Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, j.peers.Of(c))
}

// Middleware refuses what comes from programs of jobs. It belongs behind the routing and
// before everything else.
func (j *Jobs) Middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		peer, ok := c.Request().Context().Value(peerKey{}).(*process.Peer)
		if !ok || slices.Contains(j.routes, c.Path()) {
			return next(c)
		}
		if err := j.judge(c, peer.Caller()); err != nil {
			return err
		}
		return next(c)
	}
}

func (j *Jobs) judge(c echo.Context, who process.Caller) error {
	var refusal *job.Error
	switch who.Origin {
	case process.OfOthers:
		return nil
	case process.OfJob:
		refusal = job.Errorf(job.Forbidden, "What runs for a job may not call this").
			WithHint("It may call the callbacks of its own turn. Everything else is for people and back ends.")
	case process.OfNobody:
		refusal = job.Errorf(job.Forbidden, "The program that sent this has closed the connection").
			WithHint("Keep the connection open until the answer has come: it tells who is calling.")
	case process.OfUnknown:
		refusal = job.Errorf(job.Forbidden, "It cannot be told whether a job's program sent this").
			WithHint("The program that did hides which connections it has, and so may one of a job that runs. Try again, or run the server as a user of its own.")
	}
	j.log.Warn("refused a call from within", "method", c.Request().Method, "path", c.Request().URL.Path, "address", c.RealIP(),
		"origin", string(who.Origin), "pid", who.PID, "program", who.Marker)
	return refusal
}
