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
		s, of := all[t], string(t)
		for outcome, count := range map[string]int64{
			"opened": s.Opened, "answered": s.Answered, "clarified": s.Clarified, "expired": s.Expired, "cancelled": s.Cancelled,
		} {
			set("ringback_checkpoints_total", "Questions to people, by type and outcome; of all nodes.", float64(count),
				"type", of, "outcome", outcome)
		}
		set("ringback_checkpoints_answered_while_held_total", "Questions answered within the turn that asked; of all nodes.",
			float64(s.Held), "type", of)
		set("ringback_checkpoint_wait_seconds_total",
			"Total time from question to answer, in seconds, over all answered questions; of all nodes.", s.Waited.Seconds(), "type", of)
		if !t.Binding() {
			continue
		}
		for decision, count := range map[string]int64{"approve": s.Approved, "deny": s.Denied} {
			set("ringback_decisions_total", "Decisions of people, by type of checkpoint; of all nodes.", float64(count),
				"type", of, "decision", decision)
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
		set("ringback_claude_limited",
			"Claude accounts that are rate-limited, so that none of their jobs is started, by limit; of all nodes.",
			float64(reached[code]), "code", string(code))
		if reached[code] > 0 {
			set("ringback_claude_limit_end_seconds",
				"Time of the next attempt of a rate-limited account, in seconds since 1970; of all nodes.",
				float64(end[code].Unix()), "code", string(code))
		}
	}
}

func (r Reads) notices(ctx context.Context, set setFunc) {
	counts, _ := r.Notices(ctx)
	for _, c := range counts {
		for status, count := range map[job.NotificationStatus]int64{
			job.NotificationWaiting: c.Waiting, job.NotificationGivenUp: c.GivenUp,
		} {
			set("ringback_notifications",
				"Undelivered notifications, by receiver and status: waiting (to be retried) or given_up; of all nodes.",
				float64(count), "receiver", string(c.Receiver), "status", string(status))
		}
	}
}

func (r Reads) oldest(ctx context.Context, set setFunc) {
	waited, err := r.Oldest(ctx)
	if err != nil {
		return
	}
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		set("ringback_oldest_queued_seconds",
			"Time that the oldest job of a priority has waited for a worker, in seconds, 0 if none waits; of all nodes.",
			waited[priority].Seconds(), "priority", string(priority))
	}
}
