//go:build unix && !linux

package process

import (
	"context"
	"log/slog"
)

// EndStrays does nothing here: only on Linux do processes without a parent become our
// children.
func EndStrays(context.Context, *slog.Logger) {}
