package krige

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// grid is the step to which normalised coordinates and values are rounded. Two tables that differ by a shift and a scale differ in
// rounding after they are normalised; on the grid they are equal, bit for bit, so that nothing that follows can magnify rounding.
const grid = 1 << 28

// frame takes coordinates and values to a scale of their own and back.
//
// The origin of coordinates is their mean, and their unit the root mean square distance from it. An axis points to where values
// vary more, so that reflections change nothing. Values are taken less their mean, over their standard deviation.
type frame struct {
	dim    int // of the normalised coordinates
	sphere bool
	centre []float64
	unit   []float64 // of each axis, with its sign
	y0, ys float64
}

// unitVectors takes rows of latitude and longitude in degrees to unit vectors.
func unitVectors(x []float64) []float64 {
	out := make([]float64, 0, len(x)/2*3)
	for i := 0; i+1 < len(x); i += 2 {
		slat, clat := math.Sincos(x[i] * math.Pi / 180)
		slon, clon := math.Sincos(math.Mod(x[i+1], 360) * math.Pi / 180)
		out = append(out, clat*clon, clat*slon, slat)
	}
	return out
}

// newFrame returns the frame of a table.
func newFrame(x, y []float64, opt *Options) *frame {
	f := &frame{dim: opt.Dim - opt.Drift, sphere: opt.Sphere}
	if f.sphere {
		f.dim, x = 3, unitVectors(x)
	}
	d, n := f.dim, len(y)
	f.centre, f.unit = make([]float64, d), make([]float64, d)
	f.y0, f.ys = moments(y)
	skew := make([]float64, d)
	for k := range d {
		f.centre[k], f.unit[k] = moments(column(x, d, k))
		for i := range n {
			z := normalised(y[i], f.y0, f.ys)
			skew[k] += (x[i*d+k] - f.centre[k]) * z * z
		}
	}
	if f.sphere || !opt.DifferentUnits {
		var length float64
		for _, u := range f.unit {
			length = math.Hypot(length, u)
		}
		for k := range f.unit {
			f.unit[k] = length
		}
	}
	for k := range f.unit {
		if !(f.unit[k] > 0) {
			f.unit[k] = 1
		}
		if skew[k] < 0 && !f.sphere {
			f.unit[k] = -f.unit[k]
		}
	}
	return f
}

// means are those of rows of coordinates as the caller has them.
func (f *frame) means(x []float64) []float64 {
	if f.sphere {
		x = unitVectors(x)
	}
	out := make([]float64, f.dim)
	for k := range out {
		out[k], _ = moments(column(x, f.dim, k))
	}
	return out
}

// column copies column k of rows of d.
func column(x []float64, d, k int) []float64 {
	out := make([]float64, 0, len(x)/d)
	for i := k; i < len(x); i += d {
		out = append(out, x[i])
	}
	return out
}

// moments returns mean and standard deviation. Values are divided by their largest magnitude first, so that no square overflows.
func moments(v []float64) (mean, std float64) {
	if len(v) == 0 {
		return 0, 0
	}
	lo, hi := slices.Min(v), slices.Max(v)
	middle, half := lo/2+hi/2, hi/2-lo/2
	if half == 0 {
		return middle, 0
	}
	var s, s2 float64
	for _, a := range v {
		s += (a - middle) / half
	}
	s /= float64(len(v))
	for _, a := range v {
		e := (a-middle)/half - s
		s2 += e * e
	}
	return middle + half*s, half * math.Sqrt(s2/float64(len(v)))
}

// onGrid rounds to the grid.
func onGrid(v float64) float64 { return math.Round(v*grid) / grid }

// normalised is a number from an origin on in a unit, also where the distance from the origin overflows.
func normalised(v, origin, unit float64) float64 {
	if d := v - origin; !math.IsInf(d, 0) {
		return d / unit
	}
	return v/unit - origin/unit
}

// farthest is how far from the origin places may lie, in units of the frame: covariances need squares of it, and products of these.
const farthest = 1e60

// places normalises coordinates that need not be those of the frame's own table, and refuses what lies too far away from it.
func (f *frame) places(name string, x []float64) ([]float64, error) {
	out := f.coordinates(x)
	for i, v := range out {
		if !f.sphere && !(math.Abs(v) <= farthest) {
			return nil, fmt.Errorf("%w: %s: row %d, column %d is %g: that is more than %g times as far away as the table's rows are from "+
				"each other", ErrInput, name, i/f.dim, i%f.dim, x[i], farthest)
		}
	}
	return out, nil
}

// coordinates normalises coordinates as the caller has them.
func (f *frame) coordinates(x []float64) []float64 {
	if f.sphere {
		x = unitVectors(x)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		k := i % f.dim
		out[i] = onGrid(normalised(v, f.centre[k], f.unit[k]))
	}
	return out
}

// table normalises a table, and puts its rows in an order that depends on nothing but them. order[i] is the row that
// row i of the result is.
func (f *frame) table(x, y []float64) (nx, ny []float64, order []int) {
	d := f.dim
	raw := f.coordinates(x)
	value := make([]float64, len(y))
	order = make([]int, len(y))
	for i, v := range y {
		value[i], order[i] = onGrid(normalised(v, f.y0, f.ys)), i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := slices.Compare(raw[a*d:(a+1)*d], raw[b*d:(b+1)*d]); c != 0 {
			return c
		}
		// Values of one place in no order: the nearest few among many equal places must not be the lowest ones.
		if c := cmp.Compare(mixed(value[a]), mixed(value[b])); c != 0 {
			return c
		}
		return cmp.Compare(value[a], value[b])
	})
	nx, ny = make([]float64, 0, len(raw)), make([]float64, 0, len(y))
	for _, i := range order {
		nx, ny = append(nx, raw[i*d:(i+1)*d]...), append(ny, value[i])
	}
	return nx, ny, order
}

// mixed is a number without any order, the same for v and -v.
func mixed(v float64) uint64 {
	h := math.Float64bits(math.Abs(v)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	return h * 0xbf58476d1ce4e5b9
}
