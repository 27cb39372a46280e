package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// failure is an error as both protocols say it.
type failure struct {
	status int          // of HTTP
	code   connect.Code // of gRPC
	text   string
	retry  time.Duration // when to come back, if positive
	reason string        // the label of the counter of refused requests; empty: it was not refused for lack of anything
}

func (f *failure) Error() string { return f.text }

func invalid(format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, code: connect.CodeInvalidArgument, text: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *failure {
	return &failure{status: http.StatusNotFound, code: connect.CodeNotFound, text: fmt.Sprintf(format, args...)}
}

func unknownEncoding(name string) *failure {
	return &failure{status: http.StatusUnsupportedMediaType, code: connect.CodeUnimplemented,
		text: fmt.Sprintf("content encoding %.40q is not known, gzip and deflate are", name)}
}

// tooLarge is for what will not fit later either.
func tooLarge(format string, args ...any) *failure {
	return &failure{status: http.StatusRequestEntityTooLarge, code: connect.CodeResourceExhausted, text: fmt.Sprintf(format, args...),
		reason: "size"}
}

// overloaded is for what may fit later.
func overloaded(reason string, retry time.Duration, format string, args ...any) *failure {
	return &failure{status: http.StatusServiceUnavailable, code: connect.CodeResourceExhausted, text: fmt.Sprintf(format, args...),
		retry: max(retry, time.Second), reason: reason}
}

// statusGone is what nginx answers, to nobody, when the client has closed the connection; it appears in logs and metrics.
const statusGone = 499

// asFailure is err in the terms of the protocols.
func asFailure(err error) *failure {
	var f *failure
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{status: http.StatusGatewayTimeout, code: connect.CodeDeadlineExceeded, text: "the request's time is over",
			reason: "deadline"}
	case errors.Is(err, context.Canceled):
		return &failure{status: statusGone, code: connect.CodeCanceled, text: "the client has gone"}
	case errors.As(err, &tooLong):
		return tooLarge("the request has more than %v", cnp.Bytes(tooLong.Limit))
	case errors.Is(err, cnp.ErrMemory):
		return tooLarge("%v", err)
	case errors.Is(err, cnp.ErrShape), errors.Is(err, cnp.ErrValue), errors.Is(err, cnp.ErrRange), errors.Is(err, cnp.ErrConfig),
		errors.Is(err, taskfile.ErrMissing), errors.Is(err, safetensors.ErrFormat):
		return invalid("%v", err)
	}
	return &failure{status: http.StatusInternalServerError, code: connect.CodeInternal, text: err.Error()}
}
