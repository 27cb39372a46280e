package interpolate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Rolling says how forecasts of series are tried out on their own last values: so many Origins, of which the last has Steps times behind
// it, and each lies Stride times before the next. A model that is fitted to all times up to an origin forecasts the Steps that follow it.
type Rolling struct {
	Origins, Steps int
	Stride         int // 0: as many as Steps, so that each value is forecast once
}

// Check refuses numbers that cannot be.
func (r Rolling) Check() error {
	switch {
	case r.Origins < 1 || r.Origins > MaxFolds:
		return settings.Errorf("{Backtest} %d: need 1 to %d origins", r.Origins, MaxFolds)
	case r.Steps < 1 || r.Steps > maxSteps:
		return settings.Errorf("{Backtest}: {Next} says how many steps to forecast, 1 to %d", maxSteps)
	case r.Stride < 0 || r.Stride > maxSteps:
		return settings.Errorf("{Stride} %d: need 1 to %d, or 0 for as many as {Next}", r.Stride, maxSteps)
	}
	return nil
}

// maxSteps is how many steps a backtest forecasts at most, and how many lie between its origins.
const maxSteps = 1 << 20

// LeastTraining is how many times a series needs up to its first origin.
const LeastTraining = 10

// Backtest is what series were forecast as before their last values were known.
type Backtest struct {
	Origins int `json:"origins"`
	Steps   int `json:"steps"`
	Stride  int `json:"stride"`
	// Season is how many steps the seasonal naive forecast goes back, 1 where none is known.
	Season  int                    `json:"season"`
	Series  int                    `json:"series"`
	Short   int                    `json:"too_short,omitempty"` // series that were left out
	Outputs map[string]*Backtested `json:"outputs"`
	in      *Interpolation         // of all tasks
	names   []string               // of the outputs
	levels  []float64              // of the quantiles
	robust  bool                   // outliers are left out
	all     [][]*forecast          // of each output
}

// Backtested are the forecasts of one output, of the model, of the last value and of the value a season before.
type Backtested struct {
	Model         Forecasts  `json:"model"`
	Naive         Forecasts  `json:"naive"`
	SeasonalNaive *Forecasts `json:"seasonal_naive,omitempty"`
}

// Forecasts says how good forecasts are: all of them, and those of each step.
type Forecasts struct {
	Overall ForecastScore   `json:"overall"`
	Steps   []ForecastScore `json:"steps"`
}

// ForecastScore has means over values. LogLikelihood is in nats, of the values themselves, CRPS and MAE are in their unit. Scaled is MAE
// over the mean difference of values that lie a season (or, without one, a step) apart, up to the origin: MASE. The naive forecasts are
// normal, with the mean square of the errors that they made up to the origin.
type ForecastScore struct {
	Values                                       int
	LogLikelihood, CRPS, MAE, Scaled, Coverage95 float64
}

// MarshalJSON implements json.Marshaler: what is not finite is null.
func (s ForecastScore) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Values        int          `json:"values"`
		LogLikelihood words.Number `json:"log_likelihood"`
		CRPS          words.Number `json:"crps"`
		MAE           words.Number `json:"mae"`
		Scaled        words.Number `json:"mase"`
		Coverage95    words.Number `json:"coverage_95"`
	}{s.Values, words.Number(s.LogLikelihood), words.Number(s.CRPS), words.Number(s.MAE), words.Number(s.Scaled),
		words.Number(s.Coverage95)})
}

// series is one output of one task: its times in order, each with its rows.
type series struct {
	task, c int
	x       []float64
	rows    [][]int
	mean    []float64 // at each time
}

// forecast is what is said of the values behind one origin of a series.
type forecast struct {
	*series
	origin, known int // from 0, and how many times are known
	rows, step    []int
	y             []float64
	outlier       []bool // of each value; nil: none is asked about
	predicted     *krige.Prediction
	scores        [3][]ForecastScore // of the model, the last value and that a season before, of each value
}

