package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// spare is how many threads are for clients while so many others compute. With more than they need, Go wakes a second one whenever a
// request comes, to look for work that is not there, on a processor that computes.
func spare(threads int) int { return 1 + threads/8 }

// SpareThreads computes on so many threads, and gives Go some more, so that clients are answered at once while models compute: what
// computes leaves its thread only now and then. It is for programs that do nothing but serve, and returns what undoes it. At most 1024
// threads compute; 0 or less are as many as Go takes.
func SpareThreads(threads int) (undo func()) {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = min(threads, maxSlots)
	limit, procs := parallel.SetLimit(threads), runtime.GOMAXPROCS(threads+spare(threads))
	return func() {
		parallel.SetLimit(limit)
		runtime.GOMAXPROCS(procs)
	}
}

// Limits are those of connections. Zero values have sensible meanings.
type Limits struct {
	Connections int // open at a time (10,000); others are closed at once
	Header      int // bytes of a request's header (64 kB)
	// HeaderTime bounds the time that a client has for a header (10 s), IdleTime how long a connection waits for the next
	// request (5 minutes).
	HeaderTime, IdleTime time.Duration
	// Streams bounds the requests that an HTTP/2 connection has under way at a time (1000).
	Streams int
	// TLS, if not nil, is spoken instead of plain TCP.
	TLS *tls.Config
	// Linger is the time for which requests are still taken after the end was asked for, while readiness already says no,
	// so that whoever sends them learns of it; Drain is how long those under way then have (30 s).
	Linger, Drain time.Duration
}

// check refuses limits under which nobody would be answered, by their names.
func (l *Limits) check() error {
	return checkBounds("serve: limits", []bounds{
		{"Connections", l.Connections, 0, math.MaxInt32}, {"Header", l.Header, 0, 1 << 28}, {"Streams", l.Streams, 0, math.MaxInt32},
		{"HeaderTime", l.HeaderTime, 0, math.MaxInt64}, {"IdleTime", l.IdleTime, 0, math.MaxInt64},
		{"Linger", l.Linger, 0, int64(24 * time.Hour)}, {"Drain", l.Drain, 0, math.MaxInt64},
	})
}

// Serve answers the connections of a listener until ctx is done, then stops gracefully: readiness is off, after Limits.Linger the
// listener is closed, and requests under way, queued ones among them, are answered. It returns nil, or the error that ended it, and
// an error if requests were left after Limits.Drain.
func (s *Server) Serve(ctx context.Context, l net.Listener, limits Limits) error {
	if l == nil {
		return errors.New("serve: no listener")
	}
	if err := limits.check(); err != nil {
		return err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	counted := &countedListener{Listener: l, most: int64(cmp.Or(limits.Connections, 10000)), metrics: s.metrics}
	server := &http.Server{
		Handler: s, Protocols: protocols, TLSConfig: limits.TLS,
		MaxHeaderBytes:    cmp.Or(limits.Header, 64<<10),
		ReadHeaderTimeout: cmp.Or(limits.HeaderTime, 10*time.Second),
		IdleTimeout:       cmp.Or(limits.IdleTime, 5*time.Minute),
		// A stream's deadline resets it, which its client must read, too: one that reads nothing at all loses the connection.
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: cmp.Or(limits.Streams, 1000), WriteByteTimeout: patience},
		ErrorLog: log.New(errorLog{s.log}, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(context.WithValue(ctx, shareKey{}, &share{}), connKey{}, c)
		},
	}
	if limits.TLS != nil {
		defer s.metrics.expiry.add(limits.TLS)()
	}
	ended := make(chan error, 1)
	go func() {
		if limits.TLS != nil {
			ended <- server.Serve(newSecureListener(counted, limits.TLS, server.ReadHeaderTimeout, func(c net.Conn, err error) {
				s.log.Debug("TLS handshake", "client", c.RemoteAddr().String(), "error", err.Error())
			}))
		} else {
			ended <- server.Serve(counted)
		}
	}()
	s.log.Info("listening", "address", l.Addr().String(), "tls", limits.TLS != nil)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.Info("stopping: readiness is off", "linger_seconds", limits.Linger.Seconds())
	time.Sleep(limits.Linger)
	drain, cancel := context.WithTimeout(context.Background(), cmp.Or(limits.Drain, 30*time.Second))
	defer cancel()
	err := server.Shutdown(drain)
	if err != nil {
		server.Close()
		err = errors.New("serve: requests were left when the time to stop was over")
	}
	<-ended
	s.log.Info("stopped")
	return err
}

// ListenAndServe is Serve on a TCP address.
func (s *Server) ListenAndServe(ctx context.Context, address string, limits Limits) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l, limits)
}

// countedListener bounds the connections that are open.
type countedListener struct {
	net.Listener
	most    int64
	metrics *metrics

	mu   sync.Mutex
	open int64
}

func (l *countedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.add(1) {
			return &countedConn{Conn: c, closed: func() { l.add(-1) }}, nil
		}
		l.metrics.refused.WithLabelValues("connections").Inc()
		c.Close()
	}
}

// add counts connections, unless there would be too many.
func (l *countedListener) add(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.open+n > l.most {
		return false
	}
	l.open += n
	l.metrics.connections.Set(float64(l.open))
	return true
}

// errorLog sorts what net/http writes: of the listener as warnings, panics as errors, and what single clients do wrong for those who look
// for it.
type errorLog struct{ log *slog.Logger }

func (e errorLog) Write(b []byte) (int, error) {
	text, level := strings.TrimSpace(string(b)), slog.LevelDebug
	switch {
	case strings.Contains(text, "Accept error"):
		level = slog.LevelWarn
	case strings.Contains(text, "panic serving"):
		level = slog.LevelError
	}
	e.log.Log(context.Background(), level, text)
	return len(b), nil
}
