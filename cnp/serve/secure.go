package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// secureListener speaks TLS. It shakes hands itself, and hands on HTTP/2 as net/http knows it, HTTP/1.1 as a connection that hides the
// end of what a client sends.
type secureListener struct {
	net.Listener
	config   *tls.Config
	patience time.Duration // of a handshake
	failed   func(c net.Conn, err error)

	start    sync.Once
	accepted chan accepted
	ctx      context.Context
	stop     context.CancelFunc
}

type accepted struct {
	conn net.Conn
	err  error
}

// newSecureListener returns a listener over one whose connections are counted.
func newSecureListener(l net.Listener, config *tls.Config, patience time.Duration, failed func(net.Conn, error)) *secureListener {
	config = config.Clone()
	for _, protocol := range []string{"h2", "http/1.1"} {
		if !slices.Contains(config.NextProtos, protocol) {
			config.NextProtos = append(config.NextProtos, protocol)
		}
	}
	s := &secureListener{Listener: l, config: config, patience: patience, failed: failed, accepted: make(chan accepted)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Accept returns the next connection whose handshake is over, so that a slow client keeps nobody waiting.
func (l *secureListener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.listen() })
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends handshakes, too.
func (l *secureListener) Close() error {
	l.stop()
	return l.Listener.Close()
}

func (l *secureListener) listen() {
	for l.ctx.Err() == nil {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.shake(c)
		} else if !l.hand(nil, err) { // the next one waits until net/http has waited
			return
		}
	}
}

// hand hands on what Accept returns, and reports whether it could.
func (l *secureListener) hand(c net.Conn, err error) bool {
	select {
	case l.accepted <- accepted{c, err}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// shake shakes hands with a client.
func (l *secureListener) shake(c net.Conn) {
	ctx, cancel := context.WithTimeout(l.ctx, l.patience)
	defer cancel()
	secure := tls.Server(c, l.config)
	if err := secure.HandshakeContext(ctx); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) && record.Conn != nil && isHTTP(record.RecordHeader) {
			err = errors.New("client sent an HTTP request to an HTTPS server")
			_ = record.Conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
		}
		l.failed(c, err)
		c.Close()
		return
	}
	var conn net.Conn = secure
	if below, ok := c.(*countedConn); ok && secure.ConnectionState().NegotiatedProtocol != "h2" {
		conn = &halfConn{secure, below}
	}
	if !l.hand(conn, nil) {
		secure.Close()
	}
}

// isHTTP reports whether a connection begins with a request that is not encrypted.
func isHTTP(begin [5]byte) bool {
	return slices.Contains([]string{"GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH"}, string(begin[:]))
}

// halfConn is a connection over TLS that hides the end of what a client sends, as countedConn does. A client says that end by
// close_notify, which TLS alone can read.
type halfConn struct {
	*tls.Conn
	below *countedConn
}

// Read reads, and hides the end while a request is under way.
func (c *halfConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != io.EOF || n > 0 {
		return n, err
	}
	return 0, c.below.end()
}
