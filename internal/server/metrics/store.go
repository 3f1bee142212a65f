package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ringback/internal/job"
)

// Reads provides the values that the store has for all nodes.
type Reads struct {
	// Stats returns the outcomes of questions to people, and Limits Claude's rate limits.
	Stats  func(ctx context.Context) (map[job.CheckpointType]job.CheckpointCounts, error)
	Limits func(ctx context.Context) ([]job.Limit, error)
	// Notices returns the numbers of undelivered notifications, and Oldest how long the
	// oldest queued job of each priority has waited.
	Notices func(ctx context.Context) ([]job.NotificationCount, error)
	Oldest  func(ctx context.Context) (map[job.Priority]time.Duration, error)
}

var (
	checkpointsTotal = prometheus.NewDesc("ringback_checkpoints_total",
		"Questions to people, by type and outcome; of all nodes.", []string{"type", "outcome"}, nil)
	decisionsTotal = prometheus.NewDesc("ringback_decisions_total",
		"Decisions of people, by type of checkpoint; of all nodes.", []string{"type", "decision"}, nil)
	heldTotal = prometheus.NewDesc("ringback_checkpoints_answered_while_held_total",
		"Questions answered within the turn that asked; of all nodes.", []string{"type"}, nil)
	waitSeconds = prometheus.NewDesc("ringback_checkpoint_wait_seconds_total",
		"Total time from question to answer, in seconds, over all answered questions; of all nodes.", []string{"type"}, nil)
	limited = prometheus.NewDesc("ringback_claude_limited",
		"Claude accounts that are rate-limited, so that none of their jobs is started, by limit; of all nodes.", []string{"code"}, nil)
	limitEnd = prometheus.NewDesc("ringback_claude_limit_end_seconds",
		"Time of the next attempt of a rate-limited account, in seconds since 1970; of all nodes.", []string{"code"}, nil)
	notifications = prometheus.NewDesc("ringback_notifications",
		"Undelivered notifications, by receiver and status: waiting (to be retried) or given_up; of all nodes.",
		[]string{"receiver", "status"}, nil)
	oldestQueued = prometheus.NewDesc("ringback_oldest_queued_seconds",
		"Time that the oldest job of a priority has waited for a worker, in seconds, 0 if none waits; of all nodes.", []string{"priority"}, nil)
)

func (r Reads) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		collector{prometheus.CounterValue, r.checkpoints},
		collector{prometheus.GaugeValue, r.limits},
		collector{prometheus.GaugeValue, r.notices},
		collector{prometheus.GaugeValue, r.oldest},
	}
}

func (r Reads) checkpoints(ctx context.Context, set setFunc) {
	all, err := r.Stats(ctx)
	if err != nil {
		return
	}
	for _, t := range job.CheckpointTypes {
		s, name := all[t], string(t)
		set(checkpointsTotal, float64(s.Opened), name, "opened")
		set(checkpointsTotal, float64(s.Answered), name, "answered")
		set(checkpointsTotal, float64(s.Clarified), name, "clarified")
		set(checkpointsTotal, float64(s.Expired), name, "expired")
		set(checkpointsTotal, float64(s.Cancelled), name, "cancelled")
		set(heldTotal, float64(s.Held), name)
		set(waitSeconds, s.Waited.Seconds(), name)
		if t.Binding() {
			set(decisionsTotal, float64(s.Approved), name, "approve")
			set(decisionsTotal, float64(s.Denied), name, "deny")
		}
	}
}

func (r Reads) limits(ctx context.Context, set setFunc) {
	all, err := r.Limits(ctx)
	if err != nil {
		return
	}
	reached, end := map[job.Code]int{}, map[job.Code]time.Time{}
	for _, l := range all {
		if reached[l.Code]++; reached[l.Code] == 1 || l.Until.Before(end[l.Code]) {
			end[l.Code] = l.Until
		}
	}
	for _, code := range job.LimitCodes {
		set(limited, float64(reached[code]), string(code))
		if reached[code] > 0 {
			set(limitEnd, float64(end[code].Unix()), string(code))
		}
	}
}

func (r Reads) notices(ctx context.Context, set setFunc) {
	counts, _ := r.Notices(ctx)
	for _, c := range counts {
		set(notifications, float64(c.Waiting), string(c.Receiver), string(job.NotificationWaiting))
		set(notifications, float64(c.GivenUp), string(c.Receiver), string(job.NotificationGivenUp))
	}
}

func (r Reads) oldest(ctx context.Context, set setFunc) {
	waited, err := r.Oldest(ctx)
	if err != nil {
		return
	}
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		set(oldestQueued, waited[priority].Seconds(), string(priority))
	}
}
