package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// smoothModels are models whose predictions have to be continuous, with a task for each.
func smoothModels(t *testing.T) map[string]*EquivCNP[float64] {
	models := map[string]*EquivCNP[float64]{}
	add := func(name, group string, change func(c *Config)) {
		c := Default(EquivCNPCurve, group, 2)
		c.Channels, c.Hidden, c.Mid, c.PointsPerUnit, c.Fill = []int{4, 6, 5}, 6, 4, min(c.PointsPerUnit, 8), 0.2
		change(&c)
		m, err := New[float64](c, 11)
		require.NoError(t, err, name)
		perturb(m.State(), 12)
		models[name] = m.(*EquivCNP[float64])
	}
	for _, group := range []string{"T(1)", "T(2)"} { // their taps are random, and multiply
		m, err := New[float64](levelsConfig(group, 2), 11)
		require.NoError(t, err)
		models["levels "+group] = m.(*EquivCNP[float64])
	}
	add("T(1)", "T(1)", func(*Config) {})
	add("T(1)/points", "T(1)", func(c *Config) { c.PointsPerUnit, c.Placement = 0, PlacementBatch })
	add("T(2)/points", "T(2)", func(c *Config) { c.PointsPerUnit = 0 })
	add("SE(2)/points", "SE(2)", func(c *Config) { c.PointsPerUnit, c.Lifts = 0, 2 })
	return models
}

// TestContinuous: the prediction is a continuous function of targets, context positions and radius: over ever finer steps, the greatest
// difference along a path falls at least as fast as the steps, wherever neighbours come in and leave.
func TestContinuous(t *testing.T) {
	for name, m := range smoothModels(t) {
		rng := rand.New(rand.NewPCG(70, 1))
		b := randomBatch[float64](rng, 1, 6, 9, m.cfg.DimX, 2)
		paths := map[string]func(b *Batch[float64], s float64){
			"targets": func(b *Batch[float64], s float64) {
				for i := range b.XTarget {
					b.XTarget[i] += s
				}
			},
			"context": func(b *Batch[float64], s float64) { b.XContext[3] += s },
			"all of it": func(b *Batch[float64], s float64) {
				for i := range b.XContext {
					b.XContext[i] += s * math.Sin(float64(i))
				}
			},
		}
		if m.cfg.PointsPerUnit > 0 {
			paths["lattice"] = func(b *Batch[float64], s float64) { b.moved = s }
		}
		radii := map[*float64]float64{}
		for _, p := range m.State() {
			if p.Buffer && len(p.Data) == 1 {
				radii[&p.Data[0]] = p.Data[0]
			}
		}
		if len(radii) > 0 {
			paths["radius"] = func(_ *Batch[float64], s float64) {
				for p, v := range radii {
					*p = v * (1 + s)
				}
			}
		}
		for path, move := range paths {
			t.Run(name+"/"+path, func(t *testing.T) {
				at := func(s float64) []float64 {
					moved := *b
					moved.XContext, moved.XTarget = slices.Clone(b.XContext), slices.Clone(b.XTarget)
					move(&moved, s)
					p, err := m.Predict(context.Background(), &moved)
					require.NoError(t, err)
					return append(slices.Clone(p.Mean), p.Std...)
				}
				defer move(&Batch[float64]{XContext: make([]float64, 99), XTarget: make([]float64, 99)}, 0)
				// The greatest step of a path of 96 is where something happens; there the path goes on finer.
				lo, width := 0.0, 0.5
				for level := range 4 {
					const n = 96
					last, worst, where := at(lo), 0.0, 0
					for k := 1; k <= n; k++ {
						now, d := at(lo+width*float64(k)/n), 0.0
						for i := range now {
							d = grown(d, now[i]-last[i])
						}
						if last = now; !(d <= worst) {
							worst, where = d, k
						}
					}
					require.LessOrEqual(t, worst, 40*width/n+1e-11, "level %d, at %g", level, lo)
					lo += width * (float64(where) - 1.5) / n
					width *= 2.0 / n
				}
			})
		}
	}
}

// TestBoxJumps: without a window a prediction jumps where a lattice point comes in.
func TestBoxJumps(t *testing.T) {
	for _, window := range layers.Windows {
		// The bounds below are for predictions as large as this model's; with a density for each output its random weights are others.
		m := lineModel[float64](t, func(c *Config) { c.Window, c.ChannelDensity = window, false })
		s, err := MeasureSmoothness[float64](context.Background(), m)
		require.NoError(t, err)
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Logf("%+v", s)
			if window == layers.WindowBox {
				require.Greater(t, s.Step, 1e-3)
			} else {
				require.Less(t, s.Step, 1e-3)
				require.Less(t, s.Ripple, 1e-3)
			}
		})
	}
}
