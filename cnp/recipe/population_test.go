package recipe

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// hills are tasks of a smooth random function in the plane, of two outputs with levels of their own; values are far from 0, and one in
// nine is missing.
func hills(n, points int) *task.CurveSet {
	rng := rand.New(rand.NewPCG(3, 5))
	set := &task.CurveSet{Name: "hills", Dx: 2, Dy: 2}
	for range n {
		var waves [40][3]float64
		for i := range waves {
			waves[i] = [3]float64{rng.NormFloat64() / 300, rng.NormFloat64() / 300, 2 * math.Pi * rng.Float64()}
		}
		level := 1000 + 3*rng.NormFloat64()
		var c task.Curve
		for i := range points {
			x, y := 5e5+1000*rng.Float64(), 1000*rng.Float64()
			v := level
			for _, w := range waves {
				v += 2 * math.Sqrt(2.0/40) * math.Cos(w[0]*x+w[1]*y+w[2])
			}
			second := -v / 1000
			if i%9 == 4 {
				second = math.NaN()
			}
			c.X, c.Y = append(c.X, x, y), append(c.Y, v+0.1*rng.NormFloat64(), second)
		}
		set.Curves = append(set.Curves, c)
	}
	return set
}

// A population of many tasks predicts those that were held out better than each on its own, comes back from its file with the same bits,
// and leaves tasks of other scales as they are: lengths are those of the data.
func TestPopulation(t *testing.T) {
	p := DefaultPopulation()
	p.Set, p.Holdout = hills(48, 14), 0.25
	e, err := p.Estimate(t.Context())
	require.NoError(t, err)
	require.Equal(t, 36, e.Tasks)
	require.Equal(t, 12, e.Score.Tasks)
	require.Greater(t, e.Score.Gain.Mean, 0.1)
	require.Greater(t, e.Score.Gain.Mean, 2*e.Score.Gain.Error)

	path := filepath.Join(t.TempDir(), "p.safetensors")
	require.NoError(t, e.Save(path))
	c := e.Model.Config()
	require.Equal(t, [2]int{0, 14}, c.Trained.Context)
	near := []float64{5e5, 0, 5e5 + 1, 0}
	s := c.Scaler(near, []float64{5000, 1, 5001, 1})
	require.Equal(t, c.Trained.Units.X, s.X)
	require.Equal(t, c.Trained.Units.Y, s.Y)
	b := &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: near, YContext: []float32{1000, -1, 1001, -1}, XTarget: []float64{5e5, 10}}
	got, err := cnp.Standardised[float32](e.Model).Predict(t.Context(), b)
	require.NoError(t, err)
	require.InDelta(t, 1000.5, got.Mean[0], 0.5)
	require.Less(t, got.Std[0], float32(1))
	require.InDelta(t, -1, got.Mean[1], 0.01)
}

// Outputs that are amounts or have logarithms are learned on their scale, and never predicted to be negative; others beside them as always.
func TestPopulationOfAmounts(t *testing.T) {
	p := DefaultPopulation()
	p.Set, p.Holdout = hills(24, 14), 0.25
	for _, c := range p.Set.Curves {
		for i := 1; i < len(c.Y); i += 2 {
			c.Y[i] = math.Exp(600 * (c.Y[i] + 1)) // NaN stays
		}
	}
	plain, err := p.Estimate(t.Context())
	require.NoError(t, err)
	p.Y, p.Log = []string{"height", "flow"}, []string{"flow"}
	e, err := p.Estimate(t.Context())
	require.NoError(t, err)
	require.Equal(t, "bent-normal", e.Model.Config().Likelihood)
	require.Greater(t, e.Score.LogLikelihood, plain.Score.LogLikelihood+0.2)
	of := e.Model.Populations()
	require.Equal(t, []string{"", "logarithm"}, []string{of[0].Scale(), of[1].Scale()})
	p.Log, p.Positive = nil, true
	amounts, err := p.Estimate(t.Context())
	require.NoError(t, err)
	require.Equal(t, "logarithm", amounts.Model.Populations()[1].Scale())
	b := &cnp.Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: []float64{5e5, 0}, YContext: []float32{1000, 1e-3}, XTarget: []float64{5e5, 10}}
	got, err := cnp.Standardised[float32](e.Model).Predict(t.Context(), b)
	require.NoError(t, err)
	require.InDelta(t, 1000, got.Mean[0], 1)
	require.Less(t, got.Mean[1], float32(0.01))

	p.Set.Curves[3].Y[5] = -1
	_, err = p.Estimate(t.Context())
	require.ErrorContains(t, err, "hills: task 3, row 2: output 2 of 2 is -1: amounts are never negative")
	p.Positive, p.Log = false, []string{"depth"}
	_, err = p.Estimate(t.Context())
	require.ErrorContains(t, err, "Log depth: no output of this name: height, flow")
}

// Tables in files are tasks each, or have a column that says so; what cannot be learned from is refused with a reason.
func TestPopulationFiles(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var whole strings.Builder
	whole.WriteString("day,time,v\n")
	p := DefaultPopulation()
	p.Holdout, p.X, p.Y = 0, []string{"time"}, []string{"v"}
	for k := range 9 {
		var text strings.Builder
		text.WriteString("v,time\n")
		phase := 2 * math.Pi * rng.Float64()
		for i := range 10 {
			v := strconv.FormatFloat(math.Sin(float64(i)/2+phase), 'g', -1, 64)
			text.WriteString(v + "," + strconv.Itoa(i) + "\n")
			whole.WriteString(strconv.Itoa(k) + "," + strconv.Itoa(i) + "," + v + "\n")
		}
		name := filepath.Join(dir, strconv.Itoa(k)+".csv")
		require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o600))
		p.CSV = append(p.CSV, name)
	}
	apart, err := p.Estimate(t.Context())
	require.NoError(t, err)
	require.Nil(t, apart.Score)
	require.Contains(t, apart.Notes, "nothing is held out, and so there is no score")

	q := p
	q.CSV, q.Task = []string{filepath.Join(dir, "all.csv")}, "day"
	require.NoError(t, os.WriteFile(q.CSV[0], []byte(whole.String()), 0o600))
	together, err := q.Estimate(t.Context())
	require.NoError(t, err)
	require.Equal(t, apart.Model.Populations(), together.Model.Populations())

	for _, c := range []struct {
		change func(*Population)
		want   string
	}{
		{func(p *Population) { p.CSV = p.CSV[:7] }, "output 1 of 1: a population needs at least eight tasks"},
		{func(p *Population) { p.CSV = nil }, "CSV"},
		{func(p *Population) { p.Set = hills(1, 2) }, "Set and CSV exclude each other"},
		{func(p *Population) { p.Sphere = true }, "Sphere: need two inputs"},
		{func(p *Population) { p.Holdout = math.NaN() }, "Holdout NaN"},
		{func(p *Population) { p.CSV = append(p.CSV[:8:8], q.CSV[0]); p.X = nil; p.Y = nil }, "x"},
		{func(p *Population) { p.CSV = []string{filepath.Join(dir, "none.csv")} }, "none.csv"},
	} {
		bad := p
		c.change(&bad)
		_, err := bad.Estimate(t.Context())
		require.ErrorContains(t, err, c.want)
	}
}
