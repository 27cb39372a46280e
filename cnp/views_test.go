package cnp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// viewed is a small model with views.
func viewed(t *testing.T, group string, lifts int, views cnp.Views) *cnp.ImageViews[float64] {
	t.Helper()
	c := cnp.Default(cnp.EquivCNPImage, group, 2)
	c.Lifts, c.Views = lifts, &views
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill, c.RadiusRate = []int{4}, 1, 4, 3, 0.006, 0.004, 0
	m, err := cnp.New[float64](c, 3)
	require.NoError(t, err)
	return m.(*cnp.ImageViews[float64])
}

// observedIn draws images of which pixels of the square from lo to hi may be observed; the others are not a number.
func observedIn(b, side, lo, hi int, rng *rand.Rand) *cnp.Images[float64] {
	im := &cnp.Images[float64]{B: b, C: 2, H: side, W: side, Pixels: make([]float64, b*2*side*side), Mask: make([]bool, b*side*side)}
	for i := range im.Mask {
		p := i % (side * side)
		y, x := p/side, p%side
		im.Mask[i] = y >= lo && y < hi && x >= lo && x < hi && rng.IntN(2) == 0
	}
	for i := range im.Pixels {
		im.Pixels[i] = rng.Float64()
		if !im.Mask[i/(2*side*side)*side*side+i%(side*side)] {
			im.Pixels[i] = math.NaN()
		}
	}
	return im
}

// movedImages takes the pixel at (y, x) of images to where to says.
func movedImages(im *cnp.Images[float64], to func(y, x int) (int, int)) *cnp.Images[float64] {
	out, n := &cnp.Images[float64]{B: im.B, C: im.C, H: im.H, W: im.W, Pixels: make([]float64, len(im.Pixels)),
		Mask: make([]bool, len(im.Mask))}, im.H*im.W
	for p := range n {
		y, x := to(p/im.W, p%im.W)
		for b := range im.B {
			out.Mask[b*n+y*im.W+x] = im.Mask[b*n+p]
			for c := range im.C {
				out.Pixels[(b*im.C+c)*n+y*im.W+x] = im.Pixels[(b*im.C+c)*n+p]
			}
		}
	}
	return out
}

// Quarter turns exchange the views, and the prediction turns; where a pixel is a cell wide, it moves with whole pixels, too.
func TestViewsMove(t *testing.T) {
	const side = 20
	for name, c := range map[string]struct {
		views  cnp.Views
		lo, hi int
		within int // pixels from the border that are compared
		to     func(y, x int) (int, int)
	}{
		"turned": {cnp.DefaultViews(), 0, side, 0, func(y, x int) (int, int) { return side - 1 - x, y }},
		"shifted": {cnp.Views{Min: 0.5, Max: 0.5, Cell: 2, Trust: 0.25}, 8, 12, 8,
			func(y, x int) (int, int) { return (y + 1) % side, (x + 2) % side }},
	} {
		t.Run(name, func(t *testing.T) {
			group, lifts := "Sim(2) at 2 scales", 8
			if name == "shifted" {
				group, lifts = "Sim(2)", 4
			}
			m := viewed(t, group, lifts, c.views)
			im := observedIn(2, side, c.lo, c.hi, rand.New(rand.NewPCG(1, 2)))
			was, err := m.Complete(t.Context(), im)
			require.NoError(t, err)
			now, err := m.Complete(t.Context(), movedImages(im, c.to))
			require.NoError(t, err)
			for i := range was.Mean {
				p := i % (side * side)
				y, x := p/side, p%side
				if min(y, x) < c.within || max(y, x) >= side-c.within {
					continue
				}
				ty, tx := c.to(y, x)
				j := i - p + ty*side + tx
				for _, d := range []float64{was.Mean[i] - now.Mean[j], was.Std[i] - now.Std[j]} {
					require.True(t, math.Abs(d) <= 1e-9, "value %d differs by %g", i, d)
				}
			}
		})
	}
}

