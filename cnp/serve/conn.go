package serve

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// connKey is the context's key of a request's connection.
type connKey struct{}

// connOf returns the connection of a request, below TLS where there is any; nil if it is none that is counted.
func connOf(ctx context.Context) *countedConn {
	c := ctx.Value(connKey{})
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = secure.NetConn()
	}
	counted, _ := c.(*countedConn)
	return counted
}

// countedConn is a connection that knows which requests are under way. A client may close its side once it has asked. net/http would take
// the end of what it reads for the end of the client, and stop; so the end is hidden while a prediction is computed, and a client that
// has gone is noticed when its answer is written. Under TLS halfConn does so for close_notify; over HTTP/2, where a request has an end of
// its own, net/http alone sees it, and whoever says it is not waited for.
type countedConn struct {
	net.Conn
	closed func() // called once

	once      sync.Once
	mu        sync.Mutex
	requests  int           // inference requests under way
	computing int           // of them those that have been read
	changed   chan struct{} // closed when a read that hides the end should look again
	past      bool          // the deadline for reading is over
}

// readGrace is how long the end of a connection is hidden while a request is read: when all of it has come, it is computed within this
// time.
const readGrace = time.Second

// add counts requests, and those that are computed. c may be nil.
func (c *countedConn) add(requests, computing int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests += requests
	c.computing += computing
	c.wake()
}

// wake has a read that hides the end look again. The caller holds mu.
func (c *countedConn) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Read reads, and hides the end while a request is under way.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != io.EOF || n > 0 {
		return n, err
	}
	return 0, c.end()
}

// end waits while a request is under way and the end of what is read is hidden, and returns the error of that end.
func (c *countedConn) end() error {
	grace := time.NewTimer(readGrace)
	defer grace.Stop()
	over := grace.C
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.requests > 0 && !c.past && (over != nil || c.computing > 0) {
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-over:
			over = nil
		}
		c.mu.Lock()
	}
	if c.past {
		return os.ErrDeadlineExceeded
	}
	return io.EOF
}

func (c *countedConn) deadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.past = !t.IsZero() && !t.After(time.Now()); c.past {
		c.wake()
	}
}

// SetReadDeadline ends a read that hides the end, if the deadline is over.
func (c *countedConn) SetReadDeadline(t time.Time) error {
	c.deadline(t)
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline is SetReadDeadline for both directions.
func (c *countedConn) SetDeadline(t time.Time) error {
	c.deadline(t)
	return c.Conn.SetDeadline(t)
}

// Close closes the connection, and ends what is hidden.
func (c *countedConn) Close() error {
	c.once.Do(c.closed)
	c.mu.Lock()
	c.requests = 0
	c.wake()
	c.mu.Unlock()
	return c.Conn.Close()
}
