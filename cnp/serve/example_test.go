package serve_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/serve"
)

// A program that has a server of its own mounts a Server in its mux, below any path, between handlers and middleware of its own.
// gRPC needs the paths of its services, and HTTP/2.
func ExampleServer() {
	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: "table", Path: "universal-1"}}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/ml/", http.StripPrefix("/ml", s))             // REST: /ml/v2/models/table/infer
	mux.Handle("/inference.GRPCInferenceService/", s)          // gRPC
	mux.Handle("/grpc.health.v1.Health/", s)                   // and its health
	mux.Handle("/internal/metrics/models", s.MetricsHandler()) // Prometheus, beside metrics of the program's own
	web := httptest.NewServer(mux)                             // or an http.Server with TLS

	answer, err := http.Post(web.URL+"/ml/v2/models/table/infer", "application/json", strings.NewReader(`{"inputs": [
		{"name": "x_context", "shape": [1, 3, 1], "datatype": "FP64", "data": [0, 1, 2]},
		{"name": "y_context", "shape": [1, 3, 1], "datatype": "FP32", "data": [5, 5, 5]},
		{"name": "x_target", "shape": [1, 1, 1], "datatype": "FP64", "data": [1.5]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
	fmt.Println(answer.StatusCode)

	s.Close() // first, so that readiness says no and no stream holds up the shutdown
	ready, err := http.Get(web.URL + "/ml/v2/health/ready")
	if err != nil {
		log.Fatal(err)
	}
	ready.Body.Close()
	fmt.Println(ready.StatusCode)
	if err := web.Config.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 200
	// 503
}
