package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// taskOf is task t of a batch, with the targets of these numbers.
func taskOf[T Float](b *Batch[T], t, dy int, targets []int) *Batch[T] {
	one := &Batch[T]{B: 1, Nc: b.Nc, Nt: len(targets), XContext: b.XContext[t*b.Nc : (t+1)*b.Nc],
		YContext: b.YContext[t*b.Nc*dy : (t+1)*b.Nc*dy], ContextMask: b.ContextMask[t*b.Nc : (t+1)*b.Nc]}
	for _, i := range targets {
		one.XTarget = append(one.XTarget, b.XTarget[t*b.Nt+i])
		one.TargetMask = append(one.TargetMask, b.TargetMask[t*b.Nt+i])
	}
	return one
}

// TestPlacementContext: a prediction is the same to the last bit with the batch or without, with the other targets or without, from a
// plan or not, and up to rounding in a pass for training; also where tasks and targets lie far apart.
func TestPlacementContext(t *testing.T) {
	const tasks, nt, dy = 5, 12, 2
	for _, density := range []float64{16, 10} {
		for name, change := range map[string]func(c *Config){
			"default":    func(c *Config) {},
			"one layer":  func(c *Config) { c.Channels = []int{5, 6} },
			"coordinate": func(c *Config) { c.CoordinateFeature = true },
			"wide":       func(c *Config) { c.Fill = 0.5 },
		} {
			t.Run(fmt.Sprintf("%s/density=%g", name, density), func(t *testing.T) {
				m := lineModel[float32](t, func(c *Config) { change(c); c.PointsPerUnit = density })
				pointsOf(m).conv[0].R[0] *= 1.3 // layers need not agree
				b := lineBatch[float32](tasks, 8, nt, dy, 5)
				for i := range b.XContext {
					b.XContext[i] += 100 * float64(i/b.Nc)
				}
				for i := range b.XTarget {
					b.XTarget[i] += 100 * float64(i/nt)
				}
				clear(b.ContextMask[b.Nc : 2*b.Nc]) // a task without context
				near, err := m.Differentiate(context.Background(), b, layers.Eval)
				require.NoError(t, err)
				all, err := m.Predict(context.Background(), b)
				require.NoError(t, err)
				tol := 1e-4 * max(1, maxAbs(asF64(all.Mean)))
				testkit.Close(t, "mean", near.Mean, asF64(all.Mean), tol)
				testkit.Close(t, "std", near.Std, asF64(all.Std), tol)

				b.XTarget[3], b.XTarget[nt+5], b.TargetMask[3] = 1e7, -12345.678, true
				all, err = m.Predict(context.Background(), b)
				require.NoError(t, err)
				plan, err := m.PlanInterval(context.Background(), -1, 1)
				require.NoError(t, err)
				out := newPrediction[float32](Normal, len(all.Mean))
				require.NoError(t, plan.Predict(context.Background(), out, b))
				require.Equal(t, all, out)
				for task := range tasks {
					for _, kept := range [][]int{{0}, {3}, {5}, {7, 2}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}} {
						one := taskOf(b, task, dy, kept)
						p, err := m.Predict(context.Background(), one)
						require.NoError(t, err)
						for k, i := range kept {
							at := (task*nt + i) * dy
							require.Equal(t, all.Mean[at:at+dy], p.Mean[k*dy:(k+1)*dy], "task %d, target %d of %v", task, i, kept)
							require.Equal(t, all.Std[at:at+dy], p.Std[k*dy:(k+1)*dy])
						}
					}
				}
			})
		}
	}
}

// TestPlacementMoves: on lattices of their own, predictions move with the data; by whole numbers, which coordinates of
// 6 binary places take without rounding, to the last bit.
func TestPlacementMoves(t *testing.T) {
	m := lineModel[float32](t, func(*Config) {})
	b := lineBatch[float32](4, 9, 20, 2, 9)
	want, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	moved := *b
	moved.XContext, moved.XTarget = slices.Clone(b.XContext), slices.Clone(b.XTarget)
	for task := range b.B {
		by := math.Exp2(float64(5 * task))
		for i := range b.Nc {
			moved.XContext[task*b.Nc+i] += by
		}
		for i := range b.Nt {
			moved.XTarget[task*b.Nt+i] += by
		}
	}
	got, err := m.Predict(context.Background(), &moved)
	require.NoError(t, err)
	for task := range b.B {
		if at := task * b.Nt * 2; b.ContextMask[task*b.Nc] {
			require.Equal(t, want.Mean[at:at+b.Nt*2], got.Mean[at:at+b.Nt*2], "task %d", task)
			require.Equal(t, want.Std[at:at+b.Nt*2], got.Std[at:at+b.Nt*2])
		}
	}
}

