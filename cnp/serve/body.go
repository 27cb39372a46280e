package serve

import (
	"io"
	"net/http"
	"time"
)

// unread is the body at most that net/http reads by itself, to go on with the connection, when a handler has not.
const unread = 256 << 10

// slowest is how few bytes a second a client may send or take on average, and patience is what it has beyond that.
const (
	slowest  = 32 << 10
	patience = 20 * time.Second
)

// setWriteDeadline gives a client the time to take n bytes. Where the ResponseWriter knows no deadlines, the server's own ones hold.
func setWriteDeadline(w http.ResponseWriter, n int) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + time.Duration(n/slowest)*time.Second))
}

// reservingReader reserves what it reads.
type reservingReader struct {
	r        io.Reader
	left     int64 // that may be read
	credit   int64 // that is reserved already
	gauge    *bytesGauge
	reserved *int64
}

// ahead reserves n bytes that are still to be read.
func (b *reservingReader) ahead(n int64) error {
	if err := b.gauge.take(n); err != nil {
		return err
	}
	*b.reserved += n
	b.credit += n
	return nil
}

func (b *reservingReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		var one [1]byte
		if n, err := b.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, tooLarge("the request is longer than is allowed")
	}
	p = p[:min(int64(len(p)), b.left)]
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.credit -= int64(n); b.credit < 0 {
		if full := b.ahead(max(-b.credit, 64<<10)); full != nil {
			return n, full
		}
	}
	return n, err
}
