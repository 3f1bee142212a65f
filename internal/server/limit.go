package server

import (
	"context"
	"time"

	"ringback/internal/job"
)

// limitWarnings returns the limits that Claude's accounts have reached: jobs are
// accepted, but wait.
func (n *node) limitWarnings(ctx context.Context) []string {
	limits, err := n.store.Limits(ctx)
	if err != nil {
		return nil // an unavailable store is reported separately
	}
	var warnings []string
	for _, l := range limits {
		why := "at a limit"
		if l.Code == job.CodeSignedOut {
			why = "signed out"
		}
		warnings = append(
			warnings,
			"No job is started, because Claude is "+why+". "+l.Error+" At "+l.Until.Format(time.RFC3339)+" one job tries again.",
		)
	}
	return warnings
}
