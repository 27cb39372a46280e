package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// small is a selection of a second.
func small(dir string) Config {
	r := recipe.DefaultCurves()
	r.Data.Plane, r.Batch, r.Channels, r.Hidden, r.Mid = "radial", 2, []int{3, 4}, 4, 3
	c := Default(&r, dir)
	c.Groups, c.Steps, c.Tasks = []string{"T2", "SO2"}, 4, 8
	return c
}

// A selection says the same when it is asked again, and refuses the folder of another one.
func TestRun(t *testing.T) {
	c := small(t.TempDir())
	said := map[string]bool{}
	c.Progress = func(what string, _, _ int) { said[what] = true }
	rep, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, rep.Rounds, 1)
	require.Contains(t, []string{"T2", "SO2"}, rep.Chosen)
	require.FileExists(t, filepath.Join(c.Dir, rep.Model))
	require.True(t, said["round 1 of 1, 4 steps"])
	again, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, rep.Chosen, again.Chosen)
	require.Equal(t, rep.AboveConstant, again.AboveConstant)
	c.Recipe.Common().Seed = 2
	_, err = Run(t.Context(), c)
	require.ErrorContains(t, err, "is of another command")

	// While another process works in the folder it is refused, and what that process does is left alone.
	c.Recipe.Common().Seed = small("").Recipe.Common().Seed
	unlock, err := atomicfile.LockFolder(c.Dir)
	require.NoError(t, err)
	if _, err := atomicfile.LockFolder(c.Dir); err != nil { // this system has locks
		_, err = Run(t.Context(), c)
		require.ErrorIs(t, err, atomicfile.ErrBusy)
		require.ErrorContains(t, err, c.Dir+": ")
	}
	unlock()
	_, err = Run(t.Context(), c)
	require.NoError(t, err)

	for want, change := range map[string]func(*Config){
		"say how long":                        func(c *Config) { c.Steps = 0 },
		"Steps and Budget exclude each other": func(c *Config) { c.Budget = 1 },
		"Groups T2: need at least two":        func(c *Config) { c.Groups = []string{"T2"} },
		"Groups: E8: group: unknown group":    func(c *Config) { c.Groups = []string{"E8"} },
		"Groups: T2 and T(2) are the same":    func(c *Config) { c.Groups = []string{"T2", "T(2)"} },
		"OutDir is missing":                   func(c *Config) { c.Dir = "" },
	} {
		c := small(filepath.Join(t.TempDir(), "new"))
		change(&c)
		_, err := Run(t.Context(), c)
		var bad *recipe.Error
		require.ErrorAs(t, err, &bad, want)
		require.Contains(t, err.Error(), want)
		require.NoDirExists(t, c.Dir)
	}
}

// Values that depend on nothing support no group, whatever the candidates score.
func TestFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	set := &task.CurveSet{Name: "noise", Dx: 2, Dy: 1}
	for range 40 {
		var k task.Curve
		for range 12 {
			k.X, k.Y = append(k.X, rng.NormFloat64(), rng.NormFloat64()), append(k.Y, rng.NormFloat64())
		}
		set.Curves = append(set.Curves, k)
	}
	c := small(t.TempDir())
	r := c.Recipe.(*recipe.Curves)
	r.Data.Plane, r.Data.Set, r.Data.Holdout = "", set, 0.4
	rep, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.False(t, rep.Supported, "%+v", rep.AboveConstant)
	require.Contains(t, rep.Notes[len(rep.Notes)-1], "no candidate predicts better than a constant")
	for _, s := range rep.Symmetries {
		require.NotEqual(t, "supported", rep.Verdict(s))
	}
	set.Curves[0].Y[0]++ // tasks in memory are part of what a selection is
	_, err = Run(t.Context(), c)
	require.ErrorContains(t, err, "is of another command")

	for _, k := range []struct {
		above float64
		want  bool
	}{{3, true}, {0.1, false}, {-1, false}, {math.NaN(), false}} {
		rep := &Report{}
		rep.floor(Candidate{scores: []float64{k.above, k.above + 1, k.above - 1}}, make([]float64, 3))
		require.Equal(t, k.want, rep.Supported && !math.IsNaN(k.above), "%+v", rep.AboveConstant)
	}
	require.Equal(t, "supported", (&Report{Supported: true}).Verdict(eval.Symmetry{}))
	require.Equal(t, "undecided", (&Report{}).Verdict(eval.Symmetry{}))
}

// Where nothing is held out, the report says that candidates are compared on what they were trained on.
func TestNothingHeldOut(t *testing.T) {
	set := &task.CurveSet{Name: "own", Dx: 2, Dy: 1, Curves: make([]task.Curve, 1)}
	for i := range 25 {
		set.Curves[0].X = append(set.Curves[0].X, float64(i%5), float64(i/5))
		set.Curves[0].Y = append(set.Curves[0].Y, float64(i%7))
	}
	c := small(t.TempDir())
	r := c.Recipe.(*recipe.Curves)
	r.Data.Plane, r.Data.Set, r.Fill = "", set, 0.5
	rep, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Contains(t, rep.Notes, "no task is held out: candidates are compared on what they were trained on")
}

// All starts of all candidates hold out the same tasks: those that candidates are compared on.
func TestHeldOut(t *testing.T) {
	set := &task.CurveSet{Name: "own", Dx: 2, Dy: 1}
	for k := range 10 {
		var c task.Curve
		for i := range 9 {
			c.X, c.Y = append(c.X, float64(i%3), float64(i/3)), append(c.Y, float64(k*i))
		}
		set.Curves = append(set.Curves, c)
	}
	c := small(t.TempDir())
	r := c.Recipe.(*recipe.Curves)
	r.Data.Plane, r.Data.Set, r.Data.Holdout, r.Fill = "", set, 0.3, 0.5
	s := &runner{Config: c}
	s.Recipe = prepared(c.Recipe)
	require.NoError(t, s.contenders(context.Background()))
	first, err := s.planOf(t.Context(), s.all[0], 1, 4)
	require.NoError(t, err)
	other, err := s.planOf(t.Context(), s.all[1], 1+startsApart, 4)
	require.NoError(t, err)
	require.Equal(t, first.Test.String(), other.Test.String())
	require.Equal(t, first.Source.String(), other.Source.String())
	require.Equal(t, uint64(1+startsApart), other.Config.Seed)
	require.Nil(t, r.Data.HoldoutSeed, "the caller's recipe stays as it is")
}
