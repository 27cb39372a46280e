package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// moves lists, per group, how to draw an element under which the prediction must move along exactly: all of the group
// where the stabiliser is trivial, and the part of it that maps the K stabiliser samples to themselves elsewhere.
var moves = []struct {
	group string
	lifts int
	draw  func(rng *rand.Rand) []float64 // algebra coordinates
}{
	{"T(1)", 1, func(r *rand.Rand) []float64 { return []float64{5 * r.NormFloat64()} }},
	{"T(2)", 1, func(r *rand.Rand) []float64 { return []float64{5 * r.NormFloat64(), 5 * r.NormFloat64()} }},
	{"T(3)", 1, func(r *rand.Rand) []float64 {
		return []float64{5 * r.NormFloat64(), 5 * r.NormFloat64(), 5 * r.NormFloat64()}
	}},
	{"T(5)", 1, func(r *rand.Rand) []float64 {
		return []float64{5 * r.NormFloat64(), 5 * r.NormFloat64(), 5 * r.NormFloat64(), 5 * r.NormFloat64(), 5 * r.NormFloat64()}
	}},
	{"SO(2)", 1, func(r *rand.Rand) []float64 { return []float64{math.Pi * (2*r.Float64() - 1)} }},
	{"R>0xSO(2)", 1, func(r *rand.Rand) []float64 { return []float64{r.NormFloat64(), math.Pi * (2*r.Float64() - 1)} }},
	{"R>0(1)", 1, func(r *rand.Rand) []float64 { return []float64{r.NormFloat64()} }},
	{"R>0(2)", 1, func(r *rand.Rand) []float64 { return []float64{r.NormFloat64()} }},
	{"SE(2)", 1, func(r *rand.Rand) []float64 { return []float64{0, 5 * r.NormFloat64(), 5 * r.NormFloat64()} }},
	{"SE(2)", 4, func(r *rand.Rand) []float64 {
		return []float64{float64(r.IntN(4)-1) * math.Pi / 2, 5 * r.NormFloat64(), 5 * r.NormFloat64()}
	}},
	{"SE(2)", 6, func(r *rand.Rand) []float64 {
		return []float64{float64(r.IntN(6)-2) * math.Pi / 3, 5 * r.NormFloat64(), 5 * r.NormFloat64()}
	}},
	{"trivial(2)", 1, func(r *rand.Rand) []float64 { return nil }},
}

func act(t *testing.T, g group.Group, a, x []float64) []float64 {
	t.Helper()
	out, d := make([]float64, len(x)), g.PointDim()
	for i := 0; i < len(x); i += d {
		g.Act(out[i:i+d], a, x[i:i+d])
	}
	return out
}

// pointModel is an EquivCNP whose features sit on the context points and targets themselves.
func pointModel[T Float](t *testing.T, name string, lifts int) *EquivCNP[T] {
	t.Helper()
	c := Default(EquivCNPCurve, name, 2)
	c.PointsPerUnit, c.Margin, c.Lifts, c.Multiplicity, c.Fill = 0, 0, lifts, 2, 0.4
	c.Channels, c.Hidden, c.Mid = []int{6, 8, 6}, 12, 5
	m, err := New[T](c, 3)
	require.NoError(t, err)
	perturb(m.State(), 5)
	return m.(*EquivCNP[T])
}

// perturb makes a new model lively: weights twice as large, so that the prediction depends visibly on its inputs, and
// running statistics away from their neutral start, so that batch normalisation does something.
func perturb[T Float](ps []layers.Param[T], seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, p := range ps {
		for i := range p.Data {
			switch {
			case !p.Buffer:
				p.Data[i] *= 2
			case len(p.Shape) > 0:
				p.Data[i] += T(0.3 * rng.Float64())
			}
		}
	}
}

func randomBatch[T Float](rng *rand.Rand, b, nc, nt, dx, dy int) *Batch[T] {
	out := &Batch[T]{B: b, Nc: nc, Nt: nt}
	for range b * nc * dx {
		out.XContext = append(out.XContext, rng.NormFloat64())
	}
	for range b * nc * dy {
		out.YContext = append(out.YContext, T(rng.NormFloat64()))
	}
	for range b * nt * dx {
		out.XTarget = append(out.XTarget, rng.NormFloat64())
	}
	return out
}

func widen[T Float](v []T) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

