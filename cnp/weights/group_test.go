package weights

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// shears is a group of a user's own: (x, y) -> (x + slope·a·y, y), on points off the line y = 0.
func shears(slope float64) *group.Matrix {
	return group.NewMatrix("shears", [][4]float64{{0, slope, 0, 0}}, 1, func(a, q, x []float64) { a[0], q[0] = x[0]/x[1]/slope, x[1] }, 0)
}

// sheared is a model under that group.
func sheared(t *testing.T, g group.Group, label string) cnp.Model[float32] {
	c := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1)
	c.PointsPerUnit, c.Group = 0, label
	m, err := cnp.NewWithGroup[float32](c, g, 3)
	require.NoError(t, err)
	return m
}

// predict is what a model says of one set of points.
func predict(t *testing.T, m cnp.Model[float32]) *cnp.Prediction[float32] {
	rng := rand.New(rand.NewPCG(4, 4))
	b := &cnp.Batch[float32]{B: 1, Nc: 9, Nt: 5}
	for range 2 * b.Nc {
		b.XContext, b.YContext = append(b.XContext, 1+rng.Float64()), append(b.YContext, float32(rng.NormFloat64()))
	}
	b.YContext = b.YContext[:b.Nc]
	for range 2 * b.Nt {
		b.XTarget = append(b.XTarget, 1+rng.Float64())
	}
	p, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
	require.NoError(t, err)
	return p
}

// A model of one's own group comes back under that group, and under no other, whatever its configuration called it.
func TestOwnGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.safetensors")
	for _, label := range []string{"shears", "T(2)", ""} {
		m := sheared(t, shears(1), label)
		require.Equal(t, "shears", m.Config().Group, label)
		require.NoError(t, Save(path, m, nil))

		_, err := Load[float32](path, Options{})
		require.ErrorIs(t, err, ErrGroup)
		require.ErrorContains(t, err, `the file's group "shears" is one of its author's own: Options.Groups must hold it`)

		back, err := Load[float32](path, Options{Groups: []group.Group{nil, group.NewT(2, 0), shears(1)}})
		require.NoError(t, err)
		require.Equal(t, m.Config(), back.Config())
		require.Equal(t, predict(t, m), predict(t, back))
		c, err := LoadConfig(path, Options{Groups: []group.Group{shears(1)}, Group: "shears"})
		require.NoError(t, err)
		require.Equal(t, m.Config(), c)

		for want, opt := range map[string]Options{
			"shears in the file stands for another group than here": {Groups: []group.Group{shears(2)}},
			"asked for T(2), the file fits: shears":                 {Groups: []group.Group{shears(1)}, Group: "T(2)"},
			"alpha 0.4 given, group shears has 0.2":                 {Groups: []group.Group{shears(1)}, Alpha: 0.4},
		} {
			_, err = Load[float32](path, opt)
			require.ErrorIs(t, err, ErrGroup)
			require.ErrorContains(t, err, want)
		}
	}
}

// named is a group under another's name.
type named struct {
	group.Group
	name string
}

func (n named) Name() string { return n.name }

// halved overrides one of two methods that say the same.
type halved struct{ *group.T }

func (halved) Name() string                      { return "half of T(2)" }
func (h halved) Distance(pose []float64) float64 { return h.T.Distance(pose) / 2 }

// A group cannot pass for one that the library knows, neither in a new model nor in a file.
func TestGroupUnderAnothersName(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1)
	c.PointsPerUnit = 0
	_, err := cnp.NewWithGroup[float32](c, named{shears(1), "T(2)"}, 1)
	require.ErrorIs(t, err, cnp.ErrConfig)
	require.ErrorContains(t, err, "a group that is not T(2) has its name: give it one of its own")
	_, err = cnp.NewWithGroup[float32](c, named{group.NewT(2, 0), "T(2)"}, 1) // it is T(2)
	require.NoError(t, err)
	_, err = cnp.NewWithGroup[float32](c, halved{group.NewT(2, 0)}, 1)
	require.ErrorIs(t, err, cnp.ErrConfig)
	require.ErrorContains(t, err, "half of T(2): Distances differs from Distance")
	_, err = cnp.NewWithGroup[float32](c, nil, 1)
	require.ErrorIs(t, err, cnp.ErrConfig)

	m := sheared(t, shears(1), "")
	f, err := encode(m, nil)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "named.safetensors")
	own := m.Config()
	own.Group = "R>0xSqueeze" // poses as long
	f.Metadata[metaConfig], err = encodeConfig(own)
	require.NoError(t, err)
	require.NoError(t, safetensors.Write(path, f))
	_, err = Load[float32](path, Options{})
	require.ErrorIs(t, err, ErrGroup)
	require.ErrorContains(t, err, "R>0xSqueeze in the file stands for another group than here")
}

// Files without a digest, of earlier versions, are believed; a new file of a known group loads under any weight that is asked for.
func TestGroupDigestInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "so2.safetensors")
	c := cnp.Default(cnp.EquivCNPCurve, "SO(2)", 1)
	c.PointsPerUnit = 0
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	f, err := encode(m, nil)
	require.NoError(t, err)
	require.Equal(t, group.Digest(group.NewSO2(0)), f.Metadata[metaGroup])
	for _, digest := range []bool{true, false} {
		if !digest {
			delete(f.Metadata, metaGroup)
		}
		require.NoError(t, safetensors.Write(path, f))
		back, err := Load[float32](path, Options{})
		require.NoError(t, err)
		require.Equal(t, m.Config(), back.Config())
		_, err = Load[float32](path, Options{Alpha: 0.4})
		require.NoError(t, err)
	}
}

// What a new model's radius is found on must have lifts: here a point of the line y = x has none.
func TestReferencePointWithoutLift(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	diagonal := group.NewMatrix("diagonal", [][4]float64{{0, 1, 0, 0}}, 1, func(a, q, x []float64) {
		if a[0], q[0] = x[0], x[1]; x[0] > 10 {
			a[0] = math.NaN()
		}
	}, 0)
	_, err := cnp.NewWithGroup[float32](c, diagonal, 1)
	require.ErrorIs(t, err, cnp.ErrConfig)
	require.ErrorContains(t, err, "group diagonal has no lift for point [")
	require.ErrorContains(t, err, "the logarithm is [NaN], the orbit [")
}
