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

	"ringback/internal/guard"
	"ringback/internal/job"
	"ringback/internal/store"
)

// Metrics are this node's counters.
type Metrics struct {
	registry  *prometheus.Registry
	callbacks *prometheus.HistogramVec
	events    *prometheus.CounterVec
	refused   *prometheus.CounterVec
	ended     *prometheus.CounterVec
}

// Node tells what a node holds now.
type Node struct {
	// Clients are its WebSockets, Running its turns; Blocked is 1 while none can start there.
	Clients, Running, Blocked func() int
	// Connections are its connections: how many are open and may be, and how many were
	// closed or refused because there were too many.
	Connections func() guard.Stats
}

// New returns counters at zero. stats tells what became of the questions to people,
// limited at which limits Claude is.
func New(node Node, stats StatsFunc, limited LimitsFunc) *Metrics {
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
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_websockets_refused_total", Help: "WebSockets that were turned away, by the limit: user, address or node.",
		}, []string{"limit"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_jobs_ended_total",
			Help: "Jobs that this node has ended, by kind, status and error code: sum over the nodes.",
		}, []string{"kind", "status", "code"}),
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	count := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(m.callbacks, m.events, m.refused, m.ended, checkpoints{stats}, limits{limited}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("ringback_websocket_clients", "WebSocket connections of this node.", node.Clients),
		gauge("ringback_running_turns", "CLI processes of this node.", node.Running),
		gauge("ringback_turns_blocked", "1 while this node cannot start turns, such as with a full disk; /readyz says why.", node.Blocked),
		gauge("ringback_connections", "Open connections of this node, WebSockets among them.", func() int { return node.Connections().Open }),
		gauge("ringback_connections_limit", "How many connections this node takes.", func() int { return node.Connections().Limit }),
		count("ringback_connections_shed_total", "Connections without a request that were closed for others.", func() int { return node.Connections().Shed }),
		count("ringback_calls_refused_total", "Calls of the API that were answered 503 because there were too many.", func() int { return node.Connections().Refused }))
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

// WebSocketRefused counts a WebSocket that was turned away by one of hub.Limits.
func (m *Metrics) WebSocketRefused(limit string) { m.refused.WithLabelValues(limit).Inc() }

// Ended counts a job that this node has ended; code is empty for one with a result.
func (m *Metrics) Ended(kind string, status job.State, code job.Code) {
	m.ended.WithLabelValues(kind, string(status), string(code)).Inc()
}

// Event counts an event.
func (m *Metrics) Event(e store.EventEnvelope) {
	if !strings.HasPrefix(e.UserID, job.ReservedUserPrefix) { // what the server does on its own behalf is no job of theirs
		m.events.WithLabelValues(string(e.Type)).Inc()
	}
}
