package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ringback/internal/job"
)

// LimitsFunc returns the rate limits that Claude's accounts have reached.
type LimitsFunc func(ctx context.Context) ([]job.Limit, error)

// limits collects the rate limits that the store has for all nodes.
type limits struct{ read LimitsFunc }

var (
	limited = prometheus.NewDesc("ringback_claude_limited",
		"Accounts of Claude's that are at a limit, so that no job of theirs is started, by which; of all nodes.", []string{"code"}, nil)
	limitEnd = prometheus.NewDesc("ringback_claude_limit_end_seconds",
		"When the first of them tries again, in seconds since 1970; of all nodes.", []string{"code"}, nil)
)

// Describe implements prometheus.Collector.
func (l limits) Describe(to chan<- *prometheus.Desc) {
	to <- limited
	to <- limitEnd
}

// Collect implements prometheus.Collector. It collects nothing while the store is
// unavailable.
func (l limits) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	all, err := l.read(ctx)
	if err != nil {
		return
	}
	for _, code := range job.LimitCodes {
		n, end := 0, time.Time{}
		for _, one := range all {
			if one.Code != code {
				continue
			}
			if n++; end.IsZero() || one.Until.Before(end) {
				end = one.Until
			}
		}
		to <- prometheus.MustNewConstMetric(limited, prometheus.GaugeValue, float64(n), string(code))
		if n > 0 {
			to <- prometheus.MustNewConstMetric(limitEnd, prometheus.GaugeValue, float64(end.Unix()), string(code))
		}
	}
}
