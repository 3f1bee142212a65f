package store

import (
	"context"
	"strconv"
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

// Plus returns the sum of two counts.
func (a Stats) Plus(b Stats) Stats {
	return Stats{
		Opened: a.Opened + b.Opened, Answered: a.Answered + b.Answered,
		Clarified: a.Clarified + b.Clarified, Expired: a.Expired + b.Expired,
		Cancelled: a.Cancelled + b.Cancelled, Held: a.Held + b.Held,
		Approved: a.Approved + b.Approved, Denied: a.Denied + b.Denied, Waited: a.Waited + b.Waited,
	}
}

// Stats returns the counts by type of checkpoint, over all nodes.
func (s *Store) Stats(ctx context.Context) (map[job.CheckpointType]Stats, error) {
	counts, err := readEach(ctx, s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, p.key("stats"))
	})
	all := map[job.CheckpointType]Stats{}
	for _, part := range counts {
		for name, text := range part {
			kind, what, _ := strings.Cut(name, ":")
			n, _ := strconv.ParseInt(text, 10, 64)
			stats := all[job.CheckpointType(kind)]
			stats.add(what, n)
			all[job.CheckpointType(kind)] = stats
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
