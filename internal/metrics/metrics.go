// Package metrics counts what operators watch: callbacks, how jobs end, and
// what this node holds.
package metrics

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ringback/internal/job"
	"ringback/internal/store"
)

// Metrics are this node's counters.
type Metrics struct {
	registry  *prometheus.Registry
	callbacks *prometheus.HistogramVec
	events    *prometheus.CounterVec
}

// New returns counters at zero. clients and running tell what the node holds now,
// stats what became of the questions to people.
func New(clients, running func() int, stats StatsFunc) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		callbacks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ringback_callback_seconds", Help: "Time to answer a callback, by endpoint and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 60},
		}, []string{"endpoint", "status"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_events_total",
			Help: "Events of all nodes as seen by this one, by what happened: received against error is the success rate.",
		}, []string{"happening"}),
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(m.callbacks, m.events, checkpoints{stats}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("ringback_websocket_clients", "WebSocket connections of this node.", clients),
		gauge("ringback_running_turns", "CLI processes of this node.", running))
	return m
}

// Handler serves the counters to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Callback counts an answered callback.
func (m *Metrics) Callback(endpoint string, status int, took time.Duration) {
	m.callbacks.WithLabelValues(endpoint, strconv.Itoa(status)).Observe(took.Seconds())
}

// Event counts an event.
func (m *Metrics) Event(e store.EventEnvelope) {
	if !strings.HasPrefix(e.UserID, job.ReservedUserPrefix) { // what the server does on its own behalf is no job of theirs
		m.events.WithLabelValues(string(e.Type)).Inc()
	}
}
