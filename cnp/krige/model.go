package krige

import "slices"

// Model is a fitted table. It is immutable, and any number of goroutines may use it.
type Model struct {
	opt      Options
	bend     bend
	zero     float64 // zeroRoot of the values
	frame    *frame
	n        int
	x, y     []float64 // normalised, in canonical order
	drift    driftColumns
	columns  columns
	order    []int // rows of the caller's table
	members  []*member
	exact    bool
	axial    bool    // periods along the axes are tried
	wanders  float64 // weight of members that wander beyond the ends of the series, see wander.go
	step     float64 // between the series' values, where they have
	local    *local
	mix      *mixture
	report   Report
	outlying float64 // log density of the report's outliers, as if they were of a much wider distribution
	scaled   float64 // what takes log densities of values to those over their deviation
}

// local predicts targets from the points near them. Targets near the same anchor, which is a point of the table, share these points and
// one factorization.
type local struct {
	m    *Model
	near int       // how many points a target is predicted from
	turn []float64 // [d, d]: to coordinates in which the metric is the Euclidean one
	at   []float64 // the points in these coordinates
	tree *tree

	seasons  []float64 // the periods of the members' seasons, the shorter one first
	anchorAt []float64 // every few of the points
	anchors  *tree
}

// near is how many points a target is predicted from where the covariance is fitted to the table, and seasonNear how many more at each
// place a period away from it. Of apart points one is an anchor, and up to group targets are computed at once.
const (
	near       = 48
	seasonNear = 8
	apart      = 4
	group      = 16
)

// member is one Gaussian process of the mixture that predicts.
type member struct {
	spec     *spec
	theta    []float64
	weight   float64
	beyond   float64 // the weight of a line's member beyond its ends, see wander.go
	kernel   *kernel
	level    float64 // of the mean
	variance float64 // of the signal
	ones     float64 // precision of the level, in units of the variance
	sums     sums    // of an exact one: what the values' density follows from
	drift    *drift  // nil where there is none

	inverse, alpha, one []float64 // of an exact one: V^-1, V^-1 (y - level), V^-1 1
	lower, white        []float64 // of an exact one on a line: L where V = L L', L^-1 y
	whiteOne            []float64 // L^-1 1

	inducing *inducing // of one of a large table that is known by a few rows
}

// mixture combines the Gaussian processes' predictions with two simple ones, and corrects standard deviations, all by
// what every value of the context would have been predicted as from the others.
type mixture struct {
	weight  [experts]float64
	idw     *distances
	y, yvar float64 // the constant's mean and variance
	scale   float64 // of variances
	spread  []*dispersion
	reach   *reach
	floor   float64 // of variances: that of rounded values
	slip    float64 // share of values that are unlike the others
}

// Options returns what the model was fitted with.
func (m *Model) Options() Options { return m.opt }

// Report returns what the fit found out about itself.
func (m *Model) Report() Report {
	r := m.report
	r.Members, r.Varies, r.Far, r.Outliers = slices.Clone(r.Members), slices.Clone(r.Varies), slices.Clone(r.Far), slices.Clone(r.Outliers)
	return r
}

func (m *Model) aniso() bool { return !m.frame.sphere && (m.frame.dim == 2 || m.frame.dim == 3) }

// dispersion says where variances are larger or smaller than elsewhere, from squared standardised residuals of near values.
type dispersion struct {
	levels bool // near in the predicted mean, instead of in space
	d      int
	x, z2  []float64
	tree   *tree
	near   int
	prior  float64 // weight of 1
	gain   float64 // nats
}

// distances predicts by inverse squared distances to the nearest points.
type distances struct {
	y        []float64
	d        int
	x        []float64
	tree     *tree
	variance float64 // at the usual distance
	usual    float64
}

// The experts whose predictions are mixed.
const (
	gaussian = iota // the mixture of Gaussian processes
	inverseDistance
	constant
	experts
)

// outside says how much of the weights at a place is that beyond the ends: all of it a step of the series away from them.
func (m *Model) outside(at float64) float64 {
	if m.wanders == 0 {
		return 0
	}
	return min(1, max(0, at-m.x[m.n-1], m.x[0]-at)/m.step)
}

// inside is outside where nothing is.
func inside(float64) float64 { return 0 }

// weightAt is the weight of a member at a place of which that share lies beyond the ends.
func (b *member) weightAt(outside float64) float64 {
	if outside == 0 {
		return b.weight
	}
	return b.weight + outside*(b.beyond-b.weight)
}
