package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// expiry collects when the certificates of listeners expire, each time that it is asked.
type expiry struct {
	desc *prometheus.Desc

	mu      sync.Mutex
	configs []*tls.Config // of listeners that are open
}

func newExpiry() *expiry {
	return &expiry{desc: prometheus.NewDesc("equivcnp_certificate_expiry_seconds", "Time until a certificate expires, negative "+
		"afterwards: of the server, or the first to expire of the authorities of clients (client_ca).", []string{"certificate"}, nil)}
}

// add has the certificates of a listener collected until remove is called.
func (e *expiry) add(c *tls.Config) (remove func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.configs = append(e.configs, c)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if i := slices.Index(e.configs, c); i >= 0 {
			e.configs = slices.Delete(e.configs, i, i+1)
		}
	}
}

// Describe is that of prometheus.Collector.
func (e *expiry) Describe(to chan<- *prometheus.Desc) { to <- e.desc }

// Collect is that of prometheus.Collector.
func (e *expiry) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	var all ends
	for _, c := range e.configs {
		now := endsOf(c)
		all.server, all.clients = earlier(all.server, now.server), earlier(all.clients, now.clients)
	}
	e.mu.Unlock()
	for _, m := range []struct {
		certificate string
		end         time.Time
	}{{"server", all.server}, {"client_ca", all.clients}} {
		if !m.end.IsZero() {
			to <- prometheus.MustNewConstMetric(e.desc, prometheus.GaugeValue, time.Until(m.end).Seconds(), m.certificate)
		}
	}
}

// ends are when certificates expire: the first of the server, and the first of the authorities of clients. Zero times are not known.
type ends struct{ server, clients time.Time }

// earlier is the earlier of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// endQuestion asks the configuration that Certificates returns when its certificates expire, in the place of a client's connection: a pool
// of authorities does not tell.
type endQuestion struct {
	net.Conn
	ends ends
}

// endsOf returns when the certificates of a configuration expire. Of one that Certificates did not make, those of its own list count.
func endsOf(c *tls.Config) (out ends) {
	if c.GetConfigForClient != nil {
		ask := &endQuestion{}
		if now, err := c.GetConfigForClient(&tls.ClientHelloInfo{Conn: ask}); err == nil && now != nil {
			c = now
		}
		if out = ask.ends; !out.server.IsZero() {
			return out
		}
	}
	for _, pair := range c.Certificates {
		leaf := pair.Leaf
		if leaf == nil && len(pair.Certificate) > 0 {
			leaf, _ = x509.ParseCertificate(pair.Certificate[0]) // nil if it cannot be read
		}
		if leaf != nil {
			out.server = earlier(out.server, leaf.NotAfter)
		}
	}
	return out
}

// firstEnd returns when the first of the certificates of a PEM file expires, the zero time if there is none.
func firstEnd(file []byte) (end time.Time) {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			end = earlier(end, c.NotAfter)
		}
	}
	return end
}
