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
	Stats  StatsFunc
	Limits LimitsFunc
	// Notices returns the numbers of undelivered notifications, and Oldest how long the
	// oldest queued job of each priority has waited.
	Notices func(ctx context.Context) ([]job.NotificationCount, error)
	Oldest  func(ctx context.Context) (map[job.Priority]time.Duration, error)
}

// waiting collects what waits.
type waiting struct{ reads Reads }

var (
	notifications = prometheus.NewDesc("ringback_notifications",
		"Notifications that have not got through, by receiver: waiting for another try, or given up; of all nodes.", []string{"receiver", "status"}, nil)
	oldestQueued = prometheus.NewDesc("ringback_oldest_queued_seconds",
		"For how long the oldest job of a priority has waited for a worker, 0 if none waits; of all nodes.", []string{"priority"}, nil)
)

// Describe implements prometheus.Collector.
func (w waiting) Describe(to chan<- *prometheus.Desc) {
	to <- notifications
	to <- oldestQueued
}

// Collect implements prometheus.Collector. It collects nothing while the store is
// unavailable.
func (w waiting) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if counts, err := w.reads.Notices(ctx); err == nil {
		for _, c := range counts {
			gauge(notifications, float64(c.Waiting), string(c.Receiver), string(job.NotificationWaiting))
			gauge(notifications, float64(c.GivenUp), string(c.Receiver), string(job.NotificationGivenUp))
		}
	}
	if oldest, err := w.reads.Oldest(ctx); err == nil {
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			gauge(oldestQueued, oldest[priority].Seconds(), string(priority))
		}
	}
}
