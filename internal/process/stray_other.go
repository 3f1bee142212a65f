//go:build unix && !linux

package process

import (
	"context"
	"log/slog"
)

// EndStrays does nothing here: only Linux gives processes without a parent to us.
func EndStrays(context.Context, *slog.Logger) {}
