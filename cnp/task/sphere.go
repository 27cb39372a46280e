package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// SphereProcesses are the names of the Gaussian processes on the sphere: kernels of the distance through the unit
// sphere, which are positive definite there as they are in space. "eq" is exp(-d²/2l²), "matern" that of smoothness
// 5/2, both with l = SphereLength. Every value is seen with noise of variance 0.05.
var SphereProcesses = []string{"eq", "matern"}

// SphereLength is the length scale of the processes on the sphere: on the earth, 1600 km.
const SphereLength = 0.25

// SpherePlaces are the names of where the stations of tasks lie:
//
//   - "mid", within 30 degrees of a place between 30 and 50 degrees north and 115 degrees east and west;
//   - "poles", the same tasks moved to a place less than 10 degrees from a pole;
//   - "dateline", the same moved to a place less than 15 degrees of longitude from the date line;
//   - "turned", the same after any rotation of the globe;
//   - "globe", other tasks, whose stations lie anywhere.
//
// The first four are the same tasks, number by number: the same values at points that lie in the same way to each other.
var SpherePlaces = []string{"mid", "poles", "dateline", "turned", "globe"}

// SphereSource is the Source of a process on the sphere, one of SphereProcesses, at one of SpherePlaces (empty: "mid").
// Points are latitudes and longitudes in degrees if Dx is 2, unit vectors if it is 3. Stations lie as unevenly as real
// ones: most of them in some clusters of different sizes. Half of the targets lie where stations do, the others
// anywhere in the region. The tasks of a batch have as many context points, at random: up to 60, and 120 on the globe.
type SphereSource[T cnp.Float] struct {
	Process, Place string
	Dx             int
}

// Validate reports what no task can be drawn from.
func (s SphereSource[T]) Validate() error {
	if !slices.Contains(SphereProcesses, s.Process) {
		return fmt.Errorf("task: process %q on the sphere is not one of %s", clip(s.Process), strings.Join(SphereProcesses, ", "))
	}
	if s.Place != "" && !slices.Contains(SpherePlaces, s.Place) {
		return fmt.Errorf("task: place %q is not one of %s", clip(s.Place), strings.Join(SpherePlaces, ", "))
	}
	if s.Dx != 2 && s.Dx != 3 {
		return fmt.Errorf("task: points on the sphere with %d coordinates, need 2, latitude and longitude, or 3, a unit vector", s.Dx)
	}
	return nil
}

func (s SphereSource[T]) place() string {
	if s.Place == "" {
		return SpherePlaces[0]
	}
	return s.Place
}

// String implements Source.
func (s SphereSource[T]) String() string {
	return fmt.Sprintf("%s on the sphere, %s, as %s", s.Process, s.place(), map[int]string{2: "latitude and longitude",
		3: "unit vectors"}[s.Dx])
}

// sizes are the most context points, the number of targets, and the region's radius.
func (s SphereSource[T]) sizes() (context, targets int, radius float64) {
	if s.place() == "globe" {
		return 120, 80, math.Pi
	}
	return 60, 50, 30 * degree
}

const degree = math.Pi / 180

// Work implements Sized, for the longest tasks.
func (s SphereSource[T]) Work(n int) cnp.Work {
	w := cnp.Work{Batch: n, Span: map[int]float64{2: 360, 3: 2}[s.Dx]}
	w.Context, w.Targets, _ = s.sizes()
	return w
}

// Batch implements Source.
func (s SphereSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	most, nt, radius := s.sizes()
	nc := rng.IntN(most + 1)
	per := nc + nt
	x, y := make([]float64, 0, n*per*3), make([]float64, n*per)
	moves := make([]sphereMove, n)
	for t := range n {
		x = stations(x, nc, nt, radius, rng)
		moves[t] = s.move(rng)
	}
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	if err := correlate(y, x, n, s.factor); err != nil {
		return nil, err
	}
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: nt}
	out := &Tasks[T]{Curves: b}
	for t := range n {
		for i := range per {
			at := t*per + i
			point := moves[t].apply([3]float64(x[3*at : 3*at+3]))
			place := point[:]
			if s.Dx == 2 {
				lat, lon := cnp.LatLon(point)
				place = []float64{lat, lon}
			}
			if i < nc {
				b.XContext, b.YContext = append(b.XContext, place...), append(b.YContext, T(y[at]))
			} else {
				b.XTarget, out.Y = append(b.XTarget, place...), append(out.Y, T(y[at]))
			}
		}
	}
	return out, nil
}

// correlate makes values of the process at the places x of n tasks, of standard normal ones y: factor returns the
// Cholesky factor of the covariance of a task's places.
func correlate(y, x []float64, n int, factor func(x []float64) (blas64.Triangular, error)) error {
	per, width := len(y)/max(1, n), len(x)/max(1, n)
	return eachTask(n, func(t int) error {
		l, err := factor(x[t*width : (t+1)*width])
		if err == nil {
			blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: per, Data: y[t*per : (t+1)*per], Inc: 1})
		}
		return err
	})
}

