package reproduce

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/words"
)

// UniversalRow says how interpolation without a model does on draws of the prior with some number of inputs.
type UniversalRow struct {
	Inputs   int          `json:"inputs"`
	Tables   int          `json:"tables"`
	Exact    words.Number `json:"exact"`        // mean log density by the table's own covariance, nats, over its deviation
	Behind   words.Number `json:"behind"`       // how far interpolation is behind that
	Error    words.Number `json:"behind_error"` // standard error
	Likely   words.Number `json:"likely"`       // how far the likeliest covariance is behind it
	LikelyBy words.Number `json:"likely_error"` // standard error
	Constant words.Number `json:"constant"`     // how far a constant is behind it
	Coverage words.Number `json:"coverage_95"`
	Seconds  words.Number `json:"seconds"` // of a table
	// Network is how far a trained network is behind it, NetworkBy its standard error; nil without a network of so many inputs.
	Network   *words.Number `json:"network,omitempty"`
	NetworkBy *words.Number `json:"network_error,omitempty"`
}

// UniversalNetwork opens a model that ScoreUniversal scores besides, nil where path is empty.
func UniversalNetwork(ctx context.Context, path string) (cnp.Regressor[float32], error) {
	if path == "" {
		return nil, nil
	}
	m, err := predict.OpenRegressor(ctx, predict.OpenOptions{}, path)
	if err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	return m, nil
}

// ScoreUniversal scores n draws with d inputs. network is a model that was trained on draws with standard units (train
// --universal), or nil; one of other inputs is left out.
func ScoreUniversal(ctx context.Context, d, n int, seed uint64, network cnp.Regressor[float32]) (UniversalRow, error) {
	prior := task.Universal{Dim: d, Least: 30, Most: 300, Targets: 50, Gaussian: true}
	row := UniversalRow{Inputs: d, Tables: n}
	var exact, constant, inside, seconds float64
	behind, likely := make([]float64, n), make([]float64, n)
	for i := range n {
		t, err := prior.Draw(seed, i)
		if err != nil {
			return row, err
		}
		start := time.Now()
		m, err := krige.Fit(ctx, t.X, t.Y, krige.Options{Dim: d})
		if err != nil {
			return row, err
		}
		mean, std, err := m.Predict(ctx, t.XTarget)
		if err != nil {
			return row, err
		}
		seconds += time.Since(start).Seconds()
		m, err = krige.Fit(ctx, t.X, t.Y, krige.Options{Dim: d, MaximumLikelihood: true})
		if err != nil {
			return row, err
		}
		mean2, std2, err := m.Predict(ctx, t.XTarget)
		if err != nil {
			return row, err
		}
		level, spread := moments(t.Y)
		targets := float64(len(t.YTarget))
		for k, y := range t.YTarget {
			best := logNormal(y, t.Mean[k], t.Std[k])
			exact += (best + math.Log(spread)) / targets / float64(n)
			behind[i] += (best - logNormal(y, mean[k], std[k])) / targets
			likely[i] += (best - logNormal(y, mean2[k], std2[k])) / targets
			constant += (best - logNormal(y, level, spread)) / targets / float64(n)
			if math.Abs(y-mean[k]) <= 1.95996398*std[k] {
				inside += 1 / targets / float64(n)
			}
		}
	}
	average, deviation := moments(behind)
	row.Exact, row.Behind, row.Constant = words.Number(exact), words.Number(average), words.Number(constant)
	row.Error = words.Number(deviation / math.Sqrt(float64(n)))
	average, deviation = moments(likely)
	row.Likely, row.LikelyBy = words.Number(average), words.Number(deviation/math.Sqrt(float64(n)))
	row.Coverage, row.Seconds = words.Number(inside), words.Number(seconds/float64(n))
	if network == nil || network.Config().DimX != d {
		return row, nil
	}
	prior.Standard = true // the same tables
	return row, row.scoreNetwork(ctx, &prior, network, seed)
}

// scoreNetwork sets how far a network is behind.
func (r *UniversalRow) scoreNetwork(ctx context.Context, prior *task.Universal, network cnp.Regressor[float32], seed uint64) error {
	behind := make([]float64, r.Tables)
	for i := range behind {
		t, err := prior.Draw(seed, i)
		if err != nil {
			return err
		}
		b := &cnp.Batch[float32]{B: 1, Nc: len(t.Y), Nt: len(t.YTarget), XContext: t.X, XTarget: t.XTarget}
		for _, y := range t.Y {
			b.YContext = append(b.YContext, float32(y))
		}
		p, err := network.Predict(ctx, b)
		if err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
		for k, y := range t.YTarget {
			behind[i] += (logNormal(y, t.Mean[k], t.Std[k]) - logNormal(y, float64(p.Mean[k]), float64(p.Std[k]))) / float64(b.Nt)
		}
	}
	average, deviation := moments(behind)
	r.Network, r.NetworkBy = new(words.Number(average)), new(words.Number(deviation/math.Sqrt(float64(r.Tables))))
	return nil
}

// moments are mean and standard deviation.
func moments(v []float64) (mean, std float64) {
	for _, a := range v {
		mean += a / float64(len(v))
	}
	for _, a := range v {
		std += (a - mean) * (a - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(std)
}

// logNormal is the log density of a normal distribution.
func logNormal(y, mean, std float64) float64 {
	z := (y - mean) / std
	return -0.5*z*z - math.Log(std) - 0.5*math.Log(2*math.Pi)
}

// UniversalReport returns the report of rows in Markdown.
func UniversalReport(rows []UniversalRow) string {
	var b strings.Builder
	b.WriteString("# One table, no training: draws of a wide prior\n\n`equivcnp regress` without `--model` on Gaussian processes " +
		"of random smoothness, scale, anisotropy, trend and noise, 30 to 300 values and 50 targets each. Log densities are in nats " +
		"a target, of values over the context's standard deviation; behind: less than by the covariance that the table was " +
		"drawn from, mean ± standard error over tables. ML-II: the likeliest covariance of four families alone, with " +
		"noise and a trend, in the " +
		"plane and in space with anisotropy.\n\n" +
		"| inputs | tables | true covariance | behind it | ML-II behind it | a constant behind it | coverage of 95 % | seconds |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %d | %.3f | %.4f ± %.4f | %.4f ± %.4f | %.3f | %.3f | %.3f |\n", r.Inputs, r.Tables, float64(r.Exact),
			float64(r.Behind), float64(r.Error), float64(r.Likely), float64(r.LikelyBy), float64(r.Constant),
			float64(r.Coverage), float64(r.Seconds))
	}
	for _, r := range rows {
		if r.Network != nil {
			fmt.Fprintf(&b, "\nA network (`--model`) on the same tables of %s: %.4f ± %.4f behind the true covariance.\n",
				words.Plural(r.Inputs, "input"),
				float64(*r.Network), float64(*r.NetworkBy))
		}
	}
	return b.String()
}
