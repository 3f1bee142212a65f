// Package metrics collects metrics for operators: callbacks, outcomes of jobs, and the
// state of this node and the store.
package metrics

import (
	"cmp"
	"context"
	"net/http"
	"slices"
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
	refused   *prometheus.CounterVec
	ended     *prometheus.CounterVec
	actions   *prometheus.CounterVec
	firstTurn *prometheus.HistogramVec
}

// Node provides the current state of a node.
type Node struct {
	// Version is the version of the node, and Format the format in which it writes the
	// store.
	Version string
	Format  int
	// Heartbeat returns the time of its last heartbeat that reached the store; zero if none
	// did.
	Heartbeat func() time.Time
	// FreeSpace returns the space on DATA_DIR's file system.
	FreeSpace func() (Space, error)
	// ClockOffset returns by how much Redis' clock is ahead of this node's.
	ClockOffset func() time.Duration
}

// Gauge is a number of this node, which is read on each scrape.
func Gauge(name, help string, value func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
}

// Counter is a Gauge that only rises.
func Counter(name, help string, value func() int) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
}

// Space is the free and the total space of a file system, in bytes, and the number of files (inodes) that it can
// still hold, and can hold together; 0 if that is unlimited.
type Space struct{ Free, Total, FreeFiles, Files uint64 }

func (n Node) state(_ context.Context, set setFunc) {
	set("ringback_info", "1, with the version of this node and the format in which it writes the store.", 1,
		"version", n.Version, "format", strconv.Itoa(n.Format))
	if at := n.Heartbeat(); !at.IsZero() {
		set("ringback_last_heartbeat_timestamp_seconds",
			"Time of the last heartbeat of this node that reached the store, in seconds since 1970.", float64(at.UnixMilli())/1000)
	}
	set("ringback_store_clock_offset_seconds",
		"Offset of the clock of Redis from this node's, in seconds; positive if Redis is ahead.", n.ClockOffset().Seconds())
	if space, err := n.FreeSpace(); err == nil {
		set("ringback_data_dir_free_bytes", "Free space on the file system of DATA_DIR, in bytes.", float64(space.Free))
		set("ringback_data_dir_size_bytes", "Size of the file system of DATA_DIR, in bytes.", float64(space.Total))
	}
}

// New returns metrics: counters that start at zero, and numbers that are read from the node
// and the store on each scrape.
func New(node Node, reads Reads, numbers ...prometheus.Collector) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		callbacks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ringback_callback_seconds", Help: "Time to respond to a callback, in seconds, by endpoint and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 60},
		}, []string{"endpoint", "status"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_events_total",
			Help: "Events of all nodes as seen by this one, by what happened: received against error is the success rate.",
		}, []string{"happening"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_websockets_refused_total", Help: "WebSockets refused, by the limit reached: user, address or node.",
		}, []string{"limit"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_jobs_ended_total",
			Help: "Jobs that this node has ended, by kind, status and error code: sum over the nodes.",
		}, []string{"kind", "status", "code"}),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ringback_actions_total",
			Help: "Actions that have ended, and what people have allowed, by action (finalize: a publication, tool: a tool call) and outcome, as recorded by this node: sum over the nodes.",
		}, []string{"action", "outcome"}),
		firstTurn: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ringback_first_turn_seconds", Help: "Time from a job's creation until its first turn started, on this node.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 1800, 7200, 43200},
		}, []string{"priority"}),
	}
	m.registry.MustRegister(numbers...)
	m.registry.MustRegister(reads.collectors()...)
	m.registry.MustRegister(m.callbacks, m.events, m.refused, m.ended, m.actions, m.firstTurn,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collector{prometheus.GaugeValue, node.state})
	return m
}

// Handler serves the counters to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Callback counts an answered callback.
func (m *Metrics) Callback(endpoint string, status int, took time.Duration) {
	code := "200" // most are answered so, and Itoa allocates
	if status != http.StatusOK {
		code = strconv.Itoa(status)
	}
	m.callbacks.WithLabelValues(endpoint, code).Observe(took.Seconds())
}

// WebSocketRefused counts a WebSocket that was rejected because of one of hub.Limits.
func (m *Metrics) WebSocketRefused(limit string) { m.refused.WithLabelValues(limit).Inc() }

// Ended counts a job that this node has ended; code is empty for one with a result.
func (m *Metrics) Ended(kind string, status job.State, code job.Code) {
	m.ended.WithLabelValues(kind, string(status), string(code)).Inc()
}

// Action counts an action that has ended, or something else that a person has allowed.
func (m *Metrics) Action(o job.Operation, outcome job.OutcomeStatus) {
	m.actions.WithLabelValues(cmp.Or(o.Action, "tool"), string(outcome)).Inc() // the names of tools are not bounded
}

// FirstTurn counts the start of a job's first turn, by the job's waiting time.
func (m *Metrics) FirstTurn(priority job.Priority, waited time.Duration) {
	m.firstTurn.WithLabelValues(string(priority)).Observe(waited.Seconds())
}

// Event counts an event.
func (m *Metrics) Event(e store.EventEnvelope) {
	if !strings.HasPrefix(e.UserID, job.ReservedUserPrefix) { // the server's own jobs do not count
		m.events.WithLabelValues(string(e.Type)).Inc()
	}
}

// collector collects metrics of one type that are read for each scrape.
type collector struct {
	valueType prometheus.ValueType
	// read passes the current values to set. It leaves out those that it cannot read, such as those of
	// the store while that is unavailable.
	read func(ctx context.Context, set setFunc)
}

// setFunc sets a metric. labels are names, each with its value behind it.
type setFunc func(name, help string, value float64, labels ...string)

// readTimeout is the time that the store has to respond.
const readTimeout = 2 * time.Second

// Describe implements prometheus.Collector. Not every metric is there on each scrape, so none is promised.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	c.read(ctx, func(name, help string, value float64, labels ...string) {
		var names, values []string
		for label := range slices.Chunk(labels, 2) {
			names, values = append(names, label[0]), append(values, label[1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), c.valueType, value, values...)
	})
}
