package eval

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// planeModel is a small model of scattered points in the plane, with random parameters.
func planeModel(t *testing.T, name string, units *cnp.Trained) cnp.Model[float32] {
	t.Helper()
	c := cnp.Default(cnp.EquivCNPCurve, name, 1)
	c.PointsPerUnit, c.Fill, c.Channels, c.EncoderLength, c.Trained = 0, 0.9, []int{3, 4}, 0, units
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	return m
}

// What a model is equivariant under is built in, and nothing else is.
func TestSymmetriesBuiltIn(t *testing.T) {
	for name, built := range map[string][]bool{"T(2)": {true, false, false}, "SO(2)": {false, true, false},
		"R>0xSO(2)": {false, true, true}, "trivial(2)": {false, false, false}} {
		found, err := Symmetries(context.Background(), planeModel(t, name, nil), task.PlaneSource[float32]{Kind: "isotropic"},
			Options{Tasks: 6, Batch: 4, Seed: 3})
		require.NoError(t, err)
		require.Len(t, found, 3)
		for i, move := range []string{"translations", "rotations", "scalings"} {
			require.Equal(t, move, found[i].Move)
			require.Equal(t, built[i], found[i].BuiltIn, "%s under %s: %+v", move, name, found[i].LogLikelihood)
			if built[i] {
				require.False(t, found[i].Broken)
			}
		}
	}
}

// Tasks move about the centre of the model's own coordinates, and their values stay.
func TestMoveAbout(t *testing.T) {
	b, err := task.PlaneSource[float64]{Kind: "isotropic"}.Batch(3, 1, 1)
	require.NoError(t, err)
	var cfg cnp.Config
	cfg.DimX, cfg.DimY = 2, 1
	cfg.Trained = &cnp.Trained{Units: &cnp.Scaler{X: []cnp.Affine{{Offset: 5, Factor: 2}, {Offset: -3, Factor: 2}}}}
	moved := moveAbout(cfg, b, group.NewSO2(0), math.Pi, 7)
	c, m := b.Curves, moved.Curves
	require.NotEqual(t, c.XContext, m.XContext)
	for i := 0; i < len(c.XTarget); i += 2 {
		require.InDelta(t, math.Hypot(c.XTarget[i]-5, c.XTarget[i+1]+3), math.Hypot(m.XTarget[i]-5, m.XTarget[i+1]+3), 1e-12)
	}
	require.Equal(t, c.YContext, m.YContext)
	require.Equal(t, b.Y, moved.Y)
}

// Moved tasks are judged where they lie within the range of training's places before and after, and cost nothing there
// where the data bear the move.
func TestSymmetriesWithinRange(t *testing.T) {
	b, err := task.PlaneSource[float64]{Kind: "isotropic"}.Batch(3, 1, 1)
	require.NoError(t, err)
	cfg := cnp.Config{DimX: 2, DimY: 1}
	turned := moveAbout(cfg, b, group.NewSO2(0), math.Pi, 1)
	require.Nil(t, withinRange(cfg, b, turned))
	cfg.Trained = &cnp.Trained{X: []cnp.Range{{Min: -2, Max: 1}, {Min: -1.5, Max: 3}}, Y: []cnp.Range{{Min: -1, Max: 1}}}
	left := withinRange(cfg, b, turned)
	inside := 0
	for i, ok := range left {
		want := true
		for _, x := range [][]float64{b.Curves.XTarget[2*i : 2*i+2], turned.Curves.XTarget[2*i : 2*i+2]} {
			want = want && x[0] >= -2 && x[0] <= 1 && x[1] >= -1.5 && x[1] <= 3
		}
		require.Equal(t, want, ok)
		if ok {
			inside++
		}
	}
	require.NotZero(t, inside)
	require.NotEqual(t, len(left), inside)
	b.Known = make([]bool, len(b.Y))
	require.NotContains(t, withinRange(cfg, b, turned), true)

	found, err := Symmetries(context.Background(), planeModel(t, "trivial(2)", cfg.Trained),
		task.PlaneSource[float32]{Kind: "isotropic"}, Options{Tasks: 64, Batch: 4, Seed: 3})
	require.NoError(t, err)
	require.Equal(t, "rotations", found[1].Move)
	require.False(t, found[1].Broken, "%+v", found[1])
}

// Moves that leave nothing that counts are not measured, and the others are.
func TestSymmetriesNothingLeft(t *testing.T) {
	units := &cnp.Trained{X: []cnp.Range{{Min: 1, Max: 1.05}, {Min: 1, Max: 1.05}}, Y: []cnp.Range{{Min: -1, Max: 1}}}
	measured := func(tasks int) (moves []string) {
		found, err := Symmetries(context.Background(), planeModel(t, "T(2)", units), task.PlaneSource[float32]{Kind: "isotropic"},
			Options{Tasks: tasks, Batch: 4, Seed: 3})
		require.NoError(t, err)
		for _, s := range found {
			moves = append(moves, s.Move)
		}
		return moves
	}
	require.Empty(t, measured(4))
	units.X[0] = cnp.Range{Min: -2, Max: 2}
	units.X[1] = cnp.Range{Min: -2, Max: -1}
	require.Equal(t, []string{"translations", "rotations", "scalings"}, measured(16))
}

// Images are shifted and turned; values that a shift takes out of the image are in neither score.
func TestSymmetriesOfImages(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPImage, "SO(2)", 1)
	c.Channels, c.Blocks, c.ImageSize = []int{4}, 1, [2]int{12, 12}
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	src := task.ImageSource[float32]{Pictures: task.TrainDigits().Resized(12, 12), Rates: task.Rates{Min: 0.3, Max: 0.5}}
	found, err := Symmetries(context.Background(), m, src, Options{Tasks: 2, Seed: 1})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "translations", found[0].Move)
	require.False(t, found[0].BuiltIn)
	require.Equal(t, "rotations", found[1].Move)
	require.True(t, found[1].BuiltIn, "%+v", found[1])

	b, err := src.Batch(2, 1, 0)
	require.NoError(t, err)
	moves, err := imageMoves(c, b, 1)
	require.NoError(t, err)
	left := 0
	for _, ok := range moves[0].left {
		if ok {
			left++
		}
	}
	require.Equal(t, 2*6*6, left)
}

// Scores are those of Compare, task by task.
func TestScores(t *testing.T) {
	src := task.PlaneSource[float32]{Kind: "none"}
	models := []Predictor[float32]{Model(planeModel(t, "T(2)", nil)), Model(planeModel(t, "SO(2)", nil))}
	opt := Options{Tasks: 10, Batch: 4, Seed: 9}
	scores, err := Scores(context.Background(), models, src, opt)
	require.NoError(t, err)
	compared, err := Compare(context.Background(), models, src, opt)
	require.NoError(t, err)
	require.Len(t, scores[0], 10)
	p := PairedOf(scores[1], scores[0])
	require.InDelta(t, compared[1].LogLikelihood.Mean, p.Mean, 1e-12)
	require.InDelta(t, compared[1].LogLikelihood.Error, p.Error, 1e-12)
	require.True(t, math.IsNaN(PairedOf([]float64{math.NaN()}, []float64{1}).Mean))
}