// requireSame compares predictions relative to how much they vary, so that a nearly constant one proves nothing: 1e-4
// of it covers the rounding of float32 features, whose inputs differ in the last bits of the poses; 1e-9 that of float64.
func requireSame[T Float](t *testing.T, name string, got, want *Prediction[T]) {
	t.Helper()
	tol := 1e-9
	if is32[T]() {
		tol = 1e-4
	}
	for _, v := range []struct {
		what      string
		got, want []T
	}{{"mean", got.Mean, want.Mean}, {"std", got.Std, want.Std}} {
		w := widen(v.want)
		lo, hi := w[0], w[0]
		for _, x := range w {
			lo, hi = min(lo, x), max(hi, x)
		}
		testkit.Close(t, name+" "+v.what, v.got, w, tol*(hi-lo))
	}
}

// requireVaries guards a property test against a model that ignores its input: the first output must vary.
func requireVaries[T Float](t *testing.T, p *Prediction[T], outputs int) {
	t.Helper()
	lo, hi := p.Mean[0], p.Mean[0]
	for i := 0; i < len(p.Mean); i += outputs {
		lo, hi = min(lo, p.Mean[i]), max(hi, p.Mean[i])
	}
	require.Greater(t, float64(hi-lo), 0.01*maxAbs(widen(p.Mean)), "the model predicts a constant: the test would prove nothing")
}

func testPointEquivariance[T Float](t *testing.T) {
	for _, mv := range moves {
		t.Run(fmt.Sprintf("%s/K=%d", mv.group, mv.lifts), func(t *testing.T) {
			m := pointModel[T](t, mv.group, mv.lifts)
			rng := rand.New(rand.NewPCG(7, 7))
			b := randomBatch[T](rng, 1, 12, 9, m.cfg.DimX, 2)
			want, err := m.Predict(context.Background(), b)
			require.NoError(t, err)
			requireVaries(t, want, 2)
			for i := range 50 {
				a := mv.draw(rng)
				moved := *b
				moved.XContext, moved.XTarget = act(t, m.group, a, b.XContext), act(t, m.group, a, b.XTarget)
				got, err := m.Predict(context.Background(), &moved)
				require.NoError(t, err)
				requireSame(t, fmt.Sprintf("g %d = %v:", i, a), got, want)
			}
		})
	}
}

func TestEquivarianceOnPoints(t *testing.T) {
	t.Run("F32", testPointEquivariance[float32])
	t.Run("F64", testPointEquivariance[float64])
}

// TestEquivarianceOnLattice: a lattice follows the data under translations. Its end points are rounded after the shift,
// so the poses move by an ulp of the coordinate.
func TestEquivarianceOnLattice(t *testing.T) {
	for _, readout := range Readouts {
		for _, coordinates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/coordinates=%v", readout, coordinates), func(t *testing.T) {
				c := Default(EquivCNPCurve, "T(1)", 1)
				c.PointsPerUnit, c.Readout, c.CoordinateFeature, c.Fill = 16, readout, coordinates, 0.2
				if readout != ReadoutQueries {
					c.Placement = PlacementBatch
				}
				model, err := New[float64](c, 3)
				require.NoError(t, err)
				perturb(model.State(), 5)
				m := model.(Regressor[float64])
				rng := rand.New(rand.NewPCG(8, 8))
				b := randomBatch[float64](rng, 2, 7, 5, 1, 1)
				want, err := m.Predict(context.Background(), b)
				require.NoError(t, err)
				broken := 0
				for range 50 {
					s := 3 * rng.NormFloat64()
					moved := *b
					moved.XContext, moved.XTarget = nil, nil
					for _, x := range b.XContext {
						moved.XContext = append(moved.XContext, x+s)
					}
					for _, x := range b.XTarget {
						moved.XTarget = append(moved.XTarget, x+s)
					}
					got, err := m.Predict(context.Background(), &moved)
					require.NoError(t, err)
					if !coordinates {
						requireSame(t, fmt.Sprint("shift ", s), got, want)
					} else if math.Abs(got.Mean[0]-want.Mean[0]) > 1e-6 {
						broken++
					}
				}
				if coordinates {
					require.Greater(t, broken, 40, "the coordinate feature breaks equivariance; if not, it is not there")
				}
			})
		}
	}
}

func imageModel[T Float](t *testing.T, name string, lifts, channels int) *ImageEquivCNP[T] {
	t.Helper()
	c := Default(EquivCNPImage, name, channels)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Lifts = []int{8}, 2, 8, 4, lifts
	c.Fill, c.BlockFill, c.BlockBatchNorm, c.Multiplicity = 0.02, 0.012, true, 2
	m, err := New[T](c, 4)
	require.NoError(t, err)
	perturb(m.State(), 6)
	return m.(*ImageEquivCNP[T])
}

