package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/equivcnp/equivcnp/cnp"
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
