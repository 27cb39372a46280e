package krige

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/neighbor"
)

// What makes values outliers, where Options.Robust is set.
const (
	// outlierShare is the share of values that may be outliers: where more are so far, that is how these values are.
	outlierShare = 0.1
	// outlierRounds is how often the values that are left are fitted again.
	outlierRounds = 8
	// outlierFirst is the part of the largest deviation that a value has to have to be left out in one round: an outlier makes its
	// neighbours look like some, too.
	outlierFirst = 0.5
	// outlierAbsurd is how many robust deviations from the median a value lies that is asked about only after it was left out: codes for
	// missing values come in runs, and say of each other that they are right.
	outlierAbsurd = 100
	// outlierNear is how many of the nearest values are asked whether what looks like an outlier is like them, outlierNearest how many
	// where several are as far, and outlierLike how many have to be like it: outliers are seldom so many in one place.
	outlierNear, outlierNearest, outlierLike = 8, 64, 3
	// outlierClip is how many robust deviations from the median a value counts as while outliers are searched, at most: one that lies a
	// million of them away would make the others equal.
	outlierClip = 20
	// outlierChance is how many of all values are outliers, which are distributed like Cauchy's, outlierWide times as wide: that makes
	// models comparable that leave out different ones.
	outlierWide, outlierChance = 10, 0.01
)

// fitter fits rows of a table, of which x [n, Dim] are the inputs.
type fitter func(ctx context.Context, x, y []float64, opt Options) (*Model, error)

// sift is search, which finds none where an outlier is so far away in its coordinates that nothing can be predicted there.
func sift(ctx context.Context, x, y []float64, opt Options, fit fitter) (kept []int, z []float64, err error) {
	kept, z, err = search(ctx, x, y, opt, fit)
	if errors.Is(err, ErrInput) {
		return upTo(len(y)), nil, nil
	}
	return kept, z, err
}

// search returns the rows that are no outliers, all of them where it finds none. A value is one where it is far from what the rows that are
// no outliers say about it. Whether it is, is asked again of every row, those that are left out among them, as long as the answer changes.
//
// z is how far the rows lie, in robust deviations, nil where nothing was asked.
func search(ctx context.Context, x, y []float64, opt Options, fit fitter) (kept []int, z []float64, err error) {
	n := len(y)
	most := int(outlierShare * float64(n))
	kept = upTo(n)
	if most == 0 {
		return kept, nil, nil
	}
	opt.Robust, opt.NoCheck = false, true
	absurd := beyond(y, outlierAbsurd)
	if len(absurd) > most { // some of them would stay, and make outliers of what lies beside them
		return kept, nil, nil
	}
	kept = others(absurd, n)
	if mostlyEqual(y) { // nothing says how far others lie, as deviations of most are 0
		z = make([]float64, n)
		for _, i := range absurd {
			z[i] = math.Inf(1)
		}
		return kept, z, nil
	}
	y = clipped(y)
	var m *Model
	for range outlierRounds {
		if m, err = fit(ctx, takeRows(x, opt.Dim, kept), takeRows(y, 1, kept), opt); err != nil {
			return nil, nil, err
		}
		if m.frame.ys == 0 { // the rest is equal: nothing says what is far
			return upTo(n), nil, nil
		}
		if z, err = m.deviations(ctx, x, y, kept); err != nil {
			return nil, nil, err
		}
		next := keepNear(z, kept, most)
		if slices.Equal(next, kept) {
			break
		}
		kept = next
	}
	far := slices.DeleteFunc(others(kept, n), func(i int) bool { _, is := slices.BinarySearch(absurd, i); return is })
	if err := m.likeNear(ctx, x, y, z, far); err != nil {
		return nil, nil, err
	}
	far = slices.DeleteFunc(others(kept, n), func(i int) bool { return z[i] <= outlierDeviations })
	return others(far, n), z, ctx.Err()
}

