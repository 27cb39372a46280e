package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"google.golang.org/protobuf/encoding/protowire"
)

// watchPath is the method of grpc.health.v1 that says when the answer of Check changes. grpchealth does not have it.
const watchPath = "/" + grpchealth.HealthV1ServiceName + "/Watch"

// watchEvery is how often a change is looked for.
const watchEvery = 250 * time.Millisecond

// maxWatches bounds the streams of Watch: each takes 18 kB for as long as its client likes, and needs no token.
const maxWatches = 4096

// healthRequest and healthResponse are HealthCheckRequest and HealthCheckResponse.
type (
	healthRequest  struct{ service string }
	healthResponse struct{ status grpchealth.Status }
)

func (r *healthRequest) read(b []byte) error {
	return fields(b, func(n protowire.Number, t protowire.Type, _ uint64, s []byte) error {
		if n == 1 {
			return text(&r.service, t, s)
		}
		return nil
	})
}

func (r *healthResponse) append(b []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(r.status))
}

// statusUnknown is what Watch says of a service that there is not, instead of an error.
const statusUnknown grpchealth.Status = 3

// watchHandler answers with the status now, and with every other one until the client or the server goes.
func (s *Server) watchHandler() http.Handler {
	handler := connect.NewServerStreamHandler(watchPath, func(ctx context.Context, r *connect.Request[healthRequest],
		out *connect.ServerStream[healthResponse]) error {
		defer s.watches.Add(-1)
		if s.watches.Add(1) > maxWatches {
			return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("%d clients watch, no more may", maxWatches))
		}
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for last := grpchealth.StatusUnknown; ; {
			// Read before the status: a server that begins to stop between the two would end the stream without having said so.
			stopping := s.draining.Load()
			status := statusUnknown
			if got, err := (health{s}).Check(ctx, &grpchealth.CheckRequest{Service: r.Msg.service}); err == nil {
				status = got.Status
			}
			if status != last {
				w, _ := ctx.Value(watchKey{}).(http.ResponseWriter)
				setWriteDeadline(w, 0) // of this message: a client that does not take it watches no longer
				if err := out.Send(&healthResponse{status}); err != nil {
					return err
				}
				_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
				last = status
			}
			if stopping { // the client has been told; a stream that does not end would hold up the server's
				return connect.NewError(connect.CodeUnavailable, errors.New("the server stops"))
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}, connect.WithCodec(codec{}), connect.WithReadMaxBytes(smallMessage), deflate)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), watchKey{}, w)))
	})
}

// watchKey is the context's key of the writer of a stream, whose deadlines connect does not know.
type watchKey struct{}
