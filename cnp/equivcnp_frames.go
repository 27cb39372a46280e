package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// framesOf returns the frames in which a batch is seen: those of the model, or in training with random samples some that are drawn for it.
func (m *EquivCNP[T]) framesOf(b *Batch[T], mode layers.Mode) *frames {
	if m.cfg.LiftSamples != SamplesRandom || mode != layers.Train {
		return m.frames
	}
	seed := m.cfg.LiftSeed ^ 0xcbf29ce484222325 // FNV-1a
	for _, v := range b.XContext {
		seed = (seed ^ math.Float64bits(v)) * 0x100000001b3
	}
	return framesAt(&m.cfg, m.group.(group.Turner), stabiliser(&m.cfg, m.group, seed))
}

// liftFeatures gives every lift of a point the point's features [n, c], of which the last are its values, first the
// outputs, as the lift sees them.
func (m *EquivCNP[T]) liftFeatures(features []T, turns [][]float64) []T {
	c, dy, room := m.encoder.channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	out := repeatRows(features, c, m.cfg.Lifts)
	if m.cfg.Lifts == 1 {
		out = append([]T(nil), features...)
	}
	for i, r := range turns {
		seen(out[(i+1)*c-m.encoder.dy:][:dy], r, room)
	}
	return out
}

// liftFeaturesGrad is the gradient of liftFeatures, and takes the place of df.
func (m *EquivCNP[T]) liftFeaturesGrad(df []T, turns [][]float64) []T {
	c, dy, room := m.encoder.channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	var t turner[T]
	for i, r := range turns {
		seen(df[(i+1)*c-m.encoder.dy:][:dy], t.transposed(r, dy), room)
	}
	return sumLifts(df, c, m.cfg.Lifts)
}

// turns are what turns the values of points, one [dy, dy] for each of their lifts; nil where all are scalars, or nothing turns.
func (m *EquivCNP[T]) turns(l *group.Lifted) [][]float64 {
	t, ok := m.group.(group.Turner)
	if !ok || !m.cfg.Vectors() || turnsNothing(m.group) {
		return nil
	}
	f := frames{dx: m.cfg.DimX, dy: m.cfg.DimY, fields: m.cfg.Fields()}
	r, out := make([]float64, f.dx*f.dx), make([][]float64, l.Rows())
	for i := range out {
		a, _ := l.Row(i)
		t.Turn(r, a)
		out[i] = f.ofValues(r, f.dy)
	}
	return out
}
