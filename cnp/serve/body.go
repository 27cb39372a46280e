package serve

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// unread is the body at most that net/http reads by itself, to go on with the connection, when a handler has not.
const unread = 256 << 10

// slowest is how few bytes a second a client may send or take on average, and patience is what it has beyond that: for the first byte,
// and between any two.
const (
	slowest  = 128 << 10
	patience = 10 * time.Second
)

// setWriteDeadline gives a client the time to take n bytes. Where the ResponseWriter knows no deadlines, the server's own ones hold.
func setWriteDeadline(w http.ResponseWriter, n int) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + time.Duration(n/slowest)*time.Second))
}

// setComputeDeadline gives a request the time to be read and computed, and its client that to take what is written then.
func (s *Server) setComputeDeadline(w http.ResponseWriter) {
	setWriteDeadline(w, int(min(s.opt.Body, math.MaxInt32))+int(s.opt.Timeout/time.Second)*slowest)
}

// upload is the body of a request while it is read. It sets deadlines: for a body of announced size, patience and the time that the slowest
// client takes for as many bytes; for others, the same for the bytes that came; and patience from one read to the next.
type upload struct {
	r        io.ReadCloser
	control  *http.ResponseController
	announce int64 // bytes; -1: not known
	start    time.Time
	set      time.Time // the deadline that holds
	came     int64
	now      func() time.Time // in tests
}

// newUpload returns the body of a request that announces so many bytes.
func newUpload(w http.ResponseWriter, r *http.Request, announced int64) *upload {
	if u, ok := r.Body.(*upload); ok {
		u.announce = announced
		return u
	}
	return &upload{r: r.Body, control: http.NewResponseController(w), announce: announced, start: time.Now(), now: time.Now}
}

// deadline is when the next read must have brought something.
func (u *upload) deadline() time.Time {
	bytes := u.announce
	if bytes < 0 {
		bytes = u.came
	}
	whole := u.start.Add(patience + time.Duration(bytes/slowest)*time.Second)
	if next := u.now().Add(patience); next.Before(whole) {
		return next
	}
	return whole
}

// Read reads before the deadline.
func (u *upload) Read(p []byte) (int, error) {
	if d := u.deadline(); d.Sub(u.set).Abs() > time.Second {
		u.set = d
		_ = u.control.SetReadDeadline(d)
	}
	n, err := u.r.Read(p)
	u.came += int64(n)
	if err == io.EOF {
		u.done()
	}
	return n, err
}

// Close closes the body, after which nothing is read of it.
func (u *upload) Close() error { return u.r.Close() }

// done ends the deadlines: net/http goes on reading, to learn whether the client is still there.
func (u *upload) done() {
	if !u.set.IsZero() {
		_ = u.control.SetReadDeadline(time.Time{})
	}
}

// abandon leaves the body unread. What net/http reads of it has a deadline.
func (u *upload) abandon() { _ = u.control.SetReadDeadline(u.now().Add(patience)) }

// mostPlain is how long an answer is at most that no handler gives a deadline of its own: metadata, metrics and the page's files.
const mostPlain = 4 << 20

// impatient gives the body of every request its deadlines, whoever reads it, and its answer one, which handlers that compute, or whose
// answers are long or never end, replace: who asks and then does not read would keep a goroutine and a connection for as long as he
// likes, and hold up the server's end. What nobody reads of a body net/http does before it answers, over HTTP/1.1.
func impatient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		announced := max(r.ContentLength, 0) // which may come as slowly as a body may before anything is answered
		setWriteDeadline(w, mostPlain+int(min(announced, math.MaxInt32)))
		if r.ContentLength != 0 {
			u := newUpload(w, r, r.ContentLength)
			if r.ProtoMajor == 1 {
				u.abandon()
			}
			r = r.WithContext(r.Context()) // net/http looks at the body of its own one
			r.Body = u
		}
		next.ServeHTTP(w, r)
	})
}

// firstBuffer is the room at most for a body of which nothing has come.
const firstBuffer = 64 << 10

// fill appends n bytes of r to b or, if n is negative, all of them, of which there may be as many as limit. Memory is reserved before it is
// allocated, and grows with what comes, not with n.
func fill(b []byte, r io.Reader, n, limit int64, res *reservation) ([]byte, error) {
	most := limit
	if n >= 0 {
		most = n
	}
	for done := int64(0); ; {
		if n >= 0 && done == n {
			return b, nil
		}
		if done == most { // of limit: there must not be more
			var one [1]byte
			switch k, err := r.Read(one[:]); {
			case k > 0:
				return b, tooLarge("the request has more than %v", cnp.Bytes(limit))
			case err == io.EOF:
				return b, nil
			case err != nil:
				return b, err
			}
			continue
		}
		if len(b) == cap(b) {
			grown := min(max(int64(2*cap(b)), firstBuffer), int64(len(b))+most-done)
			if err := res.take(grown - int64(cap(b))); err != nil {
				return b, err
			}
			b = append(make([]byte, 0, grown), b...)
		}
		k, err := r.Read(b[len(b) : len(b)+int(min(int64(cap(b)-len(b)), most-done))])
		b, done = b[:len(b)+k], done+int64(k)
		switch {
		case err == io.EOF && n < 0:
			return b, nil
		case err == io.EOF && done < n:
			return b, io.ErrUnexpectedEOF
		case err != nil && err != io.EOF:
			return b, err
		}
	}
}

// mostRatio is how many times larger than it came a compressed body may become, beyond freeExpansion bytes: numbers do not shrink that
// much, constant ones and masks apart.
const (
	mostRatio     = 100
	freeExpansion = 4 << 20
)

var errEncoding = errors.New("the encoding is not known")

// unpack returns what is in a compressed body: gzip, or deflate with or without zlib's header. It ends with an error where it grows too
// much.
func unpack(r io.Reader, encoding string) (io.Reader, error) {
	count := &counter{r: r}
	var z io.Reader
	var err error
	switch strings.ToLower(encoding) {
	case "gzip", "x-gzip":
		z, err = gzip.NewReader(count)
	case "deflate":
		b := bufio.NewReader(count)
		var head []byte
		if head, err = b.Peek(2); err == nil && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			z, err = zlib.NewReader(b)
		} else if len(head) > 0 {
			z, err = flate.NewReader(b), nil
		}
	default:
		return nil, errEncoding
	}
	if err != nil {
		return nil, broken(err)
	}
	return &expansion{z: z, from: count}, nil
}

// broken is an error about compressed data as a failure, or one of the connection as it is.
func broken(err error) error {
	var f *failure
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum),
		errors.Is(err, zlib.ErrDictionary),
		errors.As(err, new(flate.CorruptInputError)), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return invalid("the body is compressed, and cannot be read: %v", err)
	}
	return err
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// expansion is what a compressed body becomes.
type expansion struct {
	z    io.Reader
	from *counter
	n    int64
}

func (e *expansion) Read(p []byte) (int, error) {
	n, err := e.z.Read(p)
	e.n += int64(n)
	if e.n > freeExpansion && e.n > mostRatio*e.from.n {
		return 0, tooLarge("the compressed body becomes more than %d times as large, and more than %v", mostRatio, cnp.Bytes(freeExpansion))
	}
	if err != nil && err != io.EOF {
		err = broken(err)
	}
	return n, err
}

// reservingReader reserves what it reads.
type reservingReader struct {
	r      io.Reader
	left   int64 // that may be read
	credit int64 // that is reserved already
	res    *reservation
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
		ahead := max(-b.credit, 16<<10)
		if full := b.res.take(ahead); full != nil {
			return n, full
		}
		b.credit += ahead
	}
	return n, err
}