// RunBacktest reads the table of input, of one input and of any number of tasks, and tries out its forecasts. Each task and output is
// fitted on its own. quantiles are those that Table has. progress, if it is not nil, hears how many fits of how many are done.
func RunBacktest(ctx context.Context, input *tabletask.Options, opt Options, r Rolling, quantiles []float64,
	progress func(done, total int)) (*Backtest, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Stride == 0 {
		r.Stride = r.Steps
	}
	points := *input
	points.Targets, points.Next, points.NoTargets = "", 0, true
	in, _, err := readPoints(&points, false)
	if err != nil {
		return nil, err
	}
	if in.Dx != 1 {
		return nil, settings.Errorf("{Backtest}: %s has %d inputs, and only a series of one goes on", in.Points.Name, in.Dx)
	}
	own, values, err := in.options(opt)
	if err != nil {
		return nil, err
	}
	b := &Backtest{Origins: r.Origins, Steps: r.Steps, Stride: r.Stride, Outputs: map[string]*Backtested{}, in: in, names: in.Names(),
		levels: quantiles, robust: opt.Robust, all: make([][]*forecast, in.Dy)}
	for c, v := range values {
		if err := in.support(c, v); err != nil {
			return nil, err
		}
	}
	all, err := b.forecasts(r)
	if err != nil {
		return nil, err
	}
	b.season(own.Periods, all)
	if opt.Robust {
		if err := b.leaveOutliers(ctx, all, own, values); err != nil {
			return nil, err
		}
	}
	errs := make([]error, len(all))
	var mutex sync.Mutex
	done := 0
	parallel.Until(func() bool { return ctx.Err() != nil }, len(all), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			opt := own
			opt.Values = values[all[i].c]
			errs[i] = b.run(ctx, all[i], opt)
			mutex.Lock()
			if done++; progress != nil {
				progress(done, len(all))
			}
			mutex.Unlock()
		}
	})
	if err := cmp.Or(append([]error{ctx.Err()}, errs...)...); err != nil {
		return nil, err
	}
	b.score()
	return b, nil
}

// split takes the rows apart into series of each output and task.
func (b *Backtest) split() (all []*series) {
	in := b.in
	da := in.Da()
	for c := range in.Dy {
		of := make([]*series, in.Observed.Tasks)
		order := make([]int, 0, in.Points.Rows())
		for row := range in.Points.Rows() {
			y := in.Observed.Y[row*in.Dy+c]
			if y == y && !slices.ContainsFunc(in.Observed.Aux[row*da:(row+1)*da], math.IsNaN) {
				order = append(order, row)
			}
		}
		slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(in.Observed.X[i], in.Observed.X[k]) })
		for _, row := range order {
			k := in.Observed.Task[row]
			if of[k] == nil {
				of[k] = &series{task: k, c: c}
				all = append(all, of[k])
			}
			s, x := of[k], in.Observed.X[row]
			if n := len(s.x); n == 0 || s.x[n-1] < x {
				s.x, s.rows, s.mean = append(s.x, x), append(s.rows, nil), append(s.mean, 0)
			}
			last := len(s.x) - 1
			s.rows[last] = append(s.rows[last], row)
			n := float64(len(s.rows[last]))
			s.mean[last] += (in.Observed.Y[row*in.Dy+c] - s.mean[last]) / n
		}
	}
	slices.SortStableFunc(all, func(a, b *series) int { return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(a.task, b.task)) })
	return all
}

// forecasts finds the origins of each series, and leaves out those that are too short.
func (b *Backtest) forecasts(r Rolling) (all []*forecast, err error) {
	need := LeastTraining + (r.Origins-1)*r.Stride + r.Steps
	longest := 0
	for _, s := range b.split() {
		longest = max(longest, len(s.x))
		if len(s.x) < need {
			b.Short++
			continue
		}
		b.Series++
		for k := range r.Origins {
			f := &forecast{series: s, origin: k, known: len(s.x) - r.Steps - (r.Origins-1-k)*r.Stride}
			for i := range r.Steps {
				for _, row := range s.rows[f.known+i] {
					f.rows, f.step, f.y = append(f.rows, row), append(f.step, i), append(f.y, b.in.Observed.Y[row*b.in.Dy+s.c])
				}
			}
			all = append(all, f)
			b.all[s.c] = append(b.all[s.c], f)
		}
	}
	if len(all) == 0 {
		return nil, settings.Errorf("{Backtest} %d, {Next} %d: with origins %s apart a series needs values at %d times, %d of them up to "+
			"the first origin, and the longest of %s has %d: ask for fewer origins or steps", r.Origins, r.Steps,
			words.Plural(r.Stride, "step"), need, LeastTraining, b.in.Points.Name, longest)
	}
	return all, nil
}

// leaveOutliers finds the values that are outliers of their whole series, by which forecasts are not judged.
func (b *Backtest) leaveOutliers(ctx context.Context, all []*forecast, opt krige.Options, values []krige.Values) error {
	outliers := map[*series]map[int]bool{}
	for _, f := range all {
		if outliers[f.series] == nil {
			opt.Values = values[f.c]
			x, y, rows := b.until(f.series, len(f.x))
			m, err := krige.Fit(ctx, x, y, opt)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", b.in.Points.Name, b.names[f.c], err)
			}
			outliers[f.series] = map[int]bool{}
			for _, i := range m.Report().Outliers {
				outliers[f.series][rows[i]] = true
			}
		}
		for _, row := range f.rows {
			f.outlier = append(f.outlier, outliers[f.series][row])
		}
	}
	return nil
}

