package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVectorsPublished: the processes' own log-likelihoods per target are the published ones, so the tasks are the same.
func TestVectorsPublished(t *testing.T) {
	tasks := 320
	if testing.Short() {
		tasks = 32
	}
	for kernel, published := range map[string][2]float64{"rbf": {.56, -1.56}, "curl-free": {.66, -1.47}, "divergence-free": {.66, -1.47}} {
		s := VectorSource[float32]{Kernel: kernel}
		var sum, squares [2]float64
		for step := range tasks / 16 {
			b, err := s.Batch(16, 1, step)
			require.NoError(t, err)
			joint, alone, err := s.Exact(b)
			require.NoError(t, err)
			for i := range joint {
				for k, v := range [2]float64{2 * joint[i], 2 * alone[i]} {
					sum[k], squares[k] = sum[k]+v, squares[k]+v*v
				}
			}
		}
		for k := range sum {
			n := float64(tasks)
			mean := sum[k] / n
			se := math.Sqrt((squares[k]/n - mean*mean) / n)
			t.Logf("%s: %.4f ± %.4f, published %.2f", kernel, mean, se, published[k])
			require.InDelta(t, published[k], mean, 0.01+3*se, kernel)
		}
	}
}

// TestVectorsExact: a joint density is the product of those of targets one by one; on fewer targets than the grid has, too.
func TestVectorsExact(t *testing.T) {
	for _, kernel := range VectorKernels {
		s := VectorSource[float64]{Kernel: kernel, MinContext: 3, MaxContext: 6}
		b, err := s.Batch(1, 3, 1)
		require.NoError(t, err)
		c := b.Curves
		whole, _, err := s.exact(c.XContext, c.YContext, c.XTarget, b.Y)
		require.NoError(t, err)
		x, y, sum := c.XContext, c.YContext, 0.0
		few := 12
		for i := range few {
			_, alone, err := s.exact(x, y, c.XTarget[2*i:2*i+2], b.Y[2*i:2*i+2])
			require.NoError(t, err)
			sum += alone
			x, y = append(x[:len(x):len(x)], c.XTarget[2*i:2*i+2]...), append(y[:len(y):len(y)], b.Y[2*i:2*i+2]...)
		}
		joint, _, err := s.exact(c.XContext, c.YContext, c.XTarget[:2*few], b.Y[:2*few])
		require.NoError(t, err)
		require.InDelta(t, sum, joint, 1e-9)
		rest, _, err := s.exact(x, y, c.XTarget[2*few:], b.Y[2*few:])
		require.NoError(t, err)
		require.InDelta(t, whole, joint+rest, 1e-6)
	}
}

// TestVectorsTurn: a kernel turns with the plane; one field has no divergence, and one no curl.
func TestVectorsTurn(t *testing.T) {
	x, y := []float64{0.3, -1.2}, []float64{1.1, 0.4}
	s, c := math.Sincos(0.7)
	turn := func(v []float64) []float64 { return []float64{c*v[0] - s*v[1], s*v[0] + c*v[1]} }
	for _, kernel := range VectorKernels {
		var a, b [4]float64
		vectorCovariance(&a, kernel, x, y)
		vectorCovariance(&b, kernel, turn(x), turn(y))
		r := [4]float64{c, -s, s, c}
		for i := range 2 {
			for j := range 2 {
				v := 0.0
				for p := range 2 {
					for q := range 2 {
						v += r[2*i+p] * a[2*p+q] * r[2*j+q]
					}
				}
				require.InDelta(t, v, b[2*i+j], 1e-12, kernel)
			}
		}
		// The divergence and the curl at x, of what covaries with a component at y.
		const h = 1e-5
		at := func(d, k, j int) float64 { // the derivative along d of component k
			var up, down [4]float64
			lo, hi := []float64{x[0], x[1]}, []float64{x[0], x[1]}
			lo[d], hi[d] = lo[d]-h, hi[d]+h
			vectorCovariance(&up, kernel, hi, y)
			vectorCovariance(&down, kernel, lo, y)
			return (up[2*k+j] - down[2*k+j]) / (2 * h)
		}
		for j := range 2 {
			divergence, curl := at(0, 0, j)+at(1, 1, j), at(0, 1, j)-at(1, 0, j)
			require.Equal(t, kernel == "divergence-free", math.Abs(divergence) < 1e-8, kernel)
			require.Equal(t, kernel == "curl-free", math.Abs(curl) < 1e-8, kernel)
		}
	}
}

// TestVectorSource: batches are functions of seed and step, and mistakes are named.
func TestVectorSource(t *testing.T) {
	s := VectorSource[float32]{Kernel: "rbf"}
	a, err := s.Batch(3, 1, 2)
	require.NoError(t, err)
	b, err := s.Batch(3, 1, 2)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, 25, a.Curves.Nc)
	require.Equal(t, len(vectorGrid())/2-25, a.Curves.Nt)
	require.Equal(t, "rbf vector fields on the disc of radius 10, 25 context points", s.String())
	few := VectorSource[float32]{Kernel: "rbf", Targets: 7}
	c, err := few.Batch(3, 1, 2)
	require.NoError(t, err)
	require.Equal(t, a.Curves.XContext, c.Curves.XContext)
	require.Equal(t, a.Curves.XTarget[:14], c.Curves.XTarget[:14])
	require.Equal(t, 7, c.Curves.Nt)
	require.Len(t, c.Y, 3*14)
	require.Equal(t, "rbf vector fields on the disc of radius 10, 25 context points, 7 targets", few.String())
	require.Equal(t, 7, few.Work(3).Targets)
	require.ErrorContains(t, VectorSource[float32]{Kernel: "rbf", Targets: -1}.Validate(), "-1 targets")
	require.ErrorContains(t, VectorSource[float32]{Kernel: "wind"}.Validate(), `kernel "wind", need one of rbf, curl-free, divergence-free`)
	require.ErrorContains(t, VectorSource[float32]{Kernel: "rbf", MinContext: 5, MaxContext: 4}.Validate(), "5 to 4 context points")
	_, err = VectorSource[float32]{Kernel: "rbf", MaxContext: 5000}.Batch(1, 1, 1)
	require.Error(t, err)
}

// TestVectorContexts: sizes of contexts reach from the least to the greatest, and are as often below their geometric mean as above; all
// other points are targets where fewer than asked for are left.
func TestVectorContexts(t *testing.T) {
	s := VectorSource[float32]{Kernel: "rbf", MinContext: 3, MaxContext: 640, Targets: 30}
	small, least, most := 0, 1000, 0
	const steps = 400
	for step := range steps {
		b, err := s.Batch(1, 1, step)
		require.NoError(t, err)
		n := b.Curves.Nc
		least, most = min(least, n), max(most, n)
		if n*n < 3*640 {
			small++
		}
		require.Equal(t, min(30, 648-n), b.Curves.Nt)
	}
	require.GreaterOrEqual(t, least, 3)
	require.Less(t, least, 6)
	require.LessOrEqual(t, most, 640)
	require.Greater(t, most, 500)
	require.InDelta(t, steps/2, small, 60)
}
