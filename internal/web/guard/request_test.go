package guard

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"ringback/test/must"
)

func TestARequestKeepsTheIDThatItsCallerHasChosen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent   string
		isKept bool
	}{
		"a UUID":                     {"8f14e45f-ceea-467f-a0e6-dd1b2c3d4e5f", true},
		"the longest":                {strings.Repeat("x", 128), true},
		"signs":                      {`a/b:c=d"'\`, true},
		"none":                       {"", false},
		"too long":                   {strings.Repeat("x", 129), false},
		"words":                      {"two words", false},
		"a line break":               {"a\nb", false},
		"what controls a terminal":   {"\x1b[31m", false},
		"letters other than ASCII's": {"ä", false},
		"bytes that are no text":     {"\xff", false},
	} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header["X-Request-Id"] = []string{c.sent}
		ctx := Identify(t.Context(), w, r)
		id := w.Header().Get("X-Request-Id")
		must.Equal(t, c.isKept, id == c.sent, name, "is answered", id)
		must.Equal(t, true, isRequestID(id), name, "is answered", id)
		var log strings.Builder
		ThinnedLog(slog.New(slog.NewTextHandler(&log, nil))).InfoContext(context.WithoutCancel(ctx), "refused")
		must.Equal(t, true, strings.Contains(log.String(), "xRequestId="), name, "is logged as", log.String())
	}
	ids := map[string]bool{}
	for range 1000 {
		w := httptest.NewRecorder()
		Identify(t.Context(), w, httptest.NewRequest("GET", "/", nil))
		ids[w.Header().Get("X-Request-Id")] = true
	}
	must.Equal(t, 1000, len(ids), "different ids")
}
