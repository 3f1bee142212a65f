package server

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// stateChanged logs and counts a job's state change.
func (n *node) stateChanged(change lifecycle.StateChange) {
	level, message, fields := logLine(change)
	n.log.Log(context.Background(), level, message, fields...)
	if strings.HasPrefix(change.UserID, job.ReservedUserPrefix) {
		return
	}
	if change.Waited > 0 {
		n.metrics.FirstTurn(change.Priority, change.Waited)
	}
	if change.To.Terminal() {
		n.metrics.Ended(change.Kind, change.To, change.Code)
	}
}

// concluded logs and counts what came of an action, or of something else that a person has allowed.
func (n *node) concluded(c lifecycle.Conclusion) {
	n.metrics.Action(c.Operation, c.Status)
	level, message := slog.LevelInfo, "action ended"
	if c.Status != job.OutcomeSucceeded {
		level, message = slog.LevelWarn, "action did not succeed"
		if c.CheckpointID != "" {
			message = "approved operation did not succeed"
		}
	}
	fields := []any{
		"requestId", c.JobID, "kind", c.Kind, "userId", c.UserID, "action", c.Operation.Action, "tool", c.Operation.Tool,
		"outcome", c.Status, "checkpointId", c.CheckpointID, "run", c.Run, "took", c.Took,
	}
	if c.Status != job.OutcomeSucceeded && !c.Reported { // what tools print may hold secrets
		fields = append(fields, "reason", c.Message)
	}
	n.log.Log(context.Background(), level, message, fields...)
}

// logLine returns the log line for a state change: a warning if a person may have to act.
func logLine(m lifecycle.StateChange) (slog.Level, string, []any) {
	fields := []any{"requestId", m.ID, "kind", m.Kind, "userId", m.UserID, "status", m.To, "before", m.From, "turn", m.Turn}
	if m.Code != "" {
		fields = append(fields, "code", m.Code, "error", m.Error)
	}
	switch {
	case m.Again() && m.Code.IsRateLimit():
		return slog.LevelInfo, "job waiting: Claude is rate-limited", fields
	case m.Again():
		return slog.LevelWarn, "turn failed, retrying job", append(
			fields, "attempt", strconv.Itoa(m.Attempt+1)+" of "+strconv.Itoa(m.MaxAttempts),
		)
	case m.To == job.Failed:
		return slog.LevelWarn, "job failed", fields
	case m.To == job.Expired:
		return slog.LevelWarn, "job expired", fields
	case m.From == "":
		return slog.LevelInfo, "job created", fields
	}
	return slog.LevelInfo, "job " + string(m.To), fields
}
