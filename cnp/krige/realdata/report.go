package realdata

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Summary holds what rows add up to, a set and a kind of splits counted once.
type Summary struct {
	Rows           int     `json:"rows"`
	Better         int     `json:"better"`            // rows on which the log density is above the best one of the strong methods
	Difference     float64 `json:"difference"`        // mean difference of log densities to it, nats
	Error          float64 `json:"difference_error"`  // standard error of that
	Median         float64 `json:"difference_median"` //
	Worst          float64 `json:"difference_worst"`  //
	CRPS           float64 `json:"crps_ratio"`        // mean ratio to the best
	RMSE           float64 `json:"rmse_ratio"`        //
	Coverage       float64 `json:"coverage_95"`       // mean
	BelowConstant  float64 `json:"constant_worst"`    // the least difference to the constant's log density
	LeastCoverage  float64 `json:"coverage_95_least"` // of rows with 100 targets or more
	MostCoverage   float64 `json:"coverage_95_most"`  //
	MeanSeconds    float64 `json:"seconds"`           // of fit and prediction
	LongestSeconds float64 `json:"seconds_longest"`   //
}

// Summarize adds rows up, of a kind or, where it is empty, of all.
func Summarize(rows []Row, kind string) (s Summary) {
	var differences []float64
	s.Worst, s.BelowConstant, s.LeastCoverage = math.Inf(1), math.Inf(1), 1
	for _, r := range rows {
		if kind != "" && r.Kind != kind {
			continue
		}
		d, compared := r.Difference["lpd"]
		if compared {
			differences = append(differences, d[0])
			if d[0] > 0 {
				s.Better++
			}
			s.Worst = min(s.Worst, d[0])
			s.CRPS += r.Ratio["crps"]
			s.RMSE += r.Ratio["rmse"]
		}
		s.Rows++
		s.Coverage += r.Score.C95
		s.BelowConstant = min(s.BelowConstant, r.Score.LPD-r.Constant)
		if r.Test >= 100 {
			s.LeastCoverage, s.MostCoverage = min(s.LeastCoverage, r.Score.C95), max(s.MostCoverage, r.Score.C95)
		}
		s.MeanSeconds += r.Seconds
		s.LongestSeconds = max(s.LongestSeconds, r.Seconds)
	}
	n, c := float64(max(1, s.Rows)), float64(max(1, len(differences)))
	if s.Difference, s.Error = meanError(differences); len(differences) < 2 {
		s.Error = 0 // one difference has none
	}
	slices.Sort(differences)
	if len(differences) > 0 {
		s.Median = (differences[(len(differences)-1)/2] + differences[len(differences)/2]) / 2
	}
	s.CRPS, s.RMSE, s.Coverage, s.MeanSeconds = s.CRPS/c, s.RMSE/c, s.Coverage/n, s.MeanSeconds/n
	return s
}

// Markdown is the report of rows.
func Markdown(rows []Row) string {
	var b strings.Builder
	b.WriteString("# One table, no training: real data sets\n\n")
	b.WriteString("Held-out scores of `equivcnp regress` without `--model`, beside the best of classical methods on " +
		"each set and kind of split: kriging by maximum likelihood (fields), " +
		"kriging with a fitted variogram (gstat) and Gaussian processes (gp, with periodic candidates in one dimension). " +
		"lpd: mean Gaussian log density of a target value, over the context's " +
		"standard deviation, in nats. Differences are paired over splits, mean ± standard error; splits of a set share " +
		"rows, so that these errors are somewhat too small.\n")
	all := Summarize(rows, "")
	b.WriteString("\n| splits | set-kinds | better | difference, nats | median | worst | least beside the constant | " +
		"crps ratio | rmse ratio | coverage of 95 % | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	line := func(name string, s Summary) {
		fmt.Fprintf(&b, "| %s | %d | %d (%.0f %%) | %+.3f ± %.3f | %+.3f | %+.3f | %+.3f | %.3f | %.3f | %.3f | %.2f |\n", name,
			s.Rows, s.Better, 100*float64(s.Better)/float64(max(1, s.Rows)),
			s.Difference, s.Error, s.Median, s.Worst, s.BelowConstant, s.CRPS, s.RMSE, s.Coverage, s.MeanSeconds)
	}
	for _, kind := range Kinds {
		if s := Summarize(rows, kind); s.Rows > 0 {
			line(kind, s)
		}
	}
	line("all", all)
	fmt.Fprintf(&b, "\nCoverage of set-kinds with 100 targets or more: %.2f to %.2f.\n", all.LeastCoverage, all.MostCoverage)
	for _, kind := range Kinds {
		if Summarize(rows, kind).Rows == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| set | context | splits | lpd | best | difference | beside the constant | crps "+
			"ratio | rmse ratio | c50 | c95 | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n", kind)
		for _, r := range rows {
			if r.Kind != kind {
				continue
			}
			d := r.Difference["lpd"]
			difference := fmt.Sprintf("%+.3f", d[0])
			if !math.IsNaN(d[1]) {
				difference += fmt.Sprintf(" ± %.3f", d[1])
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %s | %s | %+.3f | %.3f | %.3f | %.2f | %.2f | %.2f |\n", r.Set, r.Context,
				r.Splits, r.Score.LPD, cmp.Or(r.Best["lpd"], "-"), difference,
				r.Score.LPD-r.Constant, r.Ratio["crps"], r.Ratio["rmse"], r.Score.C50, r.Score.C95, r.Seconds)
		}
	}
	return b.String()
}

// WriteCSV writes the numbers of rows.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(strings.Split("kind,set,context,splits,lpd,crps,rmse,c50,c95,best,"+
		"lpd_difference,lpd_error,crps_ratio,rmse_ratio,constant,seconds", ",")); err != nil {
		return err
	}
	g := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, r := range rows {
		d := r.Difference["lpd"]
		if err := out.Write([]string{r.Kind, r.Set, strconv.Itoa(r.Context), strconv.Itoa(r.Splits), g(r.Score.LPD),
			g(r.Score.CRPS), g(r.Score.RMSE), g(r.Score.C50), g(r.Score.C95),
			r.Best["lpd"], g(d[0]), g(d[1]), g(r.Ratio["crps"]), g(r.Ratio["rmse"]), g(r.Constant), g(r.Seconds)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
