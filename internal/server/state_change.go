package server

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
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

// logLine returns the log line for a state change: a warning if a person may have to act.
func logLine(m lifecycle.StateChange) (slog.Level, string, []any) {
	fields := []any{"requestId", m.ID, "kind", m.Kind, "userId", m.UserID, "status", m.To, "before", m.From, "turn", m.Turn}
	if m.Code != "" {
		fields = append(fields, "code", m.Code, "error", m.Error)
	}
	switch {
	case m.Again() && m.Code.IsRateLimit():
		return slog.LevelInfo, "Claude is at a limit, and the job waits for its end", fields
	case m.Again():
		return slog.LevelWarn, "a turn failed, and the job is tried again", append(
			fields, "attempt", strconv.Itoa(m.Attempt+1)+" of "+strconv.Itoa(m.MaxAttempts),
		)
	case m.To == job.Failed:
		return slog.LevelWarn, "a job failed", fields
	case m.To == job.Expired:
		return slog.LevelWarn, "a job expired", fields
	case m.From == "":
		return slog.LevelInfo, "a job was created", fields
	}
	return slog.LevelInfo, "a job is " + string(m.To), fields
}
