package task

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// Universal is a prior of tables of any scale, smoothness and noise: what interpolation without training has to be good at.
//
// A table is a draw of a Gaussian process: Matérn of smoothness 1/2, 3/2 or 5/2, squared exponential or rational
// quadratic, alone or as a sum of two scales; of lengths log-uniform from the spacing of the context to twice the
// extent; in the plane with a stretch of up to 5 at any angle; with a linear trend, noise from a thousandth of the
// signal's variance to twice it, and in one dimension sometimes a season. Places are uniform, clustered, a grid with
// gaps, or along transects; in one dimension targets are sometimes a window or lie beyond the end. Unless Gaussian is
// set, half of the tables are changed afterwards: values are skewed, heavy-tailed, with outliers, rounded or cut at zero,
// some are zero whatever their neighbours are, noise grows along an axis, the trend is quadratic or has breaks, or in one
// dimension a random walk is added. At last coordinates and values get a unit and an origin, both at random.
type Universal struct {
	Dim         int  // coordinates, 1 to 3
	Least, Most int  // values of the context, log-uniform
	Targets     int  // per table
	Gaussian    bool // tables are Gaussian processes, whose exact predictions are known
	// Standard leaves coordinates between 0 and 1, more or less, and takes values less the mean of the context's, over
	// their deviation: for networks, which have units of their own.
	Standard bool
}

// UniversalTable is one draw.
type UniversalTable struct {
	X, Y             []float64 // context [n, Dim], [n]
	XTarget, YTarget []float64
	// Mean and Std are the prediction by the covariance that the table was drawn from, nil where values are not normal.
	Mean, Std []float64
}

// String names the source and what its batches depend on.
func (u Universal) String() string {
	return fmt.Sprintf("universal, %d inputs, context %d to %d, %d targets, Gaussian %t, standard %t", u.Dim, u.Least, u.Most, u.Targets,
		u.Gaussian, u.Standard)
}

// Validate reports whether such tables can be drawn.
func (u Universal) Validate() error {
	if u.Dim < 1 || u.Dim > 3 || u.Least < 1 || u.Most < u.Least || u.Most > 4000 || u.Targets < 1 || u.Targets > 4000 {
		return fmt.Errorf("task: Universal: %d inputs, context %d to %d, %d targets: need 1 to 3 inputs, and up to "+
			"4000 values and targets", u.Dim, u.Least, u.Most, u.Targets)
	}
	return nil
}

// universalProcess is the process of a table.
type universalProcess struct {
	kernels []Kernel // a sum
	weights []float64
	metric  [3]float64 // of dx^2, dx dy, dy^2, in the plane
	season  Kernel
	slope2  float64
	noise   float64 // variance
}

