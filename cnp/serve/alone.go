package serve

import (
	"github.com/equivcnp/equivcnp/cnp"
)

// Some outputs need more of a model than mean and standard deviation. A job that asks for one is computed alone.

// maxSamples bounds the samples of a request.
const maxSamples = 1024

// alone is what a job wants beyond mean and standard deviation.
type alone struct {
	draw  *cnp.SampleOptions // nil: no samples
	joint bool               // covariances
	// What came of it.
	samples []float32 // [S, values]
}

// askAlone notes what a request wants beyond mean and standard deviation, nil for nothing. Samples are wanted where the output is named, or the parameter samples
// says how many.
func askAlone(r *request, m *model) (*alone, error) {
	a := &alone{}
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
		case "covariance", "cov_factor", "cov_diag":
			a.joint = true
		}
	}
	if !asked || n == 0 {
		if a.joint {
			return a, nil
		}
		return nil, nil
	}
	opt := &cnp.SampleOptions{Samples: n}
	seed, _, err := r.params.number("seed", 0, 1<<53)
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
		opt.Order = cnp.Order(order)
	}
	a.draw = opt
	return a, nil
}
