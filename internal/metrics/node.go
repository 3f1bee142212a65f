package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// state collects the properties and the state of a node.
type state struct{ node Node }

var (
	info = prometheus.NewDesc("ringback_info",
		"1, with the version of this node and the format in which it writes the store.", []string{"version", "format"}, nil)
	heartbeat = prometheus.NewDesc("ringback_last_heartbeat_timestamp_seconds",
		"When this node last gave a sign of life that reached the store, in seconds since 1970.", nil, nil)
	dataDirFree = prometheus.NewDesc("ringback_data_dir_free_bytes",
		"Room for this node on the file system of DATA_DIR.", nil, nil)
	dataDirSize = prometheus.NewDesc("ringback_data_dir_size_bytes",
		"Size of the file system of DATA_DIR.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{info, heartbeat, dataDirFree, dataDirSize} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Unknown values are left out.
func (s state) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(info, 1, s.node.Version, strconv.Itoa(s.node.Format))
	if at := s.node.Heartbeat(); !at.IsZero() {
		gauge(heartbeat, float64(at.UnixMilli())/1000)
	}
	if free, total, err := s.node.FreeSpace(); err == nil {
		gauge(dataDirFree, float64(free))
		gauge(dataDirSize, float64(total))
	}
}
