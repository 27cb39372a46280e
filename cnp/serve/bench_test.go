package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// BenchmarkInfer is what the server itself does of a request: the model answers at once.
func BenchmarkInfer(b *testing.B) {
	s := newServer(b, nil)
	s.queue.compute = func(_ context.Context, jobs []*job) error {
		for _, j := range jobs {
			j.prediction = &cnp.Prediction[float32]{Mean: make([]float32, j.values), Std: make([]float32, j.values)}
		}
		return nil
	}
	im, c := images(rngOf(1), 1, 64, 64), curves(rngOf(1), 16, 50, 50)
	asJSON, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("image", "FP32", []int{1, 1, 64, 64}, im.Pixels),
		tensorJSON("mask", "BOOL", []int{1, 1, 64, 64}, im.Mask)}})
	if err != nil {
		b.Fatal(err)
	}
	imageHeader, imageBody := imagesBinary(b, nil, im)
	curveHeader, curveBody := curvesBinary(b, nil, c)
	for _, c := range []struct {
		name, model string
		header      map[string]string
		body        []byte
	}{
		{"image/binary", "digits", imageHeader, imageBody}, {"image/json", "digits", nil, asJSON},
		{"curve/binary", "rbf", curveHeader, curveBody}, {"curve/json", "rbf", nil, curvesJSON(b, c)},
	} {
		b.Run(fmt.Sprintf("%s/bytes=%d", c.name, len(c.body)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				r := httptest.NewRequest("POST", "/v2/models/"+c.model+"/infer", bytes.NewReader(c.body))
				for k, v := range c.header {
					r.Header.Set(k, v)
				}
				w := httptest.NewRecorder()
				if s.ServeHTTP(w, r); w.Code != 200 {
					b.Fatalf("%d: %s", w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkNetwork is a request over a connection to a model that answers at once, or that refuses it.
func BenchmarkNetwork(b *testing.B) {
	s := newServer(b, nil)
	var answer error
	s.queue.compute = func(_ context.Context, jobs []*job) error {
		for _, j := range jobs {
			j.prediction = &cnp.Prediction[float32]{Mean: make([]float32, j.values), Std: make([]float32, j.values)}
		}
		return answer
	}
	url, _ := listen(b, s, Limits{})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	c := curves(rngOf(1), 16, 50, 50)
	header, body := curvesBinary(b, nil, c)
	infer := connect.NewClient[inference.ModelInferRequest, inference.ModelInferResponse](
		&http.Client{Transport: &http.Transport{Protocols: protocols}},
		url+"/"+service+"/ModelInfer", connect.WithGRPC())
	message := curvesMessage(c)
	for _, refused := range []bool{false, true} {
		if answer = nil; refused {
			answer = overloaded("deadline", 0, "no")
		}
		b.Run(fmt.Sprintf("rest/refused=%v", refused), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequest("POST", url+"/v2/models/rbf/infer", bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				for k, v := range header {
					r.Header.Set(k, v)
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil || (resp.StatusCode == 200) == refused {
					b.Fatal(resp, err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		b.Run(fmt.Sprintf("grpc/refused=%v", refused), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := infer.CallUnary(context.Background(), connect.NewRequest(message)); (err == nil) == refused {
					b.Fatal(err)
				}
			}
		})
	}
}
