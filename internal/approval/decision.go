package approval

import (
	"time"

	"ringback/internal/job"
)

// Decision is what a person decided about an operation, until it is used: once. A job
// has at most one for each Key; a later one supersedes it.
type Decision struct {
	Checkpoint job.CheckpointID `json:"checkpoint"`
	// Until is when a yes expires.
	Until time.Time `json:"until,omitzero"`
	// Denied is whether it is a no.
	Denied bool `json:"denied,omitempty"`
	// Preview is the digest of the preview that was shown; a yes permits nothing else.
	Preview string `json:"preview,omitempty"`
}

// Yes is the decision of who has permitted something at a checkpoint.
func Yes(at job.CheckpointID, p Permission, now time.Time) Decision {
	return Decision{Checkpoint: at, Until: now.Add(p.Life)}
}

// No is the decision of who has denied it.
func No(at job.CheckpointID) Decision { return Decision{Checkpoint: at, Denied: true} }

// Use is what a decision says at the moment of its use.
type Use string

// The uses.
const (
	Permitted Use = "permitted"
	Denied    Use = "denied"
	Expired   Use = "expired" // it was a yes, which is worth nothing any more
	Missing   Use = "missing" // nobody has decided
)

// At says what a decision is worth; that of nobody is nil.
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
