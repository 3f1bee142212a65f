package server

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// moved logs and counts a job's state change.
func (n *node) moved(move lifecycle.Moved) {
	level, message, fields := told(move)
	n.log.Log(context.Background(), level, message, fields...)
	if strings.HasPrefix(move.UserID, job.ReservedUserPrefix) {
		return
	}
	if move.Waited > 0 {
		n.metrics.FirstTurn(move.Priority, move.Waited)
	}
	if move.To.Terminal() {
		n.metrics.Ended(move.Kind, move.To, move.Code)
	}
}

// told returns the log line for a state change: a warning if a person may have to act.
func told(m lifecycle.Moved) (slog.Level, string, []any) {
	fields := []any{"requestId", m.ID, "kind", m.Kind, "userId", m.UserID, "status", m.To, "before", m.From, "turn", m.Turn}
	if m.Code != "" {
		fields = append(fields, "code", m.Code, "error", m.Error)
	}
	switch {
	case m.Again() && m.Code.IsLimit():
		return slog.LevelInfo, "Claude is at a limit, and the job waits for its end", fields
	case m.Again():
		return slog.LevelWarn, "a turn failed, and the job is tried again", append(fields, "attempt", strconv.Itoa(m.Attempt+1)+" of "+strconv.Itoa(m.MaxAttempts))
	case m.To == job.Failed:
		return slog.LevelWarn, "a job failed", fields
	case m.To == job.Expired:
		return slog.LevelWarn, "a job expired", fields
	case m.From == "":
		return slog.LevelInfo, "a job was created", fields
	}
	return slog.LevelInfo, "a job is " + string(m.To), fields
}
