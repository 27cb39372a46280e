package serve

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// service is the protocol's name over gRPC.
const service = "inference.GRPCInferenceService"

// smallMessage bounds requests without tensors, as they come and, if they are compressed, as they become.
const smallMessage = 64 << 10

// grpcRoutes adds the protocol over gRPC, with reflection and the usual health service.
func (s *Server) grpcRoutes(mux *http.ServeMux) {
	options := []connect.HandlerOption{connect.WithCodec(codec{}), connect.WithReadMaxBytes(smallMessage), deflate,
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
	unary(mux, "ServerMetadata", options, func(context.Context, *inference.ServerMetadataRequest) (
		*inference.ServerMetadataResponse, error) {
		return &inference.ServerMetadataResponse{Name: "equivcnp", Version: s.opt.Version, Extensions: extensions}, nil
	})
	unary(mux, "ModelMetadata", options, func(_ context.Context, r *inference.ModelMetadataRequest) (
		*inference.ModelMetadataResponse, error) {
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
			Inputs: tensors(m.inputs), Outputs: tensors(m.outputs), Properties: propertiesOf(m)}, nil
	})
	s.extensionRoutes(mux, options)
	s.inferRoute(mux)
	small := []connect.HandlerOption{connect.WithReadMaxBytes(smallMessage), deflate}
	reflector := grpcreflect.NewStaticReflector(service, grpchealth.HealthV1ServiceName)
	add := func(method string) func(prefix string, h http.Handler) {
		return func(prefix string, h http.Handler) {
			mux.Handle(prefix+method, h)
			mux.HandleFunc(prefix, unimplemented)
		}
	}
	add("Check")(grpchealth.NewHandler(health{s}, small...))
	mux.Handle(watchPath, s.watchHandler())
	add("ServerReflectionInfo")(grpcreflect.NewHandlerV1(reflector, small...))
	add("ServerReflectionInfo")(grpcreflect.NewHandlerV1Alpha(reflector, small...))
	mux.HandleFunc("/"+service+"/", unimplemented)
}

// unimplemented answers for methods that a service does not have.
func unimplemented(w http.ResponseWriter, r *http.Request) {
	writeFailure(w, r, &failure{status: http.StatusNotFound, code: connect.CodeUnimplemented, text: fmt.Sprintf("%.200s is not implemented",
		r.URL.Path)})
}

// deflate reads what gRPC calls by this name, which is zlib's format.
var deflate = connect.WithCompression("deflate", func() connect.Decompressor { return &inflater{} },
	func() connect.Compressor { return zlib.NewWriter(io.Discard) })

// inflater is a zlib reader that begins without input.
type inflater struct{ z io.ReadCloser }

func (i *inflater) Read(p []byte) (int, error) {
	if i.z == nil {
		return 0, io.EOF
	}
	return i.z.Read(p)
}

func (i *inflater) Reset(r io.Reader) (err error) {
	if i.z == nil {
		i.z, err = zlib.NewReader(r)
		return err
	}
	return i.z.(zlib.Resetter).Reset(r, nil)
}

func (i *inflater) Close() error {
	if i.z == nil {
		return nil
	}
	return i.z.Close()
}

// inferRoute adds the method that answers inference requests. Those of gRPC clients the server reads itself (grpc_plain.go); connect
// reads those of browsers and of its own protocol, which may not be compressed, because what they become could not be reserved as it
// comes.
func (s *Server) inferRoute(mux *http.ServeMux) {
	path := "/" + service + "/ModelInfer"
	options := []connect.HandlerOption{connect.WithCodec(codec{}), connect.WithReadMaxBytes(int(min(s.opt.Body, math.MaxInt32))),
		connect.WithCompression("gzip", nil, nil)}
	handler := connect.NewUnaryHandler(path, s.grpcInfer, options...)
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		up := newUpload(w, r, r.ContentLength)
		if err := s.queue.full(nil, clientIn(r.Context())); err != nil && isRPC(r) {
			f := asFailure(err)
			up.abandon() // what net/http reads of the body
			writeFailure(w, r, f)
			s.logged(r.Context(), "grpc", "", time.Now(), nil, f) // the model's name is in what was not read
			return
		}
		switch kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) {
		case "application/json", "application/grpc+json", "application/grpc-web+json": // what it becomes could not be reserved, either
			up.abandon()
			writeFailure(w, r, invalid("ModelInfer takes protocol buffers: a request in JSON goes to POST /v2/models/MODEL/infer"))
			return
		}
		call := &grpcCall{start: time.Now(), res: s.bytes.open(r.Context()), up: up}
		defer call.res.release()
		s.setComputeDeadline(w)
		if isPlain(r) {
			s.plainInfer(w, r, call)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, call))
		r.Body = &callBody{reservingReader{r: up, left: s.opt.Body + prefixBytes, res: call.res}, r.Body}
		handler.ServeHTTP(w, r)
	})
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
	start time.Time
	res   *reservation
	up    *upload
}

type callKey struct{}

// callBody is the body of a request that reserves what is read of it.
type callBody struct {
	reservingReader
	body io.Closer
}

func (b *callBody) Close() error { return b.body.Close() }

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
	err := call.res.take(r.Msg.growth)
	var j *job
	if err == nil {
		j, err = s.infer(ctx, &r.Msg.request, call.res)
	}
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
