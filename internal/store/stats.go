package store

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Stats counts the checkpoints of one type since the store was created.
type Stats struct {
	// Opened counts the checkpoints put to a person; the other fields count their outcomes.
	Opened    int64 `json:"opened"`
	Answered  int64 `json:"answered"`
	Clarified int64 `json:"clarified"`
	Expired   int64 `json:"expired"`
	Cancelled int64 `json:"cancelled"`
	// Held counts those answered while the call that asked was still waiting.
	Held int64 `json:"answeredWhileHeld"`
	// Approved and Denied count the decisions.
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
	// Waited is the total time from question to answer over Answered.
	Waited time.Duration `json:"-"`
}

// Stats returns the counts by type of checkpoint, and their sum under "", over all nodes.
func (s *Store) Stats(ctx context.Context) (map[job.CheckpointType]Stats, error) {
	counts, err := readEach(ctx, s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, p.key("stats"))
	})
	all := map[job.CheckpointType]Stats{}
	for _, part := range counts {
		for name, text := range part {
			kind, what, _ := strings.Cut(name, ":")
			for _, of := range []job.CheckpointType{job.CheckpointType(kind), ""} {
				stats := all[of]
				stats.add(what, int64(atoi(text)))
				all[of] = stats
			}
		}
	}
	return all, err
}

// add adds to the count of an outcome.
func (a *Stats) add(what string, n int64) {
	if what == "ms" {
		a.Waited += time.Duration(n) * time.Millisecond
	} else if counter := map[string]*int64{
		"opened": &a.Opened, "answered": &a.Answered, "clarified": &a.Clarified, "expired": &a.Expired,
		"cancelled": &a.Cancelled, "held": &a.Held, "approve": &a.Approved, "deny": &a.Denied,
	}[what]; counter != nil {
		*counter += n
	}
}