func randomImages[T Float](rng *rand.Rand, b, c, h, w int) *Images[T] {
	im := &Images[T]{B: b, C: c, H: h, W: w}
	for range b * c * h * w {
		im.Pixels = append(im.Pixels, T(rng.Float64()))
	}
	for range b * h * w {
		im.Mask = append(im.Mask, rng.Float64() < 0.4)
	}
	return im
}

// TestEquivarianceOfImages moves the pixels themselves: the model knows points, not a grid, so moving all of them by any
// element of the group must leave the prediction at each as it was.
func TestEquivarianceOfImages(t *testing.T) {
	for _, mv := range moves {
		g, err := group.Parse(mv.group, 0)
		require.NoError(t, err)
		if g.PointDim() != 2 {
			continue
		}
		t.Run(fmt.Sprintf("%s/K=%d", mv.group, mv.lifts), func(t *testing.T) {
			m := imageModel[float32](t, mv.group, mv.lifts, 1)
			rng := rand.New(rand.NewPCG(9, 9))
			im := randomImages[float32](rng, 1, 1, 8, 7)
			x := axis.Grid(8, 7)
			for i := range x { // off the grid: no two pixels alike
				x[i] += 0.2 * rng.NormFloat64()
			}
			predict := func(x []float64) *Prediction[float32] {
				p, err := m.PlanGeometry(context.Background(), Geometry{Points: x}, PlanOptions{})
				require.NoError(t, err)
				return predictPlan(t, p, im)
			}
			want := predict(x)
			requireVaries(t, want, 1)
			for i := range 50 {
				a := mv.draw(rng)
				requireSame(t, fmt.Sprintf("g %d = %v:", i, a), predict(act(t, g, a, x)), want)
			}
		})
	}
}

// TestEquivarianceAtCentre: the centre of rotations has no angle. Below a radius of 1-alpha, 0.7, it is a neighbour of
// itself alone, and predictions turn with points and pixels that lie there as well; above it they do not, which
// docs/equivariance.md says.
func TestEquivarianceAtCentre(t *testing.T) {
	setRadii := func(ps []layers.Param[float64], r float64) {
		for _, p := range ps {
			if strings.HasSuffix(p.Name, ".r") {
				p.Data[0] = r
			}
		}
	}
	for _, radius := range []float64{0.65, 0.95} {
		m := pointModel[float64](t, "SO(2)", 1)
		setRadii(m.State(), radius)
		b := randomBatch[float64](rand.New(rand.NewPCG(7, 8)), 1, 12, 9, 2, 2)
		copy(b.XContext[6:8], []float64{0, 0})
		copy(b.XTarget[4:6], []float64{0, 0})
		want, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		moved := *b
		a := []float64{0.3}
		moved.XContext, moved.XTarget = act(t, m.group, a, b.XContext), act(t, m.group, a, b.XTarget)
		got, err := m.Predict(context.Background(), &moved)
		require.NoError(t, err)

		const size = 9 // odd: the middle pixel lies in the centre
		images := imageModel[float64](t, "SO(2)", 1, 1)
		setRadii(images.State(), radius)
		im := randomImages[float64](rand.New(rand.NewPCG(10, 2)), 1, 1, size, size)
		whole, err := images.Complete(context.Background(), im)
		require.NoError(t, err)
		turned := *im
		turned.Pixels, turned.Mask = rotate(im.Pixels, size), rotate(im.Mask, size)
		quarter, err := images.Complete(context.Background(), &turned)
		require.NoError(t, err)
		whole = &Prediction[float64]{Mean: rotate(whole.Mean, size), Std: rotate(whole.Std, size)}
		if radius < 0.7 {
			requireSame(t, "points", got, want)
			requireSame(t, "pixels", quarter, whole)
			continue
		}
		require.Greater(t, largest(got.Mean, want.Mean), 1e-6, "points")
		require.Greater(t, largest(quarter.Mean, whole.Mean), 1e-6, "pixels")
	}
}

// rotate turns every plane of v [n, s, s] by 90 degrees.
func rotate[E any](v []E, s int) []E {
	out := make([]E, len(v))
	for i := range v {
		p, y, x := i/(s*s), i/s%s, i%s
		out[p*s*s+x*s+(s-1-y)] = v[i]
	}
	return out
}

