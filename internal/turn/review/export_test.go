package review

import (
	"context"

	"ringback/internal/turn/workspace"
)

// Snapshot copies a change as a capture does.
func (c *Change) Snapshot(ctx context.Context, trees workspace.Trees) (workspace.Snapshot, error) {
	return c.snapshot(ctx, trees)
}
