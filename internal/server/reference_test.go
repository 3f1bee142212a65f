package server_test

import (
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/web/api"
	"ringback/internal/web/callback"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

func reference(t *testing.T) string {
	t.Helper()
	return string(must.Get(os.ReadFile("../../docs/api.md"))(t))
}

// The reference contains exactly the routes that a server registers.
func TestEveryRouteIsInTheReference(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	e := echo.New()
	callbacks := must.Get(callback.New(nil, nil, nil, nil, callback.Options{}, log))(t)
	callbacks.Register(e)
	api.New(nil, nil, nil, nil, api.Options{}, log).Register(e)
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("`([A-Z]+ /[^`?]*)`").FindAllStringSubmatch(reference(t), -1) {
		documented[match[1]] = true
	}
	for _, r := range e.Routes() {
		route := r.Method + " " + r.Path
		if !documented[route] {
			t.Errorf("docs/api.md has no `%s`", route)
		}
		delete(documented, route)
	}
	for route := range documented {
		t.Errorf("docs/api.md has `%s`, which the server has not", route)
	}
}

func TestEveryStatusAndCloseCodeIsInTheReference(t *testing.T) {
	t.Parallel()
	text := reference(t)
	codes := []int{int(hub.CloseRestart), int(hub.CloseSlow), int(hub.CloseBadRequest), int(hub.CloseUnauthorized), int(hub.CloseForbidden)}
	for _, kind := range []job.ErrorKind{
		job.Invalid, job.Unauthorized, job.Forbidden, job.NotFound, job.Method, job.Conflict, job.TooLarge, job.Unsupported,
		job.TooMany, job.Unavailable, job.Internal,
	} {
		codes = append(codes, job.HTTPStatus(kind))
	}
	for _, code := range codes {
		must.Contain(t, text, "\n| "+strconv.Itoa(code)+" | ", "docs/api.md does not say when", code, "comes")
	}
}