// Draw returns table i of a seed.
func (u Universal) Draw(seed uint64, i int) (*UniversalTable, error) {
	if err := u.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, i)
	n := int(math.Round(math.Exp(uniform(rng, math.Log(float64(u.Least)), math.Log(float64(u.Most))))))
	x := u.places(rng, n+u.Targets, n)
	p := u.process(rng, n)
	y, cov, err := p.values(rng, x, u.Dim)
	if err != nil {
		return nil, err
	}
	t := &UniversalTable{X: x[:n*u.Dim], Y: y[:n], XTarget: x[n*u.Dim:], YTarget: y[n:]}
	changed := !u.Gaussian && rng.IntN(2) == 0
	if changed {
		changeValues(rng, x, y, u.Dim)
	} else if err := t.exact(cov, n); err != nil {
		return nil, err
	}
	if u.Standard {
		t.standardise()
	} else {
		t.move(rng, u.Dim)
	}
	return t, nil
}

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// places draws the places of all points; the first n are the context.
func (u Universal) places(rng *rand.Rand, all, n int) []float64 {
	d := u.Dim
	x := make([]float64, all*d)
	for i := range x {
		x[i] = rng.Float64()
	}
	switch design := rng.IntN(5); {
	case design == 0: // clusters
		centres := make([]float64, d*(1+rng.IntN(6)))
		for i := range centres {
			centres[i] = rng.Float64()
		}
		width := math.Exp(uniform(rng, math.Log(0.03), math.Log(0.2)))
		for i := range all {
			c := rng.IntN(len(centres) / d)
			for k := range d {
				x[i*d+k] = centres[c*d+k] + width*rng.NormFloat64()
			}
		}
	case design == 1: // a grid, of which the targets are what is missing
		side := int(math.Ceil(math.Pow(float64(all), 1/float64(d))))
		cells := 1
		for range d {
			cells *= side
		}
		for i, cell := range rng.Perm(cells)[:all] {
			for k := range d {
				x[i*d+k] = float64(cell%side) / float64(side)
				cell /= side
			}
		}
	case design == 2 && d > 1: // transects
		for i := range all {
			if rng.IntN(4) > 0 {
				x[i*d] = math.Round(x[i*d]*4) / 4
			}
		}
	case design == 2: // the targets beyond the end, or a window
		from := uniform(rng, 0.1, 0.9)
		if rng.IntN(2) == 0 {
			from = 1
		}
		for i := range all {
			if i >= n {
				x[i] = from + 0.1*x[i]
			} else if x[i] > from {
				x[i] += 0.1
			}
		}
	}
	return x
}

// process draws a process.
func (u Universal) process(rng *rand.Rand, n int) *universalProcess {
	spacing := math.Pow(1/float64(n), 1/float64(u.Dim))
	p := &universalProcess{metric: [3]float64{1, 0, 1}, noise: math.Exp(uniform(rng, math.Log(1e-3), math.Log(2)))}
	for range 1 + rng.IntN(4)/3 {
		length := math.Exp(uniform(rng, math.Log(spacing), math.Log(2)))
		kernel := []func(float64) Kernel{Matern12, Matern32, Matern52, RBF, func(l float64) Kernel {
			return func(d float64) float64 { return 1 / (1 + d*d/(2*l*l)) }
		}}[rng.IntN(5)](length)
		p.kernels, p.weights = append(p.kernels, kernel), append(p.weights, math.Exp(uniform(rng, -1.5, 0)))
	}
	if u.Dim == 2 {
		stretch, angle := uniform(rng, 0, math.Log(5)), uniform(rng, 0, math.Pi)
		c, s := math.Cos(angle), math.Sin(angle)
		a, b := math.Exp(stretch), math.Exp(-stretch)
		p.metric = [3]float64{a*c*c + b*s*s, 2 * (a - b) * c * s, a*s*s + b*c*c}
	}
	if u.Dim == 1 && rng.IntN(5) == 0 && n >= 20 {
		period := uniform(rng, 4*spacing, 0.3)
		wave, decay := Periodic(period, uniform(rng, 0.5, 1.5)), RBF(math.Exp(uniform(rng, 0, 2)))
		p.season = func(d float64) float64 { return wave(d) * decay(d) }
	}
	if rng.IntN(2) == 0 {
		p.slope2 = math.Exp(uniform(rng, -3, 1.5))
	}
	return p
}

// covariance of two places, without noise. The level has a variance of 1.
func (p *universalProcess) covariance(a, b []float64) float64 {
	var d2, dot float64
	for k := range a {
		d2 += (a[k] - b[k]) * (a[k] - b[k])
		dot += (a[k] - 0.5) * (b[k] - 0.5)
	}
	if len(a) == 2 {
		dx, dy := a[0]-b[0], a[1]-b[1]
		d2 = max(0, p.metric[0]*dx*dx+p.metric[1]*dx*dy+p.metric[2]*dy*dy)
	}
	d := math.Sqrt(d2)
	v := 1 + p.slope2*dot
	for i, k := range p.kernels {
		v += p.weights[i] * k(d)
	}
	if p.season != nil {
		v += p.season(d)
	}
	return v
}