// TestFarFromContext: beyond the reach of the context the prediction is that without one, and nothing in between is computed: pieces of
// the lattice lie where targets are.
func TestFarFromContext(t *testing.T) {
	m := lineModel[float64](t, func(*Config) {})
	b := &Batch[float64]{B: 1, Nc: 2, Nt: 40, XContext: []float64{0, 0.5}, YContext: []float64{1, 2, 3, 4}}
	for i := range b.Nt {
		b.XTarget = append(b.XTarget, 1e6*float64(i-20)+0.25)
	}
	p, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	none, err := m.Predict(context.Background(), &Batch[float64]{B: 1, Nt: 1, XTarget: []float64{0.25}})
	require.NoError(t, err)
	for i := range b.Nt {
		if i == 20 {
			require.NotEqual(t, none.Mean, p.Mean[40:42], "near the context")
			continue
		}
		require.InDeltaSlice(t, none.Mean, p.Mean[2*i:2*i+2], 1e-9)
		require.InDeltaSlice(t, none.Std, p.Std[2*i:2*i+2], 1e-9)
	}
	_, err = m.Differentiate(context.Background(), b, layers.Eval)
	require.ErrorIs(t, err, ErrRange, "one lattice for all")

	// Many targets over a long stretch come in pieces.
	long := &Batch[float64]{B: 1, Nc: 2, Nt: 3000, XContext: b.XContext, YContext: b.YContext}
	for i := range long.Nt {
		long.XTarget = append(long.XTarget, 2*float64(i)+0.25)
	}
	p, err = m.Predict(context.Background(), long)
	require.NoError(t, err)
	for _, i := range []int{0, 1, 511, 512, 1500, 2999} {
		one := &Batch[float64]{B: 1, Nc: 2, Nt: 1, XContext: b.XContext, YContext: b.YContext, XTarget: long.XTarget[i : i+1]}
		alone, err := m.Predict(context.Background(), one)
		require.NoError(t, err)
		require.Equal(t, alone.Mean, p.Mean[2*i:2*i+2])
	}
}

// TestOutside: what lies out of reach is named and NaN; everything else is predicted as if it were not there.
func TestOutside(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *Config)
		far    float64
		plan   bool
	}{
		"lattice of the batch":   {func(c *Config) { c.Placement = PlacementBatch }, 1e9, false},
		"plan":                   {func(c *Config) { c.Placement = PlacementBatch }, 7, true},
		"lattice of the context": {func(c *Config) {}, 1e20, false},
		"its plan":               {func(c *Config) {}, -1e20, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := lineModel[float32](t, c.change)
			predict := m.Predict
			if c.plan {
				plan, err := m.PlanInterval(context.Background(), -2, 2)
				require.NoError(t, err)
				predict = func(ctx context.Context, b *Batch[float32]) (*Prediction[float32], error) {
					p := newPrediction[float32](Normal, b.B*b.Nt*2)
					return p, plan.Predict(ctx, p, b)
				}
			}
			b := lineBatch[float32](3, 6, 8, 2, 4)
			b.TargetMask[8+2] = false
			want, err := predict(context.Background(), b)
			require.NoError(t, err)
			b.TargetMask[8+2], b.XTarget[8+2] = true, c.far
			mask := slices.Clone(b.TargetMask)
			got, err := predict(context.Background(), b)
			var out *OutsideError
			require.True(t, errors.As(err, &out), "%v", err)
			require.ErrorIs(t, err, ErrRange)
			require.Equal(t, []OutsidePoint{{"x_target", 1, 2, []float64{c.far}}}, out.Points)
			require.ErrorContains(t, err, fmt.Sprintf("out of range: x_target[1, 2] = %v lies outside ", c.far))
			require.Equal(t, mask, b.TargetMask, "the batch is the caller's")
			for i := range got.Mean {
				if i/2 == 8+2 {
					require.True(t, math.IsNaN(float64(got.Mean[i])) && math.IsNaN(float64(got.Std[i])))
				} else {
					require.Equal(t, want.Mean[i], got.Mean[i])
					require.Equal(t, want.Std[i], got.Std[i])
				}
			}
			if b.XContext[0] = c.far; c.plan && m.cfg.Placement == PlacementBatch { // a context point takes its task with it
				got, err = predict(context.Background(), b)
				require.True(t, errors.As(err, &out))
				require.Len(t, out.Points, 2)
				require.ErrorContains(t, err, "x_context[0, 0] = 7, x_target[1, 2] = 7 lie outside the plan's interval, -2 to 2")
				require.True(t, math.IsNaN(float64(got.Mean[0])))
				require.Equal(t, want.Mean[32:], got.Mean[32:])
			}
		})
	}
	c := Default(ConvCNPCurve, "", 1)
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	b := &Batch[float32]{B: 1, Nc: 2, Nt: 3, XContext: []float64{0, 1}, YContext: []float32{1, 2}, XTarget: []float64{0.5, 1e300, 0.7}}
	p, err := m.(Regressor[float32]).Predict(context.Background(), b)
	require.ErrorContains(t, err, "x_target[0, 1] = 1e+300")
	require.True(t, p.Mean[0] == p.Mean[0] && p.Mean[1] != p.Mean[1])
}
