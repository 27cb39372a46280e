package serve

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// service is the protocol's name over gRPC.
const service = "inference.GRPCInferenceService"

// grpcRoutes adds the protocol over gRPC, with reflection and the usual health service.
func (s *Server) grpcRoutes(mux *http.ServeMux) {
	options := []connect.HandlerOption{connect.WithCodec(codec{}), connect.WithReadMaxBytes(int(min(s.opt.Body, math.MaxInt32))),
		// Requests may be compressed. Answers are not, though most clients say that they could read it: gzip takes 30 ns a byte, and makes
		// floating-point numbers hardly shorter.
		connect.WithCompressMinBytes(math.MaxInt)}
	unary(mux, "ServerLive", options, func(context.Context, *inference.ServerLiveRequest) (*inference.ServerLiveResponse, error) {
		return &inference.ServerLiveResponse{Live: true}, nil
	})
	unary(mux, "ServerReady", options, func(context.Context, *inference.ServerReadyRequest) (*inference.ServerReadyResponse, error) {
		return &inference.ServerReadyResponse{Ready: s.ready()}, nil
	})
	unary(mux, "ModelReady", options, func(_ context.Context, r *inference.ModelReadyRequest) (*inference.ModelReadyResponse, error) {
		_, err := s.find(r.Name, r.Version)
		return &inference.ModelReadyResponse{Ready: err == nil && s.ready()}, nil
	})
	unary(mux, "ServerMetadata", options, func(context.Context, *inference.ServerMetadataRequest) (*inference.ServerMetadataResponse, error) {
		return &inference.ServerMetadataResponse{Name: "equivcnp", Version: s.opt.Version, Extensions: extensions}, nil
	})
	unary(mux, "ModelMetadata", options, func(_ context.Context, r *inference.ModelMetadataRequest) (*inference.ModelMetadataResponse, error) {
		m, err := s.find(r.Name, r.Version)
		if err != nil {
			return nil, err
		}
		tensors := func(list []tensorInfo) (out []*inference.ModelMetadataResponse_TensorMetadata) {
			for _, t := range list {
				out = append(out, &inference.ModelMetadataResponse_TensorMetadata{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape})
			}
			return out
		}
		return &inference.ModelMetadataResponse{Name: m.name, Versions: []string{m.version}, Platform: platform,
			Inputs: tensors(m.inputs), Outputs: tensors(m.outputs)}, nil
	})
	infer := "/" + service + "/ModelInfer"
	handler, refuse := connect.NewUnaryHandler(infer, s.grpcInfer, options...), connect.NewErrorWriter(options...)
	mux.HandleFunc("POST "+infer, func(w http.ResponseWriter, r *http.Request) {
		if err := s.queue.full(); err != nil && refuse.IsSupported(r) {
			f := asFailure(err)
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // of what net/http reads of the body
			refuse.Write(w, r, grpcError(f))
			s.logged(r.Context(), "grpc", "", time.Now(), nil, f) // the model's name is in what was not read
			return
		}
		call := &grpcCall{start: time.Now(), body: reservingReader{r: r.Body, left: math.MaxInt64, gauge: s.bytes}}
		call.body.reserved = &call.reserved
		defer func() { s.bytes.give(call.reserved) }()
		setWriteDeadline(w, int(min(s.opt.Body, math.MaxInt32))+int(s.opt.Timeout/time.Second)*slowest)
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience + time.Duration(s.opt.Body/slowest)*time.Second))
		if isPlain(r) {
			s.plainInfer(w, r, call, refuse)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, call))
		r.Body = &callBody{r.Body, &call.body}
		handler.ServeHTTP(w, r)
	})
	mux.Handle(grpchealth.NewHandler(health{s}))
	reflector := grpcreflect.NewStaticReflector(service, grpchealth.HealthV1ServiceName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
}

// unary adds a method with small messages.
func unary[In, Out any](mux *http.ServeMux, method string, options []connect.HandlerOption, f func(context.Context, *In) (*Out, error)) {
	path := "/" + service + "/" + method
	mux.Handle(path, connect.NewUnaryHandler(path, func(ctx context.Context, r *connect.Request[In]) (*connect.Response[Out], error) {
		out, err := f(ctx, r.Msg)
		if err != nil {
			return nil, grpcError(asFailure(err))
		}
		return connect.NewResponse(out), nil
	}, options...))
}

// grpcCall is an inference request over gRPC while it is under way.
type grpcCall struct {
	start    time.Time
	reserved int64
	body     reservingReader
}

type callKey struct{}

// callBody is the body of a request that reserves what is read of it.
type callBody struct {
	close interface{ Close() error }
	*reservingReader
}

func (b *callBody) Close() error { return b.close.Close() }

// Read is that of reservingReader, with errors that connect passes on.
func (b *callBody) Read(p []byte) (int, error) {
	n, err := b.reservingReader.Read(p)
	var f *failure
	if errors.As(err, &f) {
		err = grpcError(f)
	}
	return n, err
}

// grpcInfer answers an inference request.
func (s *Server) grpcInfer(ctx context.Context, r *connect.Request[wireRequest]) (*connect.Response[wireResponse], error) {
	call, _ := ctx.Value(callKey{}).(*grpcCall)
	j, err := s.infer(ctx, &r.Msg.request, &call.reserved)
	if err != nil {
		f := asFailure(err)
		s.logged(ctx, "grpc", r.Msg.model, call.start, j, f)
		return nil, grpcError(f)
	}
	s.logged(ctx, "grpc", r.Msg.model, call.start, j, nil)
	out := connect.NewResponse(r.Msg.response(j))
	out.Header().Set("Server-Timing", j.timing())
	return out, nil
}

// grpcError is a failure as gRPC says it.
func grpcError(f *failure) *connect.Error {
	err := connect.NewError(f.code, errors.New(f.text))
	if f.retry > 0 {
		err.Meta().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retry.Seconds()))))
	}
	return err
}

// health answers grpc.health.v1.
type health struct{ s *Server }

func (h health) Check(_ context.Context, r *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	switch r.Service {
	case "", service, grpchealth.HealthV1ServiceName:
	default:
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such service"))
	}
	if !h.s.ready() {
		return &grpchealth.CheckResponse{Status: grpchealth.StatusNotServing}, nil
	}
	return &grpchealth.CheckResponse{Status: grpchealth.StatusServing}, nil
}
