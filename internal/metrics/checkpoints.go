package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ringback/internal/job"
	"ringback/internal/store"
)

// StatsFunc returns the outcomes of checkpoints, by type.
type StatsFunc func(ctx context.Context) (map[job.CheckpointType]store.Stats, error)

// checkpoints collects the counts that the store has for all nodes.
type checkpoints struct{ stats StatsFunc }

var (
	checkpointsTotal = prometheus.NewDesc("ringback_checkpoints_total",
		"Questions put to people, by type and by what became of them; of all nodes.", []string{"type", "outcome"}, nil)
	decisionsTotal = prometheus.NewDesc("ringback_decisions_total",
		"Decisions of people, by type of checkpoint; of all nodes.", []string{"type", "decision"}, nil)
	heldTotal = prometheus.NewDesc("ringback_checkpoints_answered_while_held_total",
		"Questions that were answered in the turn that asked; of all nodes.", []string{"type"}, nil)
	waitSeconds = prometheus.NewDesc("ringback_checkpoint_wait_seconds_total",
		"Time from question to answer, summed over the answered ones; of all nodes.", []string{"type"}, nil)
)

// Describe implements prometheus.Collector.
func (c checkpoints) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{checkpointsTotal, decisionsTotal, heldTotal, waitSeconds} {
		to <- d
	}
}

// Collect implements prometheus.Collector. It collects nothing while the store is
// unavailable.
func (c checkpoints) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	all, err := c.stats(ctx)
	if err != nil {
		return
	}
	count := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, n, labels...)
	}
	for _, t := range job.CheckpointTypes {
		s, name := all[t], string(t)
		count(checkpointsTotal, float64(s.Opened), name, "opened")
		count(checkpointsTotal, float64(s.Answered), name, "answered")
		count(checkpointsTotal, float64(s.Clarified), name, "clarified")
		count(checkpointsTotal, float64(s.Expired), name, "expired")
		count(checkpointsTotal, float64(s.Cancelled), name, "cancelled")
		count(heldTotal, float64(s.Held), name)
		count(waitSeconds, s.Waited.Seconds(), name)
		if t.Binding() {
			count(decisionsTotal, float64(s.Approved), name, "approve")
			count(decisionsTotal, float64(s.Denied), name, "deny")
		}
	}
}