// values draws values at places, and returns their covariance, noise included.
func (p *universalProcess) values(rng *rand.Rand, x []float64, d int) (y, cov []float64, err error) {
	n := len(x) / d
	cov = make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			v := p.covariance(x[i*d:(i+1)*d], x[j*d:(j+1)*d])
			cov[i*n+j], cov[j*n+i] = v, v
		}
		cov[i*n+i] += p.noise
	}
	l, err := choleskyOf(cov, n)
	if err != nil {
		return nil, nil, err
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	y = make([]float64, n)
	for i := range y {
		for j := range i + 1 {
			y[i] += l[i*n+j] * z[j]
		}
	}
	return y, cov, nil
}

// choleskyOf is the lower factor of a matrix [n, n].
func choleskyOf(a []float64, n int) ([]float64, error) {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k, v := range l[i*n : i*n+j] {
				s -= v * l[j*n+k]
			}
			if i > j {
				l[i*n+j] = s / l[j*n+j]
			} else if !(s > 0) {
				return nil, fmt.Errorf("task: Universal: the covariance of %d points is not positive definite", n)
			} else {
				l[i*n+i] = math.Sqrt(s)
			}
		}
	}
	return l, nil
}

// exact sets the prediction by the covariance of context and targets.
func (t *UniversalTable) exact(cov []float64, n int) error {
	all := n + len(t.YTarget)
	context := make([]float64, n*n)
	for i := range n {
		copy(context[i*n:(i+1)*n], cov[i*all:])
	}
	l, err := choleskyOf(context, n)
	if err != nil {
		return err
	}
	solve := func(b []float64) {
		for i := range b {
			for k, v := range l[i*n : i*n+i] {
				b[i] -= v * b[k]
			}
			b[i] /= l[i*n+i]
		}
	}
	z := append([]float64{}, t.Y...)
	solve(z)
	row := make([]float64, n)
	for i := n; i < all; i++ {
		copy(row, cov[i*all:])
		solve(row)
		mean, variance := 0.0, cov[i*all+i]
		for k, v := range row {
			mean, variance = mean+v*z[k], variance-v*v
		}
		t.Mean, t.Std = append(t.Mean, mean), append(t.Std, math.Sqrt(variance))
	}
	return nil
}

// changeValues makes values of all points something else than normal.
func changeValues(rng *rand.Rand, x, y []float64, d int) {
	changes := []func(rng *rand.Rand, x, y []float64, d int){skewed, heavyTails, outliers, rounded, cutAtZero, noiseAlong,
		shareOfZeros, bent, broken}
	if d == 1 {
		changes = append(changes, randomWalk)
	}
	changes[rng.IntN(len(changes))](rng, x, y, d)
}

func skewed(_ *rand.Rand, _, y []float64, _ int) {
	for i, v := range y {
		y[i] = math.Exp(0.7 * v)
	}
}

func heavyTails(_ *rand.Rand, _, y []float64, _ int) {
	for i, v := range y {
		y[i] = math.Sinh(v)
	}
}

func outliers(rng *rand.Rand, _, y []float64, _ int) {
	for i := range y {
		if rng.IntN(20) == 0 {
			y[i] += 6 * rng.NormFloat64()
		}
	}
}

func rounded(rng *rand.Rand, _, y []float64, _ int) {
	step := math.Exp(uniform(rng, -3, 0))
	for i, v := range y {
		y[i] = step * math.Round(v/step)
	}
}

func cutAtZero(_ *rand.Rand, _, y []float64, _ int) {
	for i, v := range y {
		y[i] = max(0, v)
	}
}

// noiseAlong adds noise that grows along an axis.
func noiseAlong(rng *rand.Rand, x, y []float64, d int) {
	for i := range y {
		y[i] += max(0, x[i*d]) * rng.NormFloat64()
	}
}

