package serve

import (
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// bytesGauge bounds the bytes of requests and answers that are under way.
type bytesGauge struct {
	mu          sync.Mutex
	used, limit int64
	metrics     *metrics
}

// take reserves bytes, or refuses.
func (g *bytesGauge) take(n int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > g.limit {
		return tooLarge("the request and its answer take %v, at most %v are allowed", cnp.Bytes(n), cnp.Bytes(g.limit))
	}
	if g.used+n > g.limit {
		return overloaded("bytes", time.Second, "requests of %v are under way, at most %v may be", cnp.Bytes(g.used), cnp.Bytes(g.limit))
	}
	g.used += n
	g.metrics.bytes.Set(float64(g.used))
	return nil
}

func (g *bytesGauge) give(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used -= n
	g.metrics.bytes.Set(float64(g.used))
}
