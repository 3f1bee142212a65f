package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"ringback/internal/job"
)

// decodeRecord turns a job's hash into the record people see.
func decodeRecord(id job.ID, h map[string]string) (job.Job, error) {
	j := job.Job{
		ID: id, Kind: h["kind"], UserID: h["user"], SessionID: h["session"], State: job.State(h["state"]),
		Input: json.RawMessage(h["input"]), Error: h["error"], ErrorCode: job.Code(h["code"]),
		CreatedAt: millis(h["created"]), UpdatedAt: millis(h["updated"]),
		Deadline: millis(h["deadline"]), FinishedAt: millis(h["finished"]),
		Turn: atoi(h["turn"]), Attempt: atoi(h["attempt"]), MaxAttempts: atoi(h["attempts"]),
	}
	j.Phase, j.PhaseUntil = job.Phase(cmp.Or(h["phase"], string(j.State.DefaultPhase()))), millis(h["phaseUntil"])
	j.Node = h["node"]
	j.Submitted, j.Simulated = h["submitted"] == "1", h["simulated"] == "1"
	j.Usage.InputTokens = int64(atoi(h["inputTokens"]))
	j.Usage.OutputTokens = int64(atoi(h["outputTokens"]))
	j.Usage.CostUSD, _ = strconv.ParseFloat(h["cost"], 64)
	if h["result"] != "" {
		j.Result = json.RawMessage(h["result"])
	}
	for field, into := range map[string]any{"options": &j.Options, "activity": &j.Activity, "lastFailure": &j.LastFailure} {
		if h[field] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(h[field]), into); err != nil {
			return job.Job{}, fmt.Errorf("reading %s of %s: %w", field, id, err)
		}
	}
	if h["checkpoint"] != "" {
		j.Checkpoint = &job.Checkpoint{ID: job.CheckpointID(h["checkpoint"])} // the rest is read by withCheckpoints
	}
	return j, nil
}

// atoi reads a number that a script wrote; an absent field is 0.
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
