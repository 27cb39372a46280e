package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// gRPC clients send their request as one message. The server reads and writes the framing itself: connect reads in many small steps, each
// of which wakes the goroutine of the connection, and writes an answer in two; and it unpacks a compressed message as a whole, however
// large it becomes.

// prefixBytes stand before a message: whether it is compressed, and its length.
const prefixBytes = 5

// isPlain reports whether a request is one of those.
func isPlain(r *http.Request) bool {
	switch r.Header.Get("Content-Type") {
	case "application/grpc", "application/grpc+proto":
		return r.ProtoMajor == 2
	}
	return false
}

// messages are buffers for messages that come and go; a request keeps nothing of them.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// mostKept is the buffer at most that is kept for the next message.
const mostKept = 8 << 20

func keep(b *[]byte) {
	if cap(*b) <= mostKept {
		*b = (*b)[:0]
		messages.Put(b)
	}
}

// plainInfer answers an inference request.
func (s *Server) plainInfer(w http.ResponseWriter, r *http.Request, call *grpcCall) {
	var req wireRequest
	w.Header().Set("Grpc-Accept-Encoding", "identity,deflate,gzip")
	j, err := func() (*job, error) {
		ctx := r.Context()
		if text := r.Header.Get("Grpc-Timeout"); text != "" {
			timeout, err := parseTimeout(text)
			if err != nil {
				return nil, err
			}
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		if err := s.readMessage(ctx, &req, call, r.Header.Get("Grpc-Encoding")); err != nil {
			return nil, err
		}
		call.up.done()
		return s.infer(ctx, &req.request, call.res)
	}()
	if err != nil {
		f := asFailure(err)
		s.logged(r.Context(), "grpc", req.model, call.start, j, f)
		writeFailure(w, r, f)
		return
	}
	s.logged(r.Context(), "grpc", req.model, call.start, j, nil)
	b := messages.Get().(*[]byte)
	*b = req.response(j).append(append(*b, make([]byte, prefixBytes)...))
	binary.BigEndian.PutUint32((*b)[1:], uint32(len(*b)-prefixBytes))
	h := w.Header()
	h.Set("Content-Type", r.Header.Get("Content-Type"))
	h.Set("Server-Timing", j.timing())
	if _, err := w.Write(*b); err != nil {
		// net/http may still be writing it, to a client that has left in the meantime: the next message must not lie there.
		s.log.Debug("an answer was not taken", "model", j.model.name, "error", err.Error())
		return
	}
	keep(b)
	h.Set(http.TrailerPrefix+"Grpc-Status", "0")
}

// readMessage reads a request's one message. Memory grows with what comes, not with what its length promises.
func (s *Server) readMessage(ctx context.Context, req *wireRequest, call *grpcCall, encoding string) error {
	switch encoding {
	case "", "identity", "gzip", "deflate":
	default:
		call.up.abandon()
		return unknownEncoding(encoding)
	}
	buffer := messages.Get().(*[]byte)
	defer keep(buffer)
	b, err := s.frame(*buffer, call, encoding)
	*buffer = b
	if err != nil {
		return err
	}
	message := b[prefixBytes:]
	if b[0] == 1 {
		packed, err := unpack(bytes.NewReader(message), encoding)
		if err == nil {
			message, err = fill(nil, packed, -1, s.opt.Body, call.res)
		}
		if err != nil {
			return unreadable(err)
		}
	}
	take, err := req.scan(message)
	if err == nil {
		m, _ := s.find(req.model, req.version)                // an error is said later
		if err := s.tooLate(ctx, m, req.params); err != nil { // before anything is copied
			return err
		}
		if err = call.res.take(req.growth); err == nil {
			err = take()
		}
	}
	if f := new(failure); err != nil && !errors.As(err, &f) {
		err = invalid("the message cannot be read: %v", err)
	}
	return err
}

// firstMessage is the room for a message of which nothing has come, and what is reserved for it.
const firstMessage = 16 << 10

// frame reads a message and what stands before it into b.
func (s *Server) frame(b []byte, call *grpcCall, encoding string) ([]byte, error) {
	if err := call.res.take(firstMessage); err != nil {
		return b, err
	}
	body := &reservingReader{r: call.up, left: math.MaxInt64, credit: firstMessage, res: call.res}
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(cap(b)/2, firstMessage))
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) >= prefixBytes {
			length := int64(binary.BigEndian.Uint32(b[1:]))
			call.up.announce = prefixBytes + min(length, s.opt.Body)
			switch {
			case b[0] > 1 || b[0] == 1 && (encoding == "" || encoding == "identity"):
				return b, invalid("the message is compressed, and the request does not say how")
			case length > s.opt.Body:
				return b, tooLarge("the message has %v, at most %v are allowed", cnp.Bytes(length), cnp.Bytes(s.opt.Body))
			case int64(len(b)) > prefixBytes+length:
				return b, invalid("more than one message was sent")
			case err == io.EOF && int64(len(b)) < prefixBytes+length:
				return b, invalid("the message ends early")
			}
		}
		switch f := new(failure); {
		case err == io.EOF && len(b) >= prefixBytes:
			return b, nil
		case err == io.EOF:
			return b, invalid("there is no message")
		case errors.As(err, &f):
			return b, f
		case errors.Is(err, os.ErrDeadlineExceeded) && len(b) >= prefixBytes &&
			int64(len(b)) == prefixBytes+int64(binary.BigEndian.Uint32(b[1:])):
			f := slow("message", err)
			f.text = "the message came, but not the end of the request: a client closes its side of a call once it has sent its message"
			return b, f
		case err != nil:
			return b, slow("message", err)
		}
	}
}

// parseTimeout reads what gRPC says of a deadline: up to eight digits and a unit.
func parseTimeout(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond,
		'n': time.Nanosecond}
	unit := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 64)
	if unit == 0 || err != nil || len(text) > 9 {
		return 0, invalid("grpc-timeout %.40q: need up to eight digits and a unit", text)
	}
	if n > uint64(math.MaxInt64/unit) {
		return math.MaxInt64, nil
	}
	return time.Duration(n) * unit, nil
}
