package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// decodeRecord turns a job's hash into the job that people see: its record, and what is
// stored beside that and no rule looks at.
func decodeRecord(id job.ID, h map[string]string) (job.Job, error) {
	r := lifecycle.Record{ID: id}
	if err := decodeValues(&r, recordFields, h); err != nil {
		return job.Job{}, fmt.Errorf("%s: %w", id, err)
	}
	return viewOf(r, h)
}

// viewOf is the job that people see: its record, and what is stored beside that.
func viewOf(r lifecycle.Record, h map[string]string) (job.Job, error) {
	j := view(r)
	for field, into := range map[string]*json.RawMessage{"input": &j.Input, "result": &j.Result} {
		if h[field] != "" {
			*into = json.RawMessage(h[field])
		}
	}
	for field, into := range map[string]any{"options": &j.Options, "activity": &j.Activity} {
		if h[field] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(h[field]), into); err != nil {
			return job.Job{}, fmt.Errorf("reading %s of %s: %w", field, r.ID, err)
		}
	}
	return j, nil
}

func view(r lifecycle.Record) job.Job {
	j := job.Job{
		ID: r.ID, Kind: r.Kind, UserID: r.UserID, SessionID: r.SessionID, State: r.State, Phase: r.Phase, PhaseUntil: r.PhaseUntil,
		Error: r.Error, ErrorCode: r.Code, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Deadline: r.Deadline, FinishedAt: r.FinishedAt,
		Turn: r.Turn, Attempt: r.Attempt, MaxAttempts: r.MaxAttempts, Node: r.Node, Submitted: r.Submitted, Simulated: r.Simulated,
		LastFailure: r.LastFailure, Usage: usageOf(r), BudgetUSD: r.BudgetUSD,
	}
	if r.AuditHead != nil && r.AuditHead.Count > 0 {
		j.Audit = r.AuditHead
	}
	if j.Phase == job.NoPhase {
		j.Phase = r.State.DefaultPhase() // it was stored before there were phases
	}
	if r.Checkpoint != "" {
		j.Checkpoint = &job.Checkpoint{ID: r.Checkpoint} // the rest is read by withCheckpoints
	}
	return j
}

func usageOf(r lifecycle.Record) job.Usage {
	return job.Usage{
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens, CacheWriteTokens: r.CacheWriteTokens, CostUSD: r.CostUSD,
	}
}

// atoi reads a number that was written as one; an absent field is 0.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func millis(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return time.UnixMilli(n).UTC()
}

func toMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
