package recipe

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestSeenNote: a trained model knows the tasks that it was trained on, in any order of their rows and among others, and no others.
func TestSeenNote(t *testing.T) {
	trained := func(r Recipe) cnp.Config {
		p, err := r.Plan(t.Context())
		require.NoError(t, err)
		done, err := p.Train(t.Context(), Options{})
		require.NoError(t, err)
		return done.Model.Config()
	}
	own := func(set *task.CurveSet) *Curves {
		c := small()
		c.Data.Set, c.Steps, c.EvalEvery = set, 1, new(0)
		return &c
	}
	all := sines(20)
	cfg := trained(own(all))
	note := func(set *task.CurveSet) string { return SeenNote(&cfg, source(set)) }
	require.Contains(t, note(all), "18 of these 20 tasks were trained on")
	turned := sines(20)
	for _, c := range turned.Curves {
		slices.Reverse(c.X)
		slices.Reverse(c.Y)
	}
	require.Contains(t, note(turned), "18 of these 20 tasks were trained on")
	other := sines(40)
	other.Curves = other.Curves[20:]
	require.Empty(t, note(other))
	require.Empty(t, SeenNote(&cfg, task.ImageSource[float32]{Pictures: task.TestDigits()}))
	require.Empty(t, SeenNote(&cnp.Config{}, source(all)))

	many := sines(1000)
	cfg = trained(own(many))
	require.Len(t, cfg.Trained.Marks, mostMarks)
	require.Regexp(t, `^about (8[5-9]|9[0-5]) % of these tasks were`, note(many), "nine tenths")
	many.Curves = append(sines(3000).Curves[2000:], many.Curves[:500]...)
	require.Regexp(t, `^about (2[5-9]|3[0-5]) % of these tasks were`, note(many), "450 of 1,500")

	images := DefaultImages()
	images.Data.In, images.Steps, images.Width, images.Blocks, images.EvalEvery = stackFile(t, 10), 1, 4, 1, new(0)
	cfg = trained(&images)
	src, _, _, err := images.Data.Test(t.Context(), &cfg)
	require.NoError(t, err)
	require.Contains(t, SeenNote(&cfg, src), "9 of these 10 tasks were trained on")
}

// TestSeenRows: where rows of tasks are held out, the tasks are known with these and without, and the rows held out are not.
func TestSeenRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	csv := "task,site,x,y\n1,a,0,1\n1,b,1,2\n1,c,2,4\n1,d,3,3\n2,a,0,7\n2,b,1,5\n2,c,2,4\n2,d,3,5\n"
	require.NoError(t, os.WriteFile(path, []byte(csv), 0o600))
	c := small()
	c.Data.CSV, c.Data.HoldoutBy, c.Data.Holdout, c.Steps, c.EvalEvery = path, "site", 0.25, 1, new(0)
	c.Data.X, c.Data.Y = []string{"x"}, []string{"y"}
	p, err := c.Plan(t.Context())
	require.NoError(t, err)
	done, err := p.Train(t.Context(), Options{})
	require.NoError(t, err)
	cfg := done.Model.Config()
	require.Len(t, cfg.Trained.Marks, 4)
	held, _, err := c.Data.Test(t.Context(), &cfg)
	require.NoError(t, err)
	require.Empty(t, SeenNote(&cfg, held))
	c.Data.HoldoutBy = ""
	whole, _, err := c.Data.Test(t.Context(), &cfg)
	require.NoError(t, err)
	require.Contains(t, SeenNote(&cfg, whole), "2 of these 2 tasks were trained on")
}
