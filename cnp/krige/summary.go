package krige

import (
	"math"
	"slices"
)

func newReport(m *Model, y, mean, variance []float64, means, variances [experts][]float64) Report {
	r := Report{Values: len(y), Exact: m.exact, Scale: math.Sqrt(m.mix.scale),
		Uncorrected: m.opt.NoCheck || m.opt.MaximumLikelihood}
	n := float64(len(y))
	if m.opt.Drift > 0 { // the unit is what a drift leaves of the values' deviation
		_, sd := moments(m.y)
		for _, l := range []*float64{&r.LogDensity, &r.Constant, &r.InverseDistance} {
			*l = math.Log(sd)
		}
	}
	for i, v := range y {
		r.LogDensity += logNormal(v, mean[i], variance[i]) / n
		r.Constant += logNormal(v, means[constant][i], variances[constant][i]) / n
		r.InverseDistance += logNormal(v, means[inverseDistance][i], variances[inverseDistance][i]) / n
		z := math.Abs(v-mean[i]) / math.Sqrt(variance[i])
		if z <= 0.67448975 {
			r.Coverage50 += 1 / n
		}
		if z <= 1.95996398 {
			r.Coverage95 += 1 / n
		}
	}
	w := m.mix.weight
	r.Weights = Weights{w[gaussian], w[inverseDistance], w[constant]}
	for _, s := range m.mix.spread {
		if s.levels {
			r.Varies = append(r.Varies, "level")
		} else {
			r.Varies = append(r.Varies, "place")
		}
	}
	for _, b := range m.members {
		r.Members = append(r.Members, m.member(b))
	}
	r.Drift = m.coefficients()
	return r
}

// member describes a member in the table's units.
func (m *Model) member(b *member) Member {
	unit := math.Abs(m.frame.unit[0])
	k := b.kernel
	out := Member{Weight: b.weight, Shape: b.spec.shape.String(), Length: unit / k.parts[0].inverse,
		Signal: m.frame.ys * math.Sqrt(b.variance),
		Noise:  m.frame.ys * math.Sqrt(b.variance*k.noise), Trend: m.frame.ys * math.Sqrt(b.variance*k.slope2) / unit}
	if m.wanders > 0 {
		out.WeightBeyond, out.Step = b.beyond, unit*m.step
	}
	if b.spec.shape == glide {
		out.SmoothLength = out.Length / k.parts[0].smooth
	}
	if b.spec.period > 0 {
		out.Period = unit * math.Pi / k.season.frequency
		out.SeasonSignal = m.frame.ys * math.Sqrt(b.variance*k.season.variance)
		out.SeasonWidth, out.SeasonLength = 1/math.Sqrt(k.season.width), unit/k.season.decay
	}
	if b.spec.long > 0 {
		out.LongPeriod = unit * k.long.period()
		out.LongSignal = m.frame.ys * math.Sqrt(b.variance*k.long.variance)
		out.LongWidth, out.LongLength = 1/math.Sqrt(k.long.width), unit/k.long.decay
	}
	if len(k.parts) > 1 {
		out.Shape += " + " + k.parts[1].shape.String()
		out.SecondAt, out.SecondSignal = unit/k.parts[1].inverse, m.frame.ys*math.Sqrt(b.variance*k.parts[1].variance)
	}
	switch {
	case b.spec.aniso && b.spec.dim == 2:
		out.Stretch = math.Exp(math.Hypot(b.theta[tFirst], b.theta[tFirst+1]))
	case b.spec.aniso:
		all := space(k)
		values, _ := eigen(slices.Concat(all...), 3)
		out.Stretch = math.Sqrt(slices.Max(values) / slices.Min(values))
	}
	if b.spec.aniso || m.opt.DifferentUnits && m.frame.dim > 1 {
		out.Metric = m.metric(b)
	}
	if m.opt.DifferentUnits && m.frame.dim > 1 {
		for _, u := range m.frame.unit {
			out.Trends = append(out.Trends, out.Trend*unit/math.Abs(u))
		}
	}
	return out
}

// coefficients are those of the drift in the table's units.
func (m *Model) coefficients() (out []Coefficient) {
	for k := range m.opt.Drift {
		unit := m.columns.unit[k]
		if !(unit > 0) {
			out = append(out, Coefficient{})
			continue
		}
		var total, m1, m2 float64
		for _, b := range m.members {
			mean, std := b.drift.beta()
			v := b.variance * std[k] * std[k]
			total, m1, m2 = total+b.weight, m1+b.weight*mean[k], m2+b.weight*(v+mean[k]*mean[k])
		}
		m1, m2 = m1/total, m2/total
		scale, expected := m.frame.ys/unit, 0.0
		if s := m.opt.slopes; s != nil {
			expected = s.mean[k]
		}
		out = append(out, Coefficient{Mean: expected + scale*m1, Std: scale * math.Sqrt(max(0, m2-m1*m1))})
	}
	return out
}

// space is the metric of a kernel of three coordinates.
func space(k *kernel) [][]float64 {
	w := k.metric
	return [][]float64{{w[0], w[3] / 2, w[4] / 2}, {w[3] / 2, w[1], w[5] / 2}, {w[4] / 2, w[5] / 2, w[2]}}
}

// metric returns a member's metric in the table's units, and in those of its first axis.
func (m *Model) metric(b *member) [][]float64 {
	d := m.frame.dim
	all := make([][]float64, d)
	for i := range all {
		all[i] = make([]float64, d)
		all[i][i] = 1
	}
	switch { // see features
	case b.spec.aniso && d == 2:
		w := b.kernel.metric
		all = [][]float64{{w[0], w[1] / 2}, {w[1] / 2, w[2]}}
	case b.spec.aniso:
		all = space(b.kernel)
	}
	for i, row := range all {
		for j := range row { // axes may point backwards, which the signs of their units say
			row[j] *= m.frame.unit[0] / m.frame.unit[i] * (m.frame.unit[0] / m.frame.unit[j])
		}
	}
	return all
}
