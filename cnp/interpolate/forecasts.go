package interpolate

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/internal/words"
)

// model scores the model's predictions, which are normal or not.
func (f *forecast) model(normal bool) {
	lo, hi := f.predicted.Quantile(0.025), f.predicted.Quantile(0.975)
	const levels = 400
	crps := make([]float64, len(f.y))
	for k := 0; k < levels && !normal; k++ { // twice the mean of the quantiles' losses
		q := (float64(k) + 0.5) / levels
		for i, v := range f.predicted.Quantile(q) {
			e := f.y[i] - v
			crps[i] += 2 * max(q*e, (q-1)*e) / levels
		}
	}
	density := make([]float64, len(f.y))
	one := make([]float64, len(f.y))
	for i, v := range f.y { // LogDensity is a mean over the values that are known
		for k := range one {
			one[k] = math.NaN()
		}
		one[i] = v
		density[i], _ = f.predicted.LogDensity(one)
		s := normalScore(v, f.predicted.Mean[i], f.predicted.Std[i])
		s.LogLikelihood, s.Coverage95 = density[i], 0
		if v >= lo[i] && v <= hi[i] {
			s.Coverage95 = 1
		}
		if !normal {
			s.CRPS = crps[i]
		}
		f.scores[0] = append(f.scores[0], s)
	}
}

// normalScore scores a normal prediction of one value.
func normalScore(y, mean, std float64) ForecastScore {
	e := y - mean
	z := e / std
	s := ForecastScore{Values: 1, MAE: math.Abs(e),
		LogLikelihood: -0.5*z*z - math.Log(std) - 0.5*math.Log(2*math.Pi),
		CRPS:          std * (z*math.Erf(z/math.Sqrt2) + 2*math.Exp(-0.5*z*z)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi))}
	if std == 0 {
		s.LogLikelihood, s.CRPS = math.Inf(1), s.MAE
		if e != 0 {
			s.LogLikelihood = math.Inf(-1)
		}
	}
	if math.Abs(e) <= 1.95996398*std {
		s.Coverage95 = 1
	}
	return s
}

// errors returns the mean error, and the root of the mean squared one, of values forecast by those so many steps before, up to the origin.
func (f *forecast) errors(back int) (mean, root float64) {
	n := float64(f.known - back)
	for i := back; i < f.known; i++ {
		e := math.Abs(f.mean[i] - f.mean[i-back])
		mean, root = mean+e/n, math.Hypot(root, e/math.Sqrt(n))
	}
	return mean, root
}

// naive scores forecasts by the last values, so many steps long, which are repeated. Errors add up from one repetition to the next.
func (f *forecast) naive(k, back int) {
	_, root := f.errors(back)
	for i, y := range f.y {
		times := f.step[i]/back + 1
		f.scores[k] = append(f.scores[k], normalScore(y, f.mean[f.known-back+f.step[i]%back], root*math.Sqrt(float64(times))))
	}
}

// score averages over the forecasts.
func (b *Backtest) score() {
	for c, name := range b.names {
		out := &Backtested{}
		to := []*Forecasts{&out.Model, &out.Naive}
		if b.Season > 1 {
			out.SeasonalNaive = &Forecasts{}
			to = append(to, out.SeasonalNaive)
		}
		for k, t := range to {
			t.Steps = make([]ForecastScore, b.Steps)
			for _, f := range b.all[c] {
				for i, s := range f.scores[k] {
					t.Overall.add(s)
					t.Steps[f.step[i]].add(s)
				}
			}
			t.Overall.divide()
			for i := range t.Steps {
				t.Steps[i].divide()
			}
		}
		b.Outputs[name] = out
	}
}

// add adds the score of one value.
func (s *ForecastScore) add(one ForecastScore) {
	s.Values += one.Values
	s.LogLikelihood, s.CRPS, s.MAE = s.LogLikelihood+one.LogLikelihood, s.CRPS+one.CRPS, s.MAE+one.MAE
	s.Scaled, s.Coverage95 = s.Scaled+one.Scaled, s.Coverage95+one.Coverage95
}

// divide takes sums to means.
func (s *ForecastScore) divide() {
	n := float64(s.Values)
	s.LogLikelihood, s.CRPS, s.MAE, s.Scaled, s.Coverage95 = s.LogLikelihood/n, s.CRPS/n, s.MAE/n, s.Scaled/n, s.Coverage95/n
}

// String is the row of a table.
func (s ForecastScore) String() string {
	return fmt.Sprintf("%14.4f %11.4g %11.4g %8.3f %8.0f %%", s.LogLikelihood, s.CRPS, s.MAE, s.Scaled, 100*s.Coverage95)
}

// unjudged is how many forecasts were of values that are outliers.
func (b *Backtest) unjudged() (n int) {
	for _, of := range b.all {
		for _, f := range of {
			for _, out := range f.outlier {
				if out {
					n++
				}
			}
		}
	}
	return n
}

// Said is what there is to say: lines under their names, and notes.
func (b *Backtest) Said() (lines [][2]string, notes []string) {
	lines = append(lines, [2]string{"backtest", fmt.Sprintf("%s of %d series, %s each, %s apart", words.Plural(b.Origins, "origin"),
		b.Series, words.Plural(b.Steps, "step"), words.Plural(b.Stride, "step"))})
	for _, name := range b.names {
		o := b.Outputs[name]
		if o.Model.Overall.Values == 0 {
			continue
		}
		lines = append(lines, [2]string{name, fmt.Sprintf("%-20s log-likelihood        CRPS         MAE     MASE  in 95 %%", "")})
		row := func(what string, s ForecastScore) {
			lines = append(lines, [2]string{"", fmt.Sprintf("%-20s %v", what, s)})
		}
		row("model", o.Model.Overall)
		row("naive", o.Naive.Overall)
		if o.SeasonalNaive != nil {
			row(fmt.Sprintf("seasonal naive, %d", b.Season), o.SeasonalNaive.Overall)
		}
		for i, s := range o.Model.Steps {
			if s.Values > 0 {
				row(fmt.Sprintf("model, step %d", i+1), s)
			}
		}
	}
	notes = withoutAdvice(b.in.Doubts(), b.robust)
	if note := b.in.pooled(); note != "" {
		notes = append(notes, note)
	}
	if n := b.unjudged(); n > 0 {
		notes = append(notes, words.Plural(n, "forecast")+" of outliers not judged")
	}
	if b.Short > 0 {
		notes = append(notes, fmt.Sprintf("%d series too short for a first origin behind %d times: left out", b.Short, LeastTraining))
	}
	if b.Season == 1 {
		notes = append(notes, "no season is known, or none as short as what comes before the first origin: there is no seasonal "+
			"naive forecast, and MASE is over differences of neighbours")
	}
	return lines, notes
}