// mostlyEqual reports whether more than half of the values are one.
func mostlyEqual(y []float64) bool {
	middle, n := median(y), 0
	for _, v := range y {
		if v == middle {
			n++
		}
	}
	return 2*n > len(y)
}

// likeNear makes nothing of the deviations z of rows whose values some of the near ones have, too, as beside a jump.
func (m *Model) likeNear(ctx context.Context, x, y, z []float64, rows []int) error {
	if len(rows) == 0 || m.opt.Drift > 0 { // values that a column makes different are like each other without it alone
		return nil
	}
	at, err := m.places(x)
	if err != nil {
		return err
	}
	means, _, err := m.normal(ctx, takeRows(x, m.opt.Dim, rows))
	if err != nil {
		return err
	}
	d := m.frame.dim
	t := newTree(at.x, d)
	var w neighbor.NearestWorkspace
	for k, i := range rows {
		index, d2 := t.KNearestWithin(nil, nil, at.x[i*d:(i+1)*d], outlierNearest, math.Inf(1), &w)
		reach := d2[min(outlierNear, len(d2)-1)] * (1 + 1e-9) // those that are as far as the last one count, too
		like, alike := 0, 2*math.Abs(y[i]-means[k])/z[i]      // two robust deviations
		for q, j := range index {
			if int(j) != i && d2[q] <= reach && math.Abs(y[i]-y[j]) <= alike {
				like++
			}
		}
		if like >= outlierLike {
			z[i] = 0
		}
	}
	return nil
}

// aboutMedian returns the median of values and their robust deviation, which is that of those that differ from it.
func aboutMedian(y []float64) (middle, deviation float64) {
	middle = median(y)
	far := make([]float64, 0, len(y))
	for _, v := range y {
		if d := math.Abs(v - middle); d > 0 {
			far = append(far, d)
		}
	}
	if len(far) == 0 {
		return middle, 0
	}
	return middle, median(far) / normalMedian
}

// beyond returns the rows of values that lie more than so many robust deviations from the median.
func beyond(y []float64, deviations float64) (rows []int) {
	middle, deviation := aboutMedian(y)
	for i, v := range y {
		if math.Abs(v-middle) > deviations*deviation {
			rows = append(rows, i)
		}
	}
	return rows
}

// clipped are values none of which is farther from the median than outlierClip of their robust deviations.
func clipped(y []float64) []float64 {
	middle, deviation := aboutMedian(y)
	limit := outlierClip * deviation
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = min(max(v, middle-limit), middle+limit)
	}
	return out
}

// deviations returns how many robust standard deviations each row lies from what the others say: of those that were fitted in closed form.
func (m *Model) deviations(ctx context.Context, x, y []float64, kept []int) ([]float64, error) {
	mean, variance := make([]float64, m.n), make([]float64, m.n)
	if err := m.leaveOneOut(ctx, upTo(m.n), mean, variance); err != nil {
		return nil, err
	}
	z, of := make([]float64, len(y)), make([]float64, m.n)
	for i, v := range m.y {
		of[i] = math.Abs(v-mean[i]) / math.Sqrt(variance[i])
		z[kept[m.order[i]]] = of[i]
	}
	rest := others(kept, len(y))
	means, stds, err := m.normal(ctx, takeRows(x, m.opt.Dim, rest))
	if err != nil {
		return nil, err
	}
	for k, i := range rest {
		z[i] = math.Abs(y[i]-means[k]) / stds[k]
	}
	scale := max(leastDeviation, median(of)/normalMedian)
	for i := range z {
		z[i] /= scale
	}
	return z, nil
}

