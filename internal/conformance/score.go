package conformance

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// widen returns the tasks in float64.
func widen(t *task.Tasks[float32]) *task.Tasks[float64] {
	w := &task.Tasks[float64]{Y: wider(t.Y), Known: t.Known}
	if im := t.Images; im != nil {
		w.Images = &cnp.Images[float64]{B: im.B, C: im.C, H: im.H, W: im.W, Pixels: wider(im.Pixels), Mask: im.Mask}
		return w
	}
	b := t.Curves
	w.Curves = &cnp.Batch[float64]{B: b.B, Nc: b.Nc, Nt: b.Nt, XContext: b.XContext, YContext: wider(b.YContext), XTarget: b.XTarget,
		ContextMask: b.ContextMask, TargetMask: b.TargetMask}
	return w
}

func wider(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// perValue is the mean log-density of known values, each by itself.
func perValue(p *cnp.Prediction[float64], t *task.Tasks[float64]) float64 {
	counts := t.Counts()
	if counts == nil {
		counts = slices.Repeat([]bool{true}, len(t.Y))
	}
	sum, n := 0.0, 0
	for i, y := range t.Y {
		if counts[i] {
			sum += p.LogDensityAt(i, y)
			n++
		}
	}
	return sum / float64(n)
}

// oracle is the same for the Gaussian process that drew the tasks, and false if another process did.
func oracle(src task.Source[float32], t *task.Tasks[float32]) (float64, bool, error) {
	g, ok := src.(task.GaussianSource[float32])
	if !ok || !g.Gaussian() {
		return 0, false, nil
	}
	mean, factor, err := g.Predictive(t)
	if err != nil {
		return 0, false, err
	}
	dy, counts := shapeOf(t)[2], t.Counts()
	sum, n := 0.0, 0
	for i, y := range t.Y {
		if counts != nil && !counts[i] {
			continue
		}
		row, variance := factor[i*dy:(i+1)*dy], 0.0
		for _, l := range row {
			variance += l * l
		}
		d := float64(y) - mean[i]
		sum -= 0.5 * (d*d/variance + math.Log(2*math.Pi*variance))
		n++
	}
	return sum / float64(n), true, nil
}