// until returns the context of a series' first times, and its rows of the table.
func (b *Backtest) until(s *series, times int) (x, y []float64, rows []int) {
	in, da := b.in, b.in.Da()
	var at, aux []float64
	for _, of := range s.rows[:times] {
		for _, row := range of {
			at, aux = append(at, in.Observed.X[row]), append(aux, in.Observed.Aux[row*da:(row+1)*da]...)
			y, rows = append(y, in.Observed.Y[row*in.Dy+s.c]), append(rows, row)
		}
	}
	return in.Inputs(at, aux), y, rows
}

// season finds how many steps the seasonal naive forecast goes back: the first period that was named, or what dates usually have.
func (b *Backtest) season(periods []float64, all []*forecast) {
	clock, err := b.in.Points.Clock(b.in.Observed.Columns.X[0])
	if err != nil {
		clock = nil
	}
	var x [][]float64
	least := math.MaxInt
	for _, f := range all {
		if f.origin == 0 {
			x, least = append(x, slices.Clone(f.x)), min(least, f.known)
		}
	}
	b.Season = 1
	s := tabular.SpacingOf(x, clock)
	if s == nil {
		return
	}
	steps := float64(s.Season())
	if len(periods) > 0 {
		steps = math.Round(s.Steps(periods[0]))
	}
	if steps > 1 && steps < float64(least) {
		b.Season = int(steps)
	}
}

// run fits and scores one forecast.
func (b *Backtest) run(ctx context.Context, f *forecast, opt krige.Options) error {
	in, da := b.in, b.in.Da()
	x, y, _ := b.until(f.series, f.known)
	var at, askedAux []float64
	for _, row := range f.rows {
		at, askedAux = append(at, in.Observed.X[row]), append(askedAux, in.Observed.Aux[row*da:(row+1)*da]...)
	}
	m, err := krige.Fit(ctx, x, y, opt)
	if err == nil {
		f.predicted, err = m.At(ctx, in.Inputs(at, askedAux))
	}
	if err != nil {
		return fmt.Errorf("%s: %s up to origin %d: %w", in.Points.Name, b.names[f.c], f.origin+1, err)
	}
	f.model(opt.Values == krige.Plain)
	scale, _ := f.errors(b.Season)
	f.naive(1, 1)
	if b.Season > 1 {
		f.naive(2, b.Season)
	}
	for _, scores := range f.scores {
		for i := range scores {
			if scores[i].Scaled = scores[i].MAE / scale; f.outlier != nil && f.outlier[i] {
				scores[i] = ForecastScore{}
			}
		}
	}
	return nil
}

// Table returns the forecasts: the task where there is one, the time, the number of the origin and of the step, the value, mean and
// standard deviation, and quantiles, of one output after the other.
func (b *Backtest) Table(c *tabletask.Columns) *table.Table {
	in := b.in
	names, _ := in.Chosen(c)
	columns := slices.Clone(in.Observed.Columns.X)
	if k := in.Observed.TaskColumn; k >= 0 {
		columns, names = append([]int{k}, columns...), append([]string{in.Points.Header[k]}, names...)
	}
	var rows []int
	added := []table.Column{{Name: "origin"}, {Name: "step"}, {Name: "value"}, {Name: "mean"}, {Name: "std"}}
	for _, kind := range tabletask.QuantileKinds(b.levels) {
		added = append(added, table.Column{Name: kind})
	}
	if in.Dy > 1 {
		added = append(added, table.Column{Name: "output"})
	}
	for c := range b.all {
		for _, f := range b.all[c] {
			rows = append(rows, f.rows...)
			var quantiles [][]float64
			for _, level := range b.levels {
				quantiles = append(quantiles, f.predicted.Quantile(level))
			}
			for i, y := range f.y {
				row := []float64{float64(f.origin + 1), float64(f.step[i] + 1), y, f.predicted.Mean[i], f.predicted.Std[i]}
				for _, q := range quantiles {
					row = append(row, q[i])
				}
				if in.Dy > 1 {
					row = append(row, float64(c+1))
				}
				for k, v := range row {
					added[k].Values = append(added[k].Values, v)
				}
			}
		}
	}
	return in.Points.Only(columns, names).Rearranged(rows).With(added...)
}