// TestRotatedImage: a square pixel grid maps to itself under rotations by 90 degrees, so there the completed image
// turns with the given one under the groups that rotate. Under the others it must not.
func TestRotatedImage(t *testing.T) {
	for _, c := range []struct {
		group string
		lifts int
		exact bool
	}{{"SO(2)", 1, true}, {"R>0xSO(2)", 1, true}, {"SE(2)", 4, true}, {"Sim(2) at 2 scales", 8, true}, {"SE(2)", 1, false},
		{"Sim(2) at 2 scales", 2, false}, {"T(2)", 1, false}} {
		t.Run(fmt.Sprintf("%s/K=%d", c.group, c.lifts), func(t *testing.T) {
			m := imageModel[float64](t, c.group, c.lifts, 3)
			im := randomImages[float64](rand.New(rand.NewPCG(10, 1)), 1, 3, 10, 10)
			want, err := m.Complete(context.Background(), im)
			require.NoError(t, err)
			turned := *im
			turned.Pixels, turned.Mask = rotate(im.Pixels, 10), rotate(im.Mask, 10)
			got, err := m.Complete(context.Background(), &turned)
			require.NoError(t, err)
			want = &Prediction[float64]{Mean: rotate(want.Mean, 10), Std: rotate(want.Std, 10)}
			if c.exact {
				requireSame(t, "quarter turn", got, want)
				return
			}
			worst := 0.0
			for i := range got.Mean {
				worst = max(worst, math.Abs(got.Mean[i]-want.Mean[i]))
			}
			require.Greater(t, worst, 1e-4, "this group does not rotate; an equal answer would mean a dead model")
		})
	}
}

// TestPermutationAndPadding: the order of the context is meaningless, and so is padding, whatever it holds.
func TestPermutationAndPadding(t *testing.T) {
	models := map[string]Config{}
	for _, mv := range moves {
		c := pointModel[float32](t, mv.group, mv.lifts).cfg
		models[fmt.Sprintf("equivcnp %s K=%d", mv.group, mv.lifts)] = c
	}
	c := Default(EquivCNPCurve, "T(1)", 2)
	c.PointsPerUnit = 16
	models["equivcnp lattice"] = c
	c.Readout, c.Placement = ReadoutRBF, PlacementBatch
	models["equivcnp basis functions"] = c
	models["convcnp"] = Default(ConvCNPCurve, "", 2)
	models["cnp"] = Default(CNPCurve, "", 2)
	nan := float32(math.NaN())
	for name, c := range models {
		t.Run(name, func(t *testing.T) {
			model, err := New[float32](c, 5)
			require.NoError(t, err)
			m := model.(Regressor[float32])
			rng := rand.New(rand.NewPCG(11, 1))
			dx := c.DimX
			b := randomBatch[float32](rng, 2, 8, 6, dx, 2)
			want, err := m.Predict(context.Background(), b)
			require.NoError(t, err)

			perm := *b
			perm.XContext, perm.YContext = nil, nil
			for task := range 2 {
				for _, i := range rng.Perm(8) {
					p := task*8 + i
					perm.XContext = append(perm.XContext, b.XContext[p*dx:(p+1)*dx]...)
					perm.YContext = append(perm.YContext, b.YContext[p*2:(p+1)*2]...)
				}
			}
			got, err := m.Predict(context.Background(), &perm)
			require.NoError(t, err)
			requireSame(t, "permuted", got, want)

			padded := &Batch[float32]{B: 2, Nc: 11, Nt: 8}
			pad := &Prediction[float32]{}
			for task := range 2 {
				for i := range 11 {
					real := i != 0 && i != 4 && i != 10
					padded.ContextMask = append(padded.ContextMask, real)
					if !real {
						for range dx {
							padded.XContext = append(padded.XContext, math.NaN())
						}
						padded.YContext = append(padded.YContext, nan, nan)
						continue
					}
					p := task*8 + map[int]int{1: 0, 2: 1, 3: 2, 5: 3, 6: 4, 7: 5, 8: 6, 9: 7}[i]
					padded.XContext = append(padded.XContext, b.XContext[p*dx:(p+1)*dx]...)
					padded.YContext = append(padded.YContext, b.YContext[p*2:(p+1)*2]...)
				}
				for i := range 8 {
					real := i != 3 && i != 7
					padded.TargetMask = append(padded.TargetMask, real)
					if !real {
						for range dx {
							padded.XTarget = append(padded.XTarget, math.Inf(1))
						}
						pad.Mean, pad.Std = append(pad.Mean, 0, 0), append(pad.Std, 0, 0)
						continue
					}
					k := i
					if i > 3 {
						k--
					}
					p := task*6 + k
					padded.XTarget = append(padded.XTarget, b.XTarget[p*dx:(p+1)*dx]...)
					pad.Mean = append(pad.Mean, want.Mean[p*2:(p+1)*2]...)
					pad.Std = append(pad.Std, want.Std[p*2:(p+1)*2]...)
				}
			}
			got, err = m.Predict(context.Background(), padded)
			require.NoError(t, err)
			requireSame(t, "padded", got, pad)
		})
	}
}
