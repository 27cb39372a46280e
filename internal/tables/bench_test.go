package tables

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// BenchmarkDecode reads 100,000 rows of four columns, of float64 coordinates and of float32 outputs, in every format.
func BenchmarkDecode(b *testing.B) {
	const rows = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	var columns []tabular.Column
	for c, name := range []string{"lat", "lon", "t2m", "rain"} {
		v := make([]float64, rows)
		for i := range v {
			if v[i] = rng.NormFloat64(); c >= 2 {
				v[i] = float64(float32(v[i]))
			}
		}
		columns = append(columns, tabular.Column{Name: name, Values: v, Single: c >= 2})
	}
	t := tabular.Of(columns)
	for _, ending := range []string{".csv", ".parquet", ".npz", ".nc"} {
		b.Run(fmt.Sprintf("format=%s", ending[1:]), func(b *testing.B) {
			var text bytes.Buffer
			if err := Write(&text, ending, t, []int{0, 1}); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if got, err := Decode(text.Bytes(), "t", nil); err != nil || got.Rows() != rows {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
