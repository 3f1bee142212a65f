package api

import (
	"context"
	"errors"
	"strings"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/web/hub"
)

// webSocketPath is the only endpoint where a token may be in the URL or a subprotocol.
const webSocketPath = "/ws"

// webSocket connects a client to its events. Errors in the request are reported by a close
// code, because a page cannot see why a handshake was refused.
func (s *Server) webSocket(c echo.Context) error {
	want, err := s.subscription(c)
	if err == nil {
		return s.hub.Serve(c.Response(), c.Request(), want)
	}
	var code hub.CloseCode
	if e, ok := errors.AsType[*job.Error](err); ok {
		code = closeCodes[e.Kind]
	}
	if code == 0 || !websocket.IsWebSocketUpgrade(c.Request()) {
		return err
	}
	s.log.InfoContext(
		c.Request().Context(), "WebSocket refused", "code", int(code), "reason", err.Error(),
		"origin", c.Request().Header.Get(echo.HeaderOrigin), "address", c.RealIP(),
	)
	return s.hub.Refuse(c.Response(), c.Request(), code, err.Error())
}

// closeCodes are the close codes for errors; the handshake's status tells the client of others, so that it retries.
var closeCodes = map[job.ErrorKind]hub.CloseCode{
	job.Invalid: hub.CloseBadRequest, job.Unauthorized: hub.CloseUnauthorized, job.Forbidden: hub.CloseForbidden,
}

// subscription parses which events a client asks for, and checks that it may see them. The
// page's origin is checked first so that other sites learn nothing more.
func (s *Server) subscription(c echo.Context) (hub.Request, error) {
	want := hub.Request{RequestID: job.ID(c.QueryParam("requestId")), Address: c.RealIP()}
	if !s.origins.Trusts(c.Request()) {
		return want, job.Errorf(job.Forbidden, "The page's origin is not one of CORS_ORIGINS")
	}
	who, err := s.identify(c)
	if err != nil {
		return want, err
	}
	c.Set(callerKey, who)
	want.Until = who.until
	sent := queryOf(c)
	if want.Text = oneOf(sent, "text", []string{"true", "false"}) == "true"; sent.err != nil {
		return want, inReason(sent.err)
	}
	if want.Text && want.RequestID == "" {
		return want, job.Errorf(job.Invalid, "text=true requires requestId: text is sent for one job")
	}
	if want.All = c.QueryParam("userId") == allUsers; want.All {
		want.Reply = func(context.Context, job.CheckpointID, map[string]any) (job.Checkpoint, error) {
			return job.Checkpoint{}, job.Errorf(job.Forbidden, "A WebSocket for all users accepts no replies").WithHint(
				"Send replies to POST /api/checkpoints/:id/reply.",
			)
		}
		want.MayFollow = func(ctx context.Context, id job.ID) error {
			_, err := s.store.Get(ctx, id)
			return err
		}
		if sent.Has("since") || sent.Has("requestId") { // event ids are counted per user
			return want, job.Errorf(job.Invalid, "userId=* receives the new events of all users: leave since and requestId out")
		}
		return want, mayAct(who, "Receiving the events of all users")
	}
	if want.UserID, err = s.actAs(who, c.QueryParam("userId"), "connection"); err != nil {
		return want, inReason(err)
	}
	want.Reply = s.replyFrames(c, want.UserID)
	want.MayFollow = func(ctx context.Context, id job.ID) error { return s.checkListener(ctx, want.UserID, id) }
	if sent.Has("since") {
		want.Resume = true
		if want.Since, err = sinceOf(c); err != nil {
			return want, err
		}
	}
	if want.RequestID == "" {
		return want, nil
	}
	return want, s.checkListener(c.Request().Context(), want.UserID, want.RequestID)
}

// allUsers is the userId of a WebSocket that receives the events of all users.
const allUsers = "*"

// inReason moves the first detail into the message, because a close frame has no room for
// more.
func inReason(err error) error {
	if e, ok := errors.AsType[*job.Error](err); ok && len(e.Details) > 0 {
		return job.Errorf(e.Kind, "%s: %s", strings.TrimPrefix(e.Details[0].Path, "/"), e.Details[0].Message)
	}
	return err
}

// checkListener rejects listening to another user's job, without revealing whether it
// exists.
func (s *Server) checkListener(ctx context.Context, userID string, id job.ID) error {
	j, err := s.store.Get(ctx, id)
	if job.HasKind(err, job.NotFound) || err == nil && j.UserID != userID {
		return job.Errorf(job.Forbidden, "This user has no job with this requestId")
	}
	return err
}
