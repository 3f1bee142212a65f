package store

import (
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"ringback/test/must"
)

// A store that is away is logged once, and once when it is back, however many calls fail in between.
func TestALostStoreIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	b := &breaker{log: slog.New(slog.NewTextHandler(&text, nil))}
	for range 2 {
		text.Reset()
		for range 10 {
			err := b.call(t.Context(), callTimeout, func(context.Context) error { return syscall.ECONNREFUSED })
			must.Equal[error](t, syscall.ECONNREFUSED, err)
		}
		must.Equal(t, 1, strings.Count(text.String(), "store unavailable"))
		for range 10 {
			must.OK(t, b.call(t.Context(), callTimeout, func(context.Context) error { return nil }))
		}
		must.Equal(t, 1, strings.Count(text.String(), "store available"))
		must.Equal(t, 2, strings.Count(text.String(), "\n"))
	}
}
