package fuzz

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// FuzzTexts reads what flags, requests and model files say in words: kernels, groups, likelihoods, views, waves, windows and
// configurations. What is accepted can be used.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"rbf(0.5) + 0.1*matern52", "(rbf(length=0.5)*periodic(1,0.7))+noise(0.01)",
		"((((((1))))))", "1e999*rbf", "rbf(",
		"T(2)", "SE(2)", "T(1)xSO(2)", "SIM(2,3)", "R>0xSO(2)", "axis(2,1)", "normal:noise", "lowrank:64", "mixture:3",
		"scales:0.03@0.9*0.1,0.1*0.4;0.3@1*1", "scales:0.7*0.5,0.3*2", "bent-normal:2", "0.3:1", "32:12", "lon=2,lat=2", "=", "a=NaN",
		`{"architecture":"equivcnp","group":"T(1)","dim_x":1,"dim_y":1,"channels":[8,8],"points_per_unit":16,"output":"variance"}`,
		`{"architecture":"equivcnp-image","group":"T(2)","dim_y":1,"channels":[8],"blocks":1,"hidden":8,"mid":8,"fill":0.1,"output":"std"}`,
		`{"architecture":"cnp","dim_x":1,"dim_y":1,"channels":[1e9],"output":"std"}`} {
		f.Add(s)
	}
	options := likelihood.Options{Spread: likelihood.Spread{Output: likelihood.OutputStd, Floor: 0.01}, Values: 1}
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := task.ParseKernel(text, 0.7); err == nil {
			k(0.3)
		}
		for _, alpha := range []float64{0, 0.3, math.NaN()} {
			if g, err := group.Parse(text, alpha); err == nil {
				n := g.PointDim()
				require.Positive(t, n)
				l := group.LiftPoints(g, make([]float64, 2*n), 1, 1)
				require.Positive(t, l.Rows())
				again, err := group.Parse(g.Name(), g.Alpha())
				require.NoError(t, err, "%q is named %q", text, g.Name())
				require.Equal(t, g.Name(), again.Name())
			}
		}
		if l, err := likelihood.Parse(text, options); err == nil {
			require.Positive(t, l.Outputs())
		}
		if v, err := recipe.ParseViews(text); err == nil {
			recipe.ShowViews(v)
		}
		if w, err := recipe.ParseWaves(text); err == nil {
			recipe.ShowWaves(w)
		}
		if w, err := recipe.ParseWindow(text); err == nil {
			require.NotEmpty(t, recipe.ShowWindow(w))
		}
		var c cnp.Config
		if json.Unmarshal([]byte(text), &c) == nil && c.Validate() == nil {
			_, err := json.Marshal(c)
			require.NoError(t, err)
		}
	})
}
