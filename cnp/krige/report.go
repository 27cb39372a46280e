package krige

import (
	"fmt"
	"strings"
)

// Report holds what a fit found out about itself: what each value of the context, or a part of a large one, would have
// been predicted as from the others.
type Report struct {
	Values          int      `json:"values"`                // so many were predicted from the others
	LogDensity      float64  `json:"log_density"`           // mean, nats, of values over their standard deviation
	Constant        float64  `json:"log_density_constant"`  // that of mean and deviation of the others
	InverseDistance float64  `json:"log_density_distances"` // that of inverse squared distances
	Coverage50      float64  `json:"coverage_50"`
	Coverage95      float64  `json:"coverage_95"`
	Scale           float64  `json:"scale"`                 // what standard deviations were multiplied by
	Uncorrected     bool     `json:"uncorrected,omitempty"` // Options.NoCheck: predictions are as if nothing had been found out
	Members         []Member `json:"members"`               // the likeliest first
	Weights         Weights  `json:"weights"`
	Varies          []string `json:"varies,omitempty"` // with what standard deviations vary beside: place, level
	Exact           bool     `json:"exact"`
	// Far are rows whose values lie more than six standard deviations from what the others say, of those that were predicted from them.
	Far []int `json:"far,omitempty"`
	// Outliers are the rows that Options.Robust left out, from 0; they count nowhere else.
	Outliers []int `json:"outliers,omitempty"`
	// Drift are the coefficients of the columns of a drift, in the table's units; of bent values, where Bend names some.
	Drift []Coefficient `json:"drift,omitempty"`
	Bend  string        `json:"of,omitempty"` // what of the values is normal, where that is not themselves
}

// Coefficient is what a value grows by where a column of the drift grows by one. Of a column that is constant in the table both are 0.
type Coefficient struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// Weights are those of the predictors that are mixed.
type Weights struct {
	Gaussian        float64 `json:"gaussian_processes"`
	InverseDistance float64 `json:"inverse_distances"`
	Constant        float64 `json:"constant"`
}

// Member is one Gaussian process, in the units of the table. The covariance of the values at two places whose coordinates differ by
// Δ is the sum of
//
//   - Signal²·shape(r/Length), where r² = Δᵀ·Metric·Δ, or |Δ|² where Metric is nil;
//   - SecondSignal²·shape(r/SecondAt), where Shape names two shapes;
//   - SeasonSignal²·exp(-2·sin²(π·r/Period)/SeasonWidth² - r²/(2·SeasonLength²)), where there is a Period;
//   - LongSignal²·exp(-2·sin²(π·r/LongPeriod)/LongWidth² - r²/(2·LongLength²)), where there is a LongPeriod;
//   - Noise² where both are the same row;
//
// and of a linear trend, whose slopes have a mean of 0 and the deviation Trend, and an unknown level. On the sphere places are unit
// vectors, and r is the distance through the sphere, whose radius is 1. The shapes of a distance r are exp(-r), (1+√3r)·exp(-√3r) and
// (1+√5r+5r²/3)·exp(-√5r), the Matérn functions of smoothness 1/2, 3/2 and 5/2; exp(-r²/2), squared exponential; 1/(1+r²/2),
// rational quadratic; and (exp(-r) - q·exp(-r/q)) / (1 - q) where q is SmoothLength/Length, a smoothed Matérn function of smoothness 1/2.
type Member struct {
	Weight float64 `json:"weight"`
	Shape  string  `json:"shape"`
	Length float64 `json:"length"` // in units of the first coordinate; of anisotropy the geometric mean of all lengths
	Signal float64 `json:"signal"` // standard deviation
	Noise  float64 `json:"noise"`  // standard deviation
	Period float64 `json:"period,omitempty"`
	// Standard deviation, width (as a part of the period's sine) and length of the season, over which it changes.
	SeasonSignal float64 `json:"season_signal,omitempty"`
	SeasonWidth  float64 `json:"season_width,omitempty"`
	SeasonLength float64 `json:"season_length,omitempty"`
	// Those of a second, longer season, as a week beside a day.
	LongPeriod float64 `json:"long_period,omitempty"`
	LongSignal float64 `json:"long_signal,omitempty"`
	LongWidth  float64 `json:"long_width,omitempty"`
	LongLength float64 `json:"long_length,omitempty"`
	Stretch    float64 `json:"stretch,omitempty"` // of anisotropy: the longest length over the shortest
	// Metric [d][d] is symmetric; its eigenvector of the least eigenvalue is the direction of the longest length. It is nil where all
	// directions are alike. With Options.DifferentUnits it also takes all coordinates to the first one's unit.
	Metric [][]float64 `json:"metric,omitempty"`
	Trend  float64     `json:"trend"` // standard deviation of the slope, of values per unit of the first coordinate
	// Trends are those along each coordinate, in its own unit, with Options.DifferentUnits; nil where Trend is that of all.
	Trends       []float64 `json:"trends,omitempty"`
	SecondAt     float64   `json:"second_length,omitempty"`
	SecondSignal float64   `json:"second_signal,omitempty"` // standard deviation
	SmoothLength float64   `json:"smooth_length,omitempty"` // over which a smoothed function is smooth
	// Beyond the ends of a series, by Step or more, the weight is WeightBeyond, and up to there it is linear in the distance. Step is 0
	// where the weight is the same everywhere.
	WeightBeyond float64 `json:"weight_beyond,omitempty"`
	Step         float64 `json:"step,omitempty"`
}

// String is the report in a few lines.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "each of %d values predicted from the others: log density %s, a constant's %s, inverse distances' %s",
		r.Values, nats(r.LogDensity), nats(r.Constant), nats(r.InverseDistance))
	fmt.Fprintf(&b, "; %.0f %% lie in 50 %% intervals, %.0f %% in 95 %% ones; ", 100*r.Coverage50, 100*r.Coverage95)
	if r.Uncorrected {
		b.WriteString("deviations were not corrected by this")
	} else {
		fmt.Fprintf(&b, "deviations were multiplied by %.2f", r.Scale)
	}
	return b.String()
}

// leastNats is the log density from which on it says no more than that a value was all but impossible: a constant's, where the other
// values are equal.
const leastNats = -1000

// nats writes a log density.
func nats(v float64) string {
	if v < leastNats {
		return fmt.Sprintf("below %d", leastNats)
	}
	return fmt.Sprintf("%.3f", v)
}
