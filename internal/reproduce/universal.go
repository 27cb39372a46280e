package reproduce

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp/krige"
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
}

// ScoreUniversal scores n draws with d inputs.
func ScoreUniversal(ctx context.Context, d, n int, seed uint64) (UniversalRow, error) {
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
	return row, nil
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
		"drawn from, mean ± standard error over tables. ML-II: the likeliest covariance of four families alone, with noise and a trend, in the " +
		"plane and in space with anisotropy.\n\n" +
		"| inputs | tables | true covariance | behind it | ML-II behind it | a constant behind it | coverage of 95 % | seconds |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %d | %.3f | %.4f ± %.4f | %.4f ± %.4f | %.3f | %.3f | %.3f |\n", r.Inputs, r.Tables, float64(r.Exact),
			float64(r.Behind), float64(r.Error), float64(r.Likely), float64(r.LikelyBy), float64(r.Constant),
			float64(r.Coverage), float64(r.Seconds))
	}
	return b.String()
}
