package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// decodeRecord returns a job as people see it: its record, and the fields stored with it that no
// rule reads.
func decodeRecord(id job.ID, h map[string]string) (job.Job, error) {
	r := lifecycle.Record{ID: id}
	if err := decodeValues(&r, recordFields, h); err != nil {
		return job.Job{}, fmt.Errorf("%s: %w", id, err)
	}
	return viewOf(r, h)
}

// viewOf returns a job as people see it: its record, and the other fields stored with it.
func viewOf(r lifecycle.Record, h map[string]string) (job.Job, error) {
	j := r.AsShown() // withCheckpoints fills in its checkpoint
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

// atoi parses a number that the store wrote; an absent field is 0.
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