// A plan predicts what Complete does, an image alone what it does in a batch, and an image of which nothing is known
// has a prediction as well.
func TestViewsPlan(t *testing.T) {
	m := viewed(t, "Sim(2) at 2 scales", 6, cnp.DefaultViews())
	im := observedIn(3, 12, 0, 12, rand.New(rand.NewPCG(3, 4)))
	clear(im.Mask[:144])
	want, err := m.Complete(t.Context(), im)
	require.NoError(t, err)
	plan, err := m.Plan(t.Context(), cnp.Pixels(12, 12), cnp.PlanOptions{})
	require.NoError(t, err)
	for b := range im.B {
		one := &cnp.Images[float64]{B: 1, C: 2, H: 12, W: 12, Pixels: im.Pixels[b*288 : (b+1)*288], Mask: im.Mask[b*144 : (b+1)*144]}
		got := &cnp.Prediction[float64]{Mean: make([]float64, 288), Std: make([]float64, 288)}
		require.NoError(t, plan.Predict(t.Context(), got, one))
		require.Equal(t, want.Mean[b*288:(b+1)*288], got.Mean)
		require.Equal(t, want.Std[b*288:(b+1)*288], got.Std)
		for i := range got.Mean {
			require.True(t, !math.IsNaN(got.Mean[i]-got.Mean[i]) && got.Std[i] > 0)
		}
	}
	require.ErrorIs(t, plan.Predict(t.Context(), want, observedIn(3, 10, 0, 1, rand.New(rand.NewPCG(3, 4)))), cnp.ErrShape)
	require.ErrorIs(t, plan.Predict(t.Context(), &cnp.Prediction[float64]{}, im), cnp.ErrShape)
	_, err = m.Plan(t.Context(), cnp.Pixels(0, 12), cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrShape)
	_, err = m.Plan(t.Context(), cnp.Pixels(1<<13, 1<<13), cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrMemory)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Complete(ctx, im)
	require.ErrorIs(t, err, context.Canceled)

	// Parameters that change are noticed.
	m.State()[0].Data[0] += 0.5
	other, err := m.Complete(t.Context(), im)
	require.NoError(t, err)
	require.NotEqual(t, want.Mean, other.Mean)
	need, err := cnp.EstimateModel[float64](m, cnp.Work{Batch: 1, H: 12, W: 12})
	require.NoError(t, err)
	require.Positive(t, need.Bytes())
}

// With a floor an observed pixel keeps its value to within what the floor allows, and the others are predicted as without.
func TestViewsObserved(t *testing.T) {
	m := viewed(t, "Sim(2) at 2 scales", 6, cnp.DefaultViews())
	c := m.Config()
	c.Floor = 0.01
	floored, err := cnp.New[float64](c, 3)
	require.NoError(t, err)
	im := observedIn(2, 12, 0, 12, rand.New(rand.NewPCG(5, 6)))
	got, err := floored.(*cnp.ImageViews[float64]).Complete(t.Context(), im)
	require.NoError(t, err)
	seen := 0
	for i, y := range im.Pixels {
		if !im.Mask[i/288*144+i%144] {
			require.True(t, got.Std[i] >= c.Floor, "value %d has deviation %g", i, got.Std[i])
			continue
		}
		seen++
		require.True(t, math.Abs(got.Mean[i]-y) <= 0.01, "value %d is %g, observed as %g", i, got.Mean[i], y)
		require.True(t, got.Std[i] >= c.Floor && got.Std[i] <= 2*c.Floor, "value %d has deviation %g", i, got.Std[i])
	}
	require.Positive(t, seen)
}

// A view's canvas holds what lies on it.
func TestPaint(t *testing.T) {
	v := cnp.View{Angle: math.Pi / 2, Scale: 0.5, Cell: 2, Side: 6}
	canvas, seen := make([]float64, 36), make([]bool, 36)
	cnp.Paint(&v, canvas, seen, []float64{1, 2, 3, 4}, []bool{true, true, false, true}, 1, 2, 2)
	// What the view is for is turned anticlockwise: what is below left belongs above left.
	require.Equal(t, []float64{0, 1, 4, 2}, []float64{canvas[14], canvas[15], canvas[20], canvas[21]})
	require.Equal(t, []bool{false, true, true, true}, []bool{seen[14], seen[15], seen[20], seen[21]})
	v = cnp.View{Scale: 1, Cell: 4, Side: 4}
	cnp.Paint(&v, canvas[:16], seen[:16], []float64{1, 2, 3, 5}, []bool{true, true, false, false}, 1, 2, 2)
	require.Equal(t, []float64{1, 2}, []float64{canvas[5], canvas[6]}, "the middle is a corner of cells")
}

// What no views can be made of is refused by name.
func TestViewsConfig(t *testing.T) {
	for want, change := range map[string]func(c *cnp.Config){
		"under T(2)":          func(c *cnp.Config) { c.Group, c.Lifts = "T(2)", 1 },
		"lifts = 5":           func(c *cnp.Config) { c.Lifts = 5 },
		"lifts = 512":         func(c *cnp.Config) { c.Lifts = 512 },
		"sizes from 0 to 1":   func(c *cnp.Config) { c.Views.Min = 0 },
		"sizes from 0.3 to":   func(c *cnp.Config) { c.Views.Max = math.NaN() },
		"cell = NaN":          func(c *cnp.Config) { c.Views.Cell = math.NaN() },
		"trust = 0":           func(c *cnp.Config) { c.Views.Trust = 0 },
		"only the normal one": func(c *cnp.Config) { c.Likelihood = "normal:noise" },
	} {
		v := cnp.DefaultViews()
		c := cnp.Default(cnp.EquivCNPImage, "Sim(2) at 2 scales", 1)
		c.Lifts, c.Views = 4, &v
		change(&c)
		err := c.Validate()
		require.ErrorIs(t, err, cnp.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}
