package approval

import (
	"time"

	"ringback/internal/job"
)

// Decision is a person's decision about an operation. It is used once. A job has at most
// one for each Key; a later one supersedes it.
type Decision struct {
	Checkpoint job.CheckpointID `json:"checkpoint"`
	// Question is the checkpoint at which the operation was first asked about, if it was asked about again.
	Question job.CheckpointID `json:"question,omitempty"`
	Until    time.Time        `json:"until,omitzero"`   // When an approval expires.
	Denied   bool             `json:"denied,omitempty"` // True if the person said no.
	// Preview is the digest of the preview that was shown; an approval permits nothing
	// else.
	Preview string `json:"preview,omitempty"`
}

// Use is what a decision is worth when it is used.
type Use string

// The values of Use.
const (
	Permitted Use = "permitted"
	Denied    Use = "denied"
	Expired   Use = "expired" // it was an approval, which is no longer valid
	Missing   Use = "missing" // no decision was made
)

// At returns what a decision is worth at a time. A nil decision is Missing.
func (d *Decision) At(now time.Time) Use {
	switch {
	case d == nil:
		return Missing
	case d.Denied:
		return Denied
	case d.Until.Before(now):
		return Expired
	}
	return Permitted
}
