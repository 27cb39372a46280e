package serve

import (
	"context"
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// bytesGauge bounds the bytes of requests and answers that are under way.
type bytesGauge struct {
	mu          sync.Mutex
	used, limit int64
	clients     map[string]*share // that have requests
	metrics     *metrics
}

// share counts what the requests of one connection, or of one client, have reserved. Its fields are guarded by the gauge's mutex.
type share struct {
	used     int64
	requests int
}

// shareKey is the context's key of a connection's share.
type shareKey struct{}

// reservation holds the bytes that one request has reserved, for itself and its answer, until it is released.
type reservation struct {
	gauge *bytesGauge
	share *share // nil: the request came over no connection that is counted, or that of a proxy
	name  string // of the client; empty: nobody said
	own   *share // the client's
	conn  *countedConn
	bytes int64
}

// open begins the reservation of a request.
func (g *bytesGauge) open(ctx context.Context) *reservation {
	r := &reservation{gauge: g, conn: connOf(ctx), name: clientIn(ctx)}
	r.conn.add(1, 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.share, _ = ctx.Value(shareKey{}).(*share); r.share != nil {
		r.share.requests++
	}
	if r.own = g.clients[r.name]; r.own == nil {
		r.own = &share{}
		if r.name != "" {
			g.clients[r.name] = r.own
		}
	}
	r.own.requests++
	return r
}

// room is what a request of so many bytes finds: an eighth of the gauge is for small ones, so that a few that are large, and slow, do not
// hold up all others.
func (g *bytesGauge) room(bytes int64) int64 {
	if bytes <= g.limit/64 {
		return g.limit
	}
	return g.limit - g.limit/8
}

// forOne is what the requests of one client may hold together: a quarter stays for those that come, and half where others are there.
func (g *bytesGauge) forOne() int64 {
	if len(g.clients) > 1 {
		return g.limit / 2
	}
	return g.limit - g.limit/4
}

// take reserves bytes, or refuses. Requests that share a connection may hold half of the gauge together, those of one client that or
// three quarters; a request that has no other of its client beside it may hold more.
func (r *reservation) take(n int64) error {
	g := r.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	room := g.room(r.bytes + n)
	if r.bytes+n > room {
		return tooLarge("the request and its answer take %v, at most %v are allowed", cnp.Bytes(r.bytes+n), cnp.Bytes(room))
	}
	if g.used+n > room {
		return overloaded("bytes", time.Second, "requests of %v are under way, at most %v may be", cnp.Bytes(g.used), cnp.Bytes(room))
	}
	if s := r.share; s != nil {
		if s.requests > 1 && s.used+n > g.limit/2 {
			return overloaded("share", time.Second, "requests of %v are under way on this connection, at most %v may be", cnp.Bytes(s.used),
				cnp.Bytes(g.limit/2))
		}
	}
	if most := g.forOne(); r.own.requests > 1 && r.own.used+n > most {
		return overloaded("share", time.Second, "requests of %v are under way from this client, at most %v may be", cnp.Bytes(r.own.used),
			cnp.Bytes(most))
	}
	if r.share != nil {
		r.share.used += n
	}
	r.own.used += n
	r.bytes += n
	g.used += n
	g.metrics.bytes.Set(float64(g.used))
	return nil
}

// fits refuses n more bytes that could not be reserved now, without reserving them.
func (r *reservation) fits(n int64) error {
	g := r.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	if room := g.room(r.bytes + n); g.used+n > room && r.bytes+n <= room {
		return overloaded("bytes", time.Second, "requests of %v are under way, at most %v may be", cnp.Bytes(g.used), cnp.Bytes(room))
	}
	return nil
}

// release gives everything back. It may be called once.
func (r *reservation) release() {
	r.conn.add(-1, 0)
	g := r.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := r.share; s != nil {
		s.used -= r.bytes
		s.requests--
	}
	r.own.used -= r.bytes
	if r.own.requests--; r.own.requests == 0 {
		delete(g.clients, r.name)
	}
	g.used -= r.bytes
	r.bytes = 0
	g.metrics.bytes.Set(float64(g.used))
}