// keepNear returns the rows whose deviations z are near enough, without more than most of the others, the farthest. Of those that were kept
// it leaves out the farthest alone.
func keepNear(z []float64, kept []int, most int) []int {
	farthest := 0.0
	for _, i := range kept {
		farthest = max(farthest, z[i])
	}
	limit := slices.Repeat([]float64{outlierDeviations}, len(z))
	for _, i := range kept {
		limit[i] = max(outlierDeviations, outlierFirst*farthest)
	}
	var far []int
	for i, v := range z {
		if !(v <= limit[i]) {
			far = append(far, i)
		}
	}
	slices.SortStableFunc(far, func(a, b int) int {
		switch {
		case z[a] > z[b]:
			return -1
		case z[a] < z[b]:
			return 1
		}
		return 0
	})
	if len(far) > most {
		far = far[:most]
	}
	slices.Sort(far)
	return others(far, len(z))
}

// others are the rows up to n that are not among some, which are sorted.
func others(some []int, n int) []int {
	out := make([]int, 0, n-len(some))
	for i := range n {
		if len(some) > 0 && some[0] == i {
			some = some[1:]
			continue
		}
		out = append(out, i)
	}
	return out
}

// takeRows copies some rows of d numbers.
func takeRows(v []float64, d int, rows []int) []float64 {
	out := make([]float64, 0, d*len(rows))
	for _, i := range rows {
		out = append(out, v[i*d:(i+1)*d]...)
	}
	return out
}

// fitSifted fits the rows of a table that are no outliers, and notes which ones are. How far outliers lie is a matter of the table, as
// where values vary more in one place than in another: of several limits it takes the one, or none, by which all values are likeliest.
func fitSifted(ctx context.Context, x, y []float64, opt Options, fit fitter) (*Model, error) {
	kept, z, err := sift(ctx, x, y, opt, fit)
	if err != nil {
		return nil, err
	}
	best, err := fit(ctx, x, y, opt)
	if err != nil {
		return nil, err
	}
	far := others(kept, len(y))
	before := 0
	for _, limit := range []float64{4 * outlierDeviations, 2 * outlierDeviations, outlierDeviations} {
		out := slices.DeleteFunc(slices.Clone(far), func(i int) bool { return z[i] <= limit })
		if len(out) == before {
			continue
		}
		before = len(out)
		m, err := fitWithout(ctx, x, y, out, opt, fit)
		if err != nil {
			return nil, err
		}
		if m.frame.ys == 0 || m.overall() > best.overall() {
			best = m
		}
	}
	best.opt.Robust = true
	return best, nil
}

// fitWithout fits the rows of a table that are not among its outliers.
func fitWithout(ctx context.Context, x, y []float64, outliers []int, opt Options, fit fitter) (*Model, error) {
	kept := others(outliers, len(y))
	m, err := fit(ctx, takeRows(x, opt.Dim, kept), takeRows(y, 1, kept), opt)
	if err != nil {
		return nil, err
	}
	m.report.Outliers = outliers
	for k, i := range m.report.Far {
		m.report.Far[k] = kept[i]
	}
	mean, std, err := m.normal(ctx, takeRows(x, opt.Dim, outliers))
	if err != nil {
		return nil, err
	}
	for k, i := range outliers {
		wide := math.Log(outlierWide) + math.Log(std[k])
		z := math.Ln2 + math.Log(math.Abs(y[i]/2-mean[k]/2)) - wide // its logarithm: a value may be all but beyond float64
		m.outlying += math.Log(outlierChance/math.Pi) - wide - 2*max(z, 0) - math.Log1p(math.Exp(-2*math.Abs(z)))
	}
	return m, nil
}

// overall is the mean log density of all values, outliers included, on the scale on which they were fitted.
func (m *Model) overall() float64 {
	_, sd := moments(m.y)
	return m.withOutliers(m.report.LogDensity - math.Log(sd*m.frame.ys))
}

// withOutliers is the mean log density of all values where density is that of those that are no outliers.
func (m *Model) withOutliers(density float64) float64 {
	out := float64(len(m.report.Outliers))
	if out == 0 {
		return density
	}
	n := float64(m.n)
	return (n*(density+math.Log1p(-outlierChance)) + m.outlying) / (n + out)
}