// eachTask calls f for every task, on several goroutines, and returns the first task's error.
func eachTask(n int, f func(t int) error) error {
	errs := make([]error, n)
	parallel.For(n, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			errs[t] = f(t)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cluster is where some stations are: around a place, on the whole within an angle.
type cluster struct {
	at    sphereMove
	angle float64
}

// stations appends context points and targets [nc+nt, 3] of a task around the north pole, within an angle of it.
func stations(x []float64, nc, nt int, radius float64, rng *rand.Rand) []float64 {
	clusters := make([]cluster, 1+rng.IntN(5))
	if radius == math.Pi {
		clusters = make([]cluster, 3+rng.IntN(8))
	}
	anywhere := func() sphereMove { // even over the region
		z := 1 - (1-math.Cos(radius))*rng.Float64()
		return newSphereMove(math.Asin(z), 2*math.Pi*rng.Float64(), 0)
	}
	for i := range clusters {
		clusters[i] = cluster{anywhere(), (3 + 9*rng.Float64()) * degree}
	}
	for i := range nc + nt {
		if i < nc && rng.IntN(8) == 0 || i >= nc && i%2 == 0 {
			p := anywhere().apply([3]float64{0, 0, 1})
			x = append(x, p[:]...)
			continue
		}
		for { // until it is in the region
			c := clusters[rng.IntN(len(clusters))]
			p := c.at.apply(around(math.Abs(c.angle*rng.NormFloat64()), 2*math.Pi*rng.Float64()))
			if p[2] >= math.Cos(radius) {
				x = append(x, p[:]...)
				break
			}
		}
	}
	return x
}

// around is the point at an angle from the north pole, in some direction.
func around(angle, direction float64) [3]float64 {
	s, c := math.Sincos(angle)
	sin, cos := math.Sincos(direction)
	return [3]float64{s * cos, s * sin, c}
}

// sphereMove is a rotation that takes the north pole to a latitude and a longitude.
type sphereMove [3][3]float64

// newSphereMove turns by spin about the north pole first; all are angles.
func newSphereMove(latitude, longitude, spin float64) sphereMove {
	s, c := math.Sincos(latitude)
	sin, cos := math.Sincos(longitude)
	ss, cs := math.Sincos(spin)
	tilt := [3][3]float64{{s * cos, -sin, c * cos}, {s * sin, cos, c * sin}, {-c, 0, s}}
	var m sphereMove
	for i, row := range tilt {
		m[i] = [3]float64{row[0]*cs + row[1]*ss, row[1]*cs - row[0]*ss, row[2]}
	}
	return m
}

func (m sphereMove) apply(x [3]float64) (y [3]float64) {
	for i, row := range m {
		y[i] = row[0]*x[0] + row[1]*x[1] + row[2]*x[2]
	}
	return y
}

// move draws where a task lies; every place takes the same numbers.
func (s SphereSource[T]) move(rng *rand.Rand) sphereMove {
	u, v, spin := rng.Float64(), rng.Float64(), 2*math.Pi*rng.Float64()
	z, around := 2*rng.Float64()-1, 2*math.Pi*rng.Float64()
	latitude, longitude := (30+20*u)*degree, 115*(2*v-1)*degree
	switch s.place() {
	case "poles":
		latitude = (80 + 10*u) * degree
		if v < 0.5 {
			latitude = -latitude
		}
	case "dateline":
		longitude = math.Pi + 15*(2*v-1)*degree
	case "turned", "globe":
		latitude, longitude = math.Asin(z), around
	}
	return newSphereMove(latitude, longitude, spin)
}

// factor returns the Cholesky factor of the covariance of values at x [n, 3], noise included.
func (s SphereSource[T]) factor(x []float64) (blas64.Triangular, error) {
	return factor(x, 3, benchmarkNoise, func(row []float64) {
		if s.Process == "eq" {
			exponential(row, SphereLength)
		} else {
			matern52(row, SphereLength)
		}
	}, nil)
}

// Exact returns how likely the targets of every task are by the process; see BenchmarkSource.Exact.
func (s SphereSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	return exactDensities(tasks, s.Dx, s.factorAt)
}

// Predictive implements GaussianSource.
func (s SphereSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	return predictives(tasks, s.Dx, s.factorAt)
}

// factorAt is factor for places as tasks have them [n, Dx].
func (s SphereSource[T]) factorAt(x []float64) (blas64.Triangular, error) {
	if s.Dx == 2 {
		units := make([]float64, 0, len(x)/2*3)
		for i := 0; i < len(x); i += 2 {
			p := cnp.UnitVector(x[i], x[i+1])
			units = append(units, p[:]...)
		}
		x = units
	}
	return s.factor(x)
}

// Gaussian reports that Exact knows the process's densities.
func (s SphereSource[T]) Gaussian() bool { return true }
