package serve

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/equivcnp/equivcnp/simd"
)

// metrics are what a server counts, in a registry of its own.
type metrics struct {
	registry *prometheus.Registry

	requests    *prometheus.CounterVec // by model, protocol and status
	latency     *prometheus.HistogramVec
	refused     *prometheus.CounterVec // by reason
	waited      prometheus.Histogram
	batch       prometheus.Histogram
	waiting     prometheus.Gauge
	bytes       prometheus.Gauge
	memory      prometheus.Gauge
	planHits    prometheus.Counter
	planMisses  prometheus.Counter
	planSeconds prometheus.Histogram
	models      prometheus.Gauge
	loads       *prometheus.CounterVec // by outcome
	connections prometheus.Gauge
	expiry      *expiry
}

// reasons are the labels of the counter of refused requests.
var reasons = []string{"queue", "deadline", "bytes", "share", "memory", "size", "connections", "token", "origin"}

func newMetrics(opt Options) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "equivcnp", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "equivcnp", Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "equivcnp", Name: name, Help: help}, labels)
	}
	seconds := []float64{0.0005} // doubled up to the timeout, which no request takes much longer than
	for last := 0.0005; last < opt.Timeout.Seconds() || len(seconds) < 16; {
		last *= 2
		seconds = append(seconds, last)
	}
	histogram := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "equivcnp", Name: name, Help: help, Buckets: buckets}
	}
	m.requests = counters("requests_total", "Inference requests, by model, protocol and HTTP status.", "model", "protocol", "status")
	m.latency = prometheus.NewHistogramVec(histogram("request_seconds", "Time from a request's header to its answer.", seconds),
		[]string{"model", "protocol"})
	m.refused = counters("refused_total", "Requests refused, by reason: "+strings.Join(reasons, ", ")+".", "reason")
	for _, reason := range reasons { // a counter that begins with its first event shows no increase
		m.refused.WithLabelValues(reason)
	}
	m.waited = prometheus.NewHistogram(histogram("queue_seconds", "Time in the queue.", seconds))
	m.batch = prometheus.NewHistogram(histogram("batch_tasks", "Tasks or images of a batch.", prometheus.ExponentialBuckets(1, 2, 9)))
	m.waiting = gauge("queue_tasks", "Tasks and images that wait.")
	m.bytes = gauge("request_bytes", "Bytes of requests and answers under way.")
	m.memory = gauge("plan_bytes", "Bytes of models and plans.")
	m.planHits = counter("plan_hits_total", "Requests whose plan was there, or being made.")
	m.planMisses = counter("plan_misses_total", "Requests for which a plan was begun.")
	m.planSeconds = prometheus.NewHistogram(histogram("plan_seconds", "Time to make a plan.", seconds))
	m.models = gauge("models", "Models that are served.")
	m.loads = counters("model_loads_total", "Model files read, by outcome: ok, failed.", "outcome")
	m.loads.WithLabelValues("ok")
	m.loads.WithLabelValues("failed")
	m.connections = gauge("connections", "Open connections.")
	m.expiry = newExpiry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "equivcnp", Name: "build_info",
		Help: "1, with what the program was built from as labels."},
		[]string{"version", "revision", "modified", "goversion", "simd"})
	revision, modified := buildOf()
	build.WithLabelValues(opt.Version, revision, modified, runtime.Version(), fmt.Sprint(simd.CurrentLevel())).Set(1)
	m.registry.MustRegister(build, m.requests, m.latency, m.refused, m.waited, m.batch, m.waiting, m.bytes, m.memory, m.planHits,
		m.planMisses,
		m.planSeconds, m.models, m.loads, m.connections, m.expiry, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// answered counts a request. model is empty where there is none of that name, so that clients cannot make up labels.
func (m *metrics) answered(model, protocol string, start time.Time, f *failure) {
	status := 200
	if f != nil {
		status = f.status
		if f.reason != "" {
			m.refused.WithLabelValues(f.reason).Inc()
		}
	}
	m.requests.WithLabelValues(model, protocol, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(model, protocol).Observe(time.Since(start).Seconds())
}

// buildOf is the revision that the program was built from, and whether files were changed since, as far as the Go command recorded it.
func buildOf() (revision, modified string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value
		}
	}
	return revision, modified
}
