package serve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// Some outputs need more of a model than mean and standard deviation. A job that asks for one is computed alone.

// maxSamples and maxQuantiles bound those of a request.
const (
	maxSamples   = 1024
	maxQuantiles = 1024
)

// maxSeed is the largest seed: beyond it JSON's numbers, in the hands of most who read them, are no longer all different.
const maxSeed = 1<<53 - 1

// alone is what a job wants beyond mean and standard deviation.
type alone struct {
	draw      *cnp.SampleOptions // nil: no samples
	quantiles []float64
	check     bool // whether the model suits the contexts
	// What came of it.
	samples []float32 // [S, values]
}

// askAlone notes what a request wants beyond mean and standard deviation, nil for nothing. Samples are wanted where the output is named,
// or the parameter samples says how many; quantiles where the parameter of that name says which. needed says that it is computed alone
// whatever it wants.
func askAlone(r *request, needed bool) (a *alone, err error) {
	a = &alone{}
	if text := r.params["quantiles"]; text != nil {
		list, ok := text.(string)
		if !ok {
			return nil, invalid(`parameter "quantiles": %v, need a text such as "0.05,0.5,0.95"`, text)
		}
		for _, q := range strings.Split(list, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			if err != nil || predict.CheckQuantiles([]float64{v}) != nil || len(a.quantiles) == maxQuantiles {
				return nil, invalid(`parameter "quantiles": %.40q: need at most %d numbers between 0 and 1, as in "0.05,0.5,0.95"`,
					list, maxQuantiles)
			}
			a.quantiles, needed = append(a.quantiles, v), true
		}
	}
	if a.check, err = r.params.flag("check", false); err != nil {
		return nil, err
	}
	needed = needed || a.check
	n, asked, err := r.params.whole("samples", 0, maxSamples)
	if err != nil {
		return nil, err
	}
	for _, w := range r.outputs {
		switch w.name {
		case "samples":
			if asked = true; n == 0 {
				n = 1
			}
		case "mean", "std":
		default:
			needed = true
		}
	}
	opt := &cnp.SampleOptions{Samples: n} // whose parameters are checked without samples, too
	seed, _, err := r.params.whole("seed", 0, maxSeed)
	if err != nil {
		return nil, err
	}
	opt.Seed = uint64(seed)
	if opt.Block, _, err = r.params.whole("block", 0, maxBatchTasks); err != nil {
		return nil, err
	}
	if opt.Growth, _, err = r.params.number("growth", 0, 1000); err != nil {
		return nil, err
	}
	if opt.Knots, _, err = r.params.whole("knots", 0, maxBatchTasks); err != nil {
		return nil, err
	}
	if opt.Function, err = r.params.flag("function", false); err != nil {
		return nil, err
	}
	if order, ok := r.params["order"].(string); ok {
		if !slices.Contains(cnp.Orders, order) {
			return nil, invalid(`parameter "order": %.40q is not one of %s`, order, strings.Join(cnp.Orders, ", "))
		}
		opt.Order = cnp.Order(order)
	}
	switch {
	case asked && n > 0:
		a.draw = opt
	case !needed:
		return nil, nil
	}
	return a, nil
}
