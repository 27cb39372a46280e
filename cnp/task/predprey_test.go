package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPredPreySource: numbers of values, places and masks are those of each kind of task.
func TestPredPreySource(t *testing.T) {
	for _, mode := range PredPreyModes[:3] {
		s := PredPreySource[float64]{Mode: mode}
		tasks, err := s.Batch(3, 1, 2)
		require.NoError(t, err)
		b := tasks.Curves
		require.Equal(t, [4]int{3 * b.Nc, 3 * b.Nc * 2, 3 * b.Nt, 3 * b.Nt * 2},
			[4]int{len(b.XContext), len(b.YContext), len(b.XTarget), len(tasks.Y)}, mode)
		require.Len(t, tasks.Known, len(tasks.Y))
		var seen, asked [2]int
		earliest, latest := [2]float64{100, 100}, [2]float64{}
		for i := range b.XContext {
			a, z := b.YContext[2*i], b.YContext[2*i+1]
			require.NotEqual(t, math.IsNaN(a), math.IsNaN(z), "one species at a time")
			k := 0
			if math.IsNaN(a) {
				k = 1
			}
			require.True(t, b.YContext[2*i+k] > 0)
			seen[k]++
			latest[k] = max(latest[k], b.XContext[i])
		}
		for i := range b.XTarget {
			require.NotEqual(t, tasks.Known[2*i], tasks.Known[2*i+1])
			k := 0
			if tasks.Known[2*i+1] {
				k = 1
			}
			require.True(t, tasks.Y[2*i+k] > 0)
			asked[k]++
			earliest[k] = min(earliest[k], b.XTarget[i])
		}
		for k := range 2 {
			all := (seen[k] + asked[k]) / 3
			require.True(t, all >= 150 && all <= 250, all)
			if mode == "interpolation" {
				require.Equal(t, 300, asked[k])
			}
			if mode == "forecasting" || mode == "reconstruction" && asked[k] > 0 {
				require.True(t, latest[k] < earliest[k] && earliest[k] >= 25)
			}
		}
		if mode == "reconstruction" {
			require.True(t, asked[0] == 0 || asked[1] == 0)
		}
		w := s.Work(3)
		require.True(t, b.Nc <= w.Context && b.Nt <= w.Targets)
		again, err := s.Batch(3, 1, 2)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(tasks.Y), fmt.Sprint(again.Y)) // NaN is no value of the other species
	}
	_, err := PredPreySource[float64]{Mode: "past"}.Batch(1, 1, 1)
	require.ErrorContains(t, err, `mode "past"`)
}

// TestPredPreyStep: a value is that of the first kept step not before its time; kept are the first steps after even times.
func TestPredPreyStep(t *testing.T) {
	var kept []int
	for k, step := 0, 0; k < predPreyKept; k++ {
		at := predPreyFrom + (predPreyTo-predPreyFrom)*float64(k)/(predPreyKept-1)
		for step < predPreySteps && predPreyFrom+float64(step)*predPreyDt < at-1e-9 {
			step++
		}
		kept = append(kept, step)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		at := 100 * rng.Float64()
		want := 0
		for want < len(kept)-1 && predPreyFrom+float64(kept[want])*predPreyDt < at {
			want++
		}
		require.Equal(t, kept[want], predPreyStep(at), at)
	}
}

// TestPredPreyDrift: the mean of a first step is that of the equations without noise, and its variance the noise's.
func TestPredPreyDrift(t *testing.T) {
	// Without noise populations circle: the quantity γx - δ·log x + βy - α·log y is kept, whatever the parameters. With
	// it, over one step, its change has a mean of second order. So the mean of the step's change over many draws tells
	// the drift's signs and factors.
	var dx, dy, vx tally
	for k := range 1500 {
		rng, same := rand.New(rand.NewPCG(3, uint64(k))), rand.New(rand.NewPCG(3, uint64(k)))
		a, b := 0.2+0.6*same.Float64(), 0.04+0.04*same.Float64()
		d, g := 0.8+0.4*same.Float64(), 0.04+0.04*same.Float64()
		s, scale := 0.5+9.5*same.Float64(), 1+4*same.Float64()
		x, y := 5+95*same.Float64(), 5+95*same.Float64()
		path := firstSteps(rng)
		require.InDelta(t, scale*x, path[0][0], 1e-9)
		stepX := path[0][1]/scale - x - x*(a-b*y)*predPreyDt
		stepY := path[1][1]/scale - y - y*(g*x-d)*predPreyDt
		dx.add(stepX)
		dy.add(stepY)
		vx.add(stepX*stepX/(math.Pow(x, 1.0/3)*s*s*predPreyDt) - 1)
	}
	require.InDelta(t, 0, dx.mean(), 4*dx.error())
	require.InDelta(t, 0, dy.mean(), 4*dy.error())
	require.InDelta(t, 0, vx.mean(), 4*vx.error())
}

// firstSteps are the populations' first two values.
func firstSteps(rng *rand.Rand) [2][]float64 {
	path := drawPredPrey(rng)
	return [2][]float64{path[0][:2], path[1][:2]}
}

// TestPredPreyData: a user's series is split as the code does, and refused where it is none.
func TestPredPreyData(t *testing.T) {
	set := &CurveSet{Name: "h.csv", Dx: 1, Dy: 2, Curves: []Curve{{}}}
	for i := range 90 {
		set.Curves[0].X = append(set.Curves[0].X, float64(1845+i))
		set.Curves[0].Y = append(set.Curves[0].Y, float64(i+1), float64(2*i+1))
	}
	s, err := NewPredPreyData[float32](set, "interpolation")
	require.NoError(t, err)
	for step := range 30 {
		tasks, err := s.Batch(1, 1, step)
		require.NoError(t, err)
		b := tasks.Curves
		require.Equal(t, 180, b.Nc+b.Nt)
		require.True(t, b.Nt >= 2 && b.Nt <= 40)
		for i, at := range b.XTarget {
			if tasks.Known[2*i] {
				require.Equal(t, float32(at+1), tasks.Y[2*i])
			} else {
				require.Equal(t, float32(2*at+1), tasks.Y[2*i+1])
			}
		}
	}
	set.Curves[0].Y[5] = 0
	_, err = NewPredPreyData[float32](set, "")
	require.ErrorContains(t, err, "population 2 of row 3 is 0")
	set.Dy = 1
	_, err = NewPredPreyData[float32](set, "")
	require.ErrorContains(t, err, "two populations")
}