// shareOfZeros makes values zero at random, and the others positive.
func shareOfZeros(rng *rand.Rand, _, y []float64, _ int) {
	share := uniform(rng, 0.05, 0.5)
	for i, v := range y {
		if y[i] = math.Exp(0.5 * v); rng.Float64() < share {
			y[i] = 0
		}
	}
}

// bent adds a quadratic trend.
func bent(rng *rand.Rand, x, y []float64, d int) {
	curvature, vertex := 4*rng.NormFloat64(), rng.Float64()
	for i := range y {
		e := x[i*d] - vertex
		y[i] += curvature * e * e
	}
}

// broken adds a drift along an axis whose slope or level changes at one to three places.
func broken(rng *rand.Rand, x, y []float64, d int) {
	for range 1 + rng.IntN(3) {
		at, slope, step := rng.Float64(), 3*rng.NormFloat64(), rng.NormFloat64()
		if rng.IntN(2) == 0 {
			slope = 0
		} else {
			step = 0
		}
		for i := range y {
			if e := x[i*d] - at; e > 0 {
				y[i] += step + slope*e
			}
		}
	}
}

// randomWalk adds a walk from place to place along the line.
func randomWalk(rng *rand.Rand, x, y []float64, _ int) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	size, at := math.Exp(uniform(rng, -1, 1.5)), 0.0
	for k, i := range order {
		if k > 0 {
			at += size * math.Sqrt(x[i]-x[order[k-1]]) * rng.NormFloat64()
		}
		y[i] += at
	}
}

// move gives a table an origin and units.
func (t *UniversalTable) move(rng *rand.Rand, d int) {
	unit, value := math.Exp(uniform(rng, -7, 7)), math.Exp(uniform(rng, -7, 7))
	level := value * uniform(rng, -10, 10)
	origin := make([]float64, d)
	for k := range origin {
		origin[k] = unit * uniform(rng, -10, 10)
	}
	for _, x := range [][]float64{t.X, t.XTarget} {
		for i := range x {
			x[i] = origin[i%d] + unit*x[i]
		}
	}
	for _, y := range [][]float64{t.Y, t.YTarget, t.Mean} {
		for i := range y {
			y[i] = level + value*y[i]
		}
	}
	for i := range t.Std {
		t.Std[i] *= value
	}
}

// standardise takes values less the mean of the context's, over their deviation.
func (t *UniversalTable) standardise() {
	n := float64(len(t.Y))
	var level, deviation float64
	for _, v := range t.Y {
		level += v / n
	}
	for _, v := range t.Y {
		deviation += (v - level) * (v - level) / n
	}
	if deviation = math.Sqrt(deviation); !(deviation > 1e-6) {
		deviation = 1
	}
	for _, y := range [][]float64{t.Y, t.YTarget, t.Mean} {
		for i := range y {
			y[i] = (y[i] - level) / deviation
		}
	}
	for i := range t.Std {
		t.Std[i] /= deviation
	}
}

// Batch returns n tables of different sizes, padded, as a Source does: numbers step*n and following of the seed.
func (u Universal) Batch(n int, seed uint64, step int) (*Tasks[float32], error) {
	tables := make([]*UniversalTable, n)
	most := 0
	for i := range tables {
		var err error
		if tables[i], err = u.Draw(seed, step*n+i); err != nil {
			return nil, err
		}
		most = max(most, len(tables[i].Y))
	}
	b := &cnp.Batch[float32]{B: n, Nc: most, Nt: u.Targets, XContext: make([]float64, n*most*u.Dim),
		YContext: make([]float32, n*most), ContextMask: make([]bool, n*most)}
	out := &Tasks[float32]{Curves: b}
	for i, t := range tables {
		copy(b.XContext[i*most*u.Dim:], t.X)
		b.XTarget = append(b.XTarget, t.XTarget...)
		for k, v := range t.Y {
			b.YContext[i*most+k], b.ContextMask[i*most+k] = float32(v), true
		}
		for _, v := range t.YTarget {
			out.Y = append(out.Y, float32(v))
		}
	}
	return out, nil
}
