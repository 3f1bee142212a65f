package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collector collects metrics of one type that are read for each scrape.
type collector struct {
	valueType prometheus.ValueType
	descs     []*prometheus.Desc
	// read passes the current values to set. It leaves out those that it cannot read, such as those of
	// the store while that is unavailable.
	read func(ctx context.Context, set setFunc)
}

type setFunc func(d *prometheus.Desc, value float64, labels ...string)

// readTimeout is the time that the store has to respond.
const readTimeout = 2 * time.Second

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	c.read(ctx, func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, c.valueType, value, labels...)
	})
}
