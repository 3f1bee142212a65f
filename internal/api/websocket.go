package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/hub"
	"ringback/internal/job"
)

func (s *Server) webSocket(c echo.Context) error {
	userID, err := actAs(callerOf(c), c.QueryParam("userId"))
	if err != nil {
		return err
	}
	want := hub.Request{UserID: userID, RequestID: job.ID(c.QueryParam("requestId")), Reply: s.replyFrames(c, userID)}
	if c.QueryParams().Has("since") {
		want.Resume = true
		if want.Since, err = sinceOf(c); err != nil {
			return err
		}
	}
	return s.hub.Serve(c.Response(), c.Request(), want, s.trustedOrigin)
}

// trustedOrigin keeps pages of other sites from listening.
func (s *Server) trustedOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.opts.CORSOrigins, origin) || slices.Contains(s.opts.CORSOrigins, "*") {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}
