package eval

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
)

// Stat is a mean over tasks and the standard deviation over them (n - 1 below the root; 0 for one task).
type Stat struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// Level is a central interval of the predicted distributions, with the share of true values that should lie inside it and the
// share that does.
type Level struct {
	Nominal  float64 `json:"nominal"`
	Observed float64 `json:"observed"`
}

// Report holds what a Meter found.
type Report struct {
	Tasks  int `json:"tasks"`
	Values int `json:"values"`
	// LogLikelihood is the log-likelihood per value of a task: the paper's measure. Under a likelihood that takes the values of a task
	// together it is theirs together, divided by their number.
	LogLikelihood Stat `json:"log_likelihood"`
	// SquaredError is the mean over the values of a task; RMSE is the root of the mean over the values of all tasks.
	SquaredError Stat    `json:"squared_error"`
	RMSE         float64 `json:"rmse"`
	// Levels are central intervals from narrow to wide; CalibrationError is their mean |observed - nominal|.
	Levels           []Level `json:"levels"`
	CalibrationError float64 `json:"calibration_error"`
	// ZSquare is the mean of ((y - mean) / std)². It is 1 if the standard deviations are right, and larger if they are too small.
	ZSquare float64 `json:"z_square"`
	// Spread is the mean predicted standard deviation.
	Spread float64 `json:"spread"`
	// NotFinite counts the values whose predicted mean or standard deviation is not a finite number; the other figures leave them out.
	NotFinite int `json:"not_finite"`
}

// nominals are the levels that are measured.
var nominals = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

// halfWidths are the levels' half-widths in standard deviations.
var halfWidths = func() (z []float64) {
	for _, p := range nominals {
		z = append(z, math.Sqrt2*math.Erfinv(p))
	}
	return z
}()

// Meter adds up predictions. The zero Meter is ready for use. Sums are float64.
type Meter struct {
	tasks, values, bad int
	ll, ll2            float64 // sums over tasks of the mean log-likelihood, and of its square
	sq, sq2            float64 // the same of the mean squared error
	total, z2, spread  float64 // sums over values of the squared error, z², std
	inside             [11]int // values within each level
}

// Add adds one task to the meter: predicted mean and std, and true values y. Values where mask is false are left out (nil: none are), and
// so are tasks without values. It panics if the lengths differ.
func Add[T cnp.Float](m *Meter, mean, std, y []T, mask []bool) {
	if len(std) != len(mean) || len(y) != len(mean) || (mask != nil && len(mask) != len(mean)) {
		panic(fmt.Sprintf("eval: Add: len(mean) = %d, len(std) = %d, len(y) = %d, len(mask) = %d",
			len(mean), len(std), len(y), len(mask)))
	}
	ll, sq, n := 0.0, 0.0, 0
	for i := range mean {
		if mask != nil && !mask[i] {
			continue
		}
		s, d := float64(std[i]), float64(y[i])-float64(mean[i])
		z := d / s
		l := -0.5*z*z - math.Log(s) - 0.5*math.Log(2*math.Pi)
		if !(s > 0) || math.IsNaN(l-l) {
			m.bad++
			continue
		}
		ll, sq, n = ll+l, sq+d*d, n+1
		m.total, m.z2, m.spread = m.total+d*d, m.z2+z*z, m.spread+s
		for k, w := range halfWidths {
			if math.Abs(z) <= w {
				m.inside[k]++
			}
		}
	}
	if n == 0 {
		return
	}
	ll, sq = ll/float64(n), sq/float64(n)
	m.tasks, m.values = m.tasks+1, m.values+n
	m.ll, m.ll2, m.sq, m.sq2 = m.ll+ll, m.ll2+ll*ll, m.sq+sq, m.sq2+sq*sq
}

// AddTask is Add for a prediction of one task under any likelihood: its log-likelihood is that of the values together, and intervals lie
// between its quantiles.
func AddTask[T cnp.Float](m *Meter, p *cnp.Prediction[T], y []T, mask []bool) {
	if _, ok := p.Distribution().(cnp.Gaussian); ok {
		Add(m, p.Mean, p.Std, y, mask)
		return
	}
	counts := make([]bool, len(p.Mean))
	sq := 0.0
	for i := range counts {
		if mask != nil && !mask[i] {
			continue
		}
		if p.Slice(i, i+1).Check(nil) != nil || math.IsNaN(float64(y[i]-y[i])) {
			m.bad++
			continue
		}
		counts[i] = true
	}
	ll, n := p.LogDensity(y, counts)
	if n == 0 {
		return
	}
	if math.IsNaN(ll - ll) {
		m.bad += n
		return
	}
	for i, ok := range counts {
		if !ok {
			continue
		}
		s, d := float64(p.Std[i]), float64(y[i])-float64(p.Mean[i])
		sq += d * d
		m.total, m.z2, m.spread = m.total+d*d, m.z2+d*d/(s*s), m.spread+s
		for k, q := range nominals {
			if v := float64(y[i]); v >= p.QuantileAt(i, (1-q)/2) && v <= p.QuantileAt(i, (1+q)/2) {
				m.inside[k]++
			}
		}
	}
	ll, sq = ll/float64(n), sq/float64(n)
	m.tasks, m.values = m.tasks+1, m.values+n
	m.ll, m.ll2, m.sq, m.sq2 = m.ll+ll, m.ll2+ll*ll, m.sq+sq, m.sq2+sq*sq
}

// stat makes a Stat of the sum over n tasks and of the sum of the squares.
func stat(sum, squares float64, n int) Stat {
	if n == 0 {
		return Stat{math.NaN(), math.NaN()}
	}
	mean := sum / float64(n)
	return Stat{mean, math.Sqrt(max(0, squares/float64(n)-mean*mean) * float64(n) / float64(max(1, n-1)))}
}

// Report returns the figures of what was added so far. Without values they are NaN.
func (m *Meter) Report() *Report {
	n := float64(m.values)
	r := &Report{
		Tasks: m.tasks, Values: m.values, LogLikelihood: stat(m.ll, m.ll2, m.tasks), SquaredError: stat(m.sq, m.sq2, m.tasks),
		RMSE: math.Sqrt(m.total / n), ZSquare: m.z2 / n, Spread: m.spread / n, NotFinite: m.bad,
	}
	for k, p := range nominals {
		l := Level{p, float64(m.inside[k]) / n}
		r.Levels = append(r.Levels, l)
		r.CalibrationError += math.Abs(l.Observed-p) / float64(len(nominals))
	}
	return r
}
