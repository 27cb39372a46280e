package search

import (
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass: slices that are too short, strides and sizes that
// are negative or overflow, numbers that are not finite.
func TestHostile(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		named := func(name string, f any, good ...any) {
			t.Helper()
			testkit.Hostile(t, "search", name, f, good...)
		}
		const n, room = 5, 5 + Slack
		x, x32, out, dist2 := make([]float64, 2*n), make([]float32, 2*n), make([]float64, 2*room), make([]float64, room)
		id, index, box := []int32{0, 1, 2, 3, 4}, make([]int32, n*n+Slack), []float64{0, 1, 0, 1}
		from, to := []int32{0, 2}, []int32{2, 5}
		named("Candidates", Candidates, make([]uint64, 2), make([]uint16, 2*128), []uint16{1, 2}, []uint16{3, 4})
		named("Extent", Extent[float64], []float64{0, 0}, []float64{0, 0}, x)
		named("Extent of float32", Extent[float32], []float32{0, 0}, []float32{0, 0}, x32)
		named("Cells", Cells[float64], []int32{0, 0, 0, 0, 0}, x, 2, 0.0, 1.0, int32(4), int32(4))
		named("Cells of float32", Cells[float32], []int32{0, 0, 0, 0, 0}, x32, 2, float32(0), float32(1), int32(4), int32(4))
		named("Smallest", Smallest[float64], index[:room], dist2, id, []float64{5, 4, 3, 2, 1}, 2)
		named("Smallest of float32", Smallest[float32], index[:room], make([]float32, room), id, []float32{5, 4, 3, 2, 1}, 2)
		named("Boxes", Boxes[float64], index[:2+Slack], make([]int32, 2+Slack), []float64{0, 1, 1, 2, 0, 1, 1, 2}, 2, from, to, box, 1.0)
		named("Filter", Filter[float64], out, room, dist2, index[:room], x, n, id, from, to, box, 1.0)
		named("Filter of float32", Filter[float32], make([]float32, 2*room), room, make([]float32, room), index[:room], x32, n,
			id, from, to, []float32{0, 1, 0, 1}, float32(1))
		named("Scan", Scan[float64], index, make([]float64, len(index)), make([]int32, n), x, n, x, n, id, []float64{1}, []float64{1, 2}, 2)
		named("Scan of float32", Scan[float32], index, make([]float32, len(index)), make([]int32, n), x32, n, x32, n, id,
			[]float32{1, 1, 1, 1, 1}, []float32(nil), 2)
		named("Count", Count[float64], make([]int32, n), x, n, x, n, n, []float64{1}, []float64{1, 2}, 2)
		named("Partition", Partition[float64], x, n, 2, n, 1, 0.5, make([]float64, 2*room))
		named("Partition of float32", Partition[float32], x32, n, 2, n, 1, float32(0.5), make([]float32, 2*room))
		bits := []uint64{31}
		named("WithinEuclid", WithinEuclid, index[:n], id, bits, x, []float64{0, 0}, 0.5, 1.0)
		named("WithinRigid", WithinRigid, index[:n], id, bits, x, []float64{0, 0}, []float64{1, 0}, 0.5, 0.5, 1.0)
		named("WithinPolar", WithinPolar, index[:n], id, bits, x, []float64{0, 0}, 1.0, 0.5, 1.0)
		named("WithinLogPolar", WithinLogPolar, index[:n], id, bits, x, []float64{0, 0}, 0.5, 1.0)
	})
}
