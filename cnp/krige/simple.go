package krige

import (
	"math"

	"github.com/equivcnp/equivcnp/neighbor"
)

// Simple returns the predictions that a fit is compared with, at each target [nt, Dim]: by mean and deviation of the table's values, and by
// inverse squared distances to the nearest rows, both on the scale on which the values are normal. The errors are those of At.
func (m *Model) Simple(targets []float64) (constant, distances *Prediction, err error) {
	nt, err := m.checkTargets(targets)
	if err != nil {
		return nil, nil, err
	}
	var mean, std [2][]float64
	for k := range mean {
		mean[k], std[k] = make([]float64, nt), make([]float64, nt)
	}
	if m.frame.ys == 0 {
		for k := range mean {
			m.equal(mean[k], std[k])
		}
	} else {
		t, err := m.places(targets)
		if err != nil {
			return nil, nil, err
		}
		var w neighbor.NearestWorkspace
		x, d := m.mix, m.frame.dim
		for i := range nt {
			mean[0][i], std[0][i] = x.y, x.yvar
			mean[1][i], std[1][i] = x.idw.at(t.x[i*d:(i+1)*d], -1, &w, x.yvar)
			for k := range mean {
				mean[k][i], std[k][i] = m.frame.y0+m.frame.ys*mean[k][i], m.frame.ys*math.Sqrt(std[k][i])
			}
		}
	}
	for k := range mean {
		m.addSlopes(mean[k], targets)
		if err := checkRange(mean[k], std[k]); err != nil {
			return nil, nil, err
		}
	}
	if constant, err = m.prediction(mean[0], std[0]); err == nil {
		distances, err = m.prediction(mean[1], std[1])
	}
	return constant, distances, err
}

// OverDeviation takes a mean log density of values, as Prediction.LogDensity has it, to the scale of those of Report: that of values over
// their standard deviation in the table, where both are on the scale on which the values are normal.
func (m *Model) OverDeviation(density float64) float64 { return density + m.scaled }
