package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// pixelPairs returns the pairs of a grid of pixels under a group.
func pixelPairs[T Float](t *testing.T, name string, h, w, lifts int, radius float64) *Pairs[T] {
	t.Helper()
	var grid []float64
	for i := range h * w {
		grid = append(grid, float64(i/w)-float64(h-1)/2, float64(i%w)-float64(w-1)/2)
	}
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	points := group.LiftPoints(g, grid, lifts, 0)
	points.Across = w
	p, err := NewGeometry[T](points, nil, nil, 0, 0).Pairs(radius)
	require.NoError(t, err)
	return p
}

// TestDense: rows of a grid under translations have pairs of most poses; under R>0xSO(2) they do not, and where two
// pairs of a row have one pose a product would lose one.
func TestDense(t *testing.T) {
	require.True(t, pixelPairs[float32](t, "T(2)", 12, 9, 1, 0.5).dense())
	require.True(t, pixelPairs[float32](t, "SE(2)", 10, 12, 4, 2).dense())
	require.False(t, pixelPairs[float32](t, "RxSO(2)", 12, 12, 1, 0.4).dense())
	p := pixelPairs[float32](t, "T(2)", 12, 9, 1, 0.5)
	_, pose := p.Row(40)
	pose[1] = pose[0]
	require.False(t, p.dense())
}

// TestProductGradient: the gradient by products is that over pairs, with the same bits on any number of goroutines.
func TestProductGradient(t *testing.T) {
	t.Run("float32", testProductGradient[float32])
	t.Run("float64", testProductGradient[float64])
}

func testProductGradient[T Float](t *testing.T) {
	eps := T(2e-6)
	if buffers.SizeOf[T]() == 8 {
		eps = 1e-13
	}
	for _, tt := range []struct {
		group               string
		lifts, in, mid, all int
	}{{"T(2)", 1, 1, 16, 3}, {"T(2)", 1, 3, 5, 2}, {"SE(2)", 4, 2, 17, 1}} {
		t.Run(fmt.Sprintf("%sx%d/%dx%d", tt.group, tt.lifts, tt.in, tt.mid), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, uint64(tt.in)))
			p := pixelPairs[T](t, tt.group, 13, 17, tt.lifts, 0.8*math.Sqrt(float64(tt.lifts)))
			require.True(t, p.dense())
			in, mid, rows := tt.in, tt.mid, p.Queries
			f, douter := normals[T](rng, tt.all*rows*in), normals[T](rng, tt.all*rows*in*mid)
			want, size := make([]T, p.NumPoses()*mid), make([]T, p.NumPoses()*mid)
			for b := range tt.all {
				for i := range rows {
					index, pose := p.Row(i)
					for k, q := range pose {
						for a := range in {
							for j := range mid {
								term := f[(b*rows+int(index[k]))*in+a] * douter[((b*rows+i)*in+a)*mid+j]
								want[int(q)*mid+j] += term
								size[int(q)*mid+j] += max(term, -term)
							}
						}
					}
				}
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			got := p.productGradient(douter, f, tt.all, in, mid)
			for i, v := range want {
				if d := got[i] - v; !(max(d, -d) <= eps*size[i]) {
					t.Fatalf("gradient[%d] is %v, over pairs %v", i, got[i], v)
				}
			}
			runtime.GOMAXPROCS(4)
			require.Equal(t, got, p.productGradient(douter, f, tt.all, in, mid))

			f[rows*in/2] = T(math.Inf(1)) // a product would make NaN of the poses that no pair of this point has
			require.Nil(t, p.productGradient(douter, f, tt.all, in, mid))
		})
	}
}

// TestProductsOfInfinity: an infinite feature reaches the gradients of the poses that it has pairs with, and no others.
func TestProductsOfInfinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	p := pixelPairs[float32](t, "T(2)", 9, 8, 1, 0.3)
	f, douter := normals[float32](rng, p.Queries), normals[float32](rng, p.Queries*4)
	f[0] = float32(math.Inf(1)) // in a corner
	require.Nil(t, p.productGradient(douter, f, 1, 1, 4))
	dw := p.poseGradient(1, 4, func(dw []float32, _ int, offsets []int, query, point []int32) {
		simd.PointConvGradW(dw, douter, f, offsets, query, point, 1, 4)
	})
	finite := 0
	for _, v := range dw {
		if v-v == 0 {
			finite++
		}
	}
	require.Positive(t, finite)
	require.Less(t, finite, len(dw))
}
