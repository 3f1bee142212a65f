package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ringback/internal/job"
)

// Reads read of the store what it has for all nodes.
type Reads struct {
	// Stats say what became of the questions to people, Limits at which limits Claude is.
	Stats  StatsFunc
	Limits LimitsFunc
	// Notices count the notifications that have not got through, Oldest says for how long the
	// oldest job of each priority has waited.
	Notices func(ctx context.Context) ([]job.NotificationCount, error)
	Oldest  func(ctx context.Context) (map[job.Priority]time.Duration, error)
}

// waiting shows what waits.
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

// Collect implements prometheus.Collector. While the store is away, there is nothing to
// show.
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
