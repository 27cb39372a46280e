package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Samples draws joint samples of new values at targets [nt, Dim]: samples [count][nt]. Over many samples each value on its own has the mean
// and the standard deviation of Predict, or where logarithms are normal those of the whole distribution, and values depend on each other as
// errors of these predictions do under the Gaussian processes.
//
// A sample is one function and the noise of new values. The function depends on the seed and on the number of the sample alone: at a target
// it has the same value whatever the other targets and however many samples. The noise depends on how many targets come before, too.
//
// A function is drawn from one member of the mixture, by its weight: a path that knows no value, plus the prediction of what it lacks at
// the table's rows, from the very rows and with the very weights that Predict uses; or, by way of inducing points, of what it lacks there.
// Beyond the ends of a series functions are those of the members that predict within, moved and widened to what Predict says there.
// Time is linear in the number of targets, and in that of the rows that their predictions use. The error of more samples than fit into
// memory wraps cnp.ErrMemory.
func (m *Model) Samples(ctx context.Context, targets []float64, count int, seed uint64) ([][]float64, error) {
	return m.draw(ctx, targets, count, seed, false)
}

// Functions is Samples without the noise of new values: what could lie behind them.
func (m *Model) Functions(ctx context.Context, targets []float64, count int, seed uint64) ([][]float64, error) {
	return m.draw(ctx, targets, count, seed, true)
}

// sampleBytes is what a sample needs beside its values: a slice, and a generator of random numbers.
const sampleBytes = 64

// checkCount refuses numbers of samples, each of so many values, that are negative or need more memory than work may take.
func checkCount(count, values int) error {
	if count < 0 {
		return fmt.Errorf("%w: %d samples", ErrInput, count)
	}
	return checkRoom(count, values, 8*float64(values)+sampleBytes)
}

// checkRoom refuses samples of so many values, and bytes each, that need more memory than work may take.
func checkRoom(count, values int, bytes float64) error {
	if need, limit := float64(count)*bytes, cnp.MemoryLimit(); need > float64(limit) {
		return fmt.Errorf("%w: %d samples of %d values take %v, the limit is %v", cnp.ErrMemory, count, values,
			cnp.Bytes(min(need, math.MaxInt64/2)), cnp.Bytes(limit))
	}
	return nil
}

func (m *Model) draw(ctx context.Context, targets []float64, count int, seed uint64, function bool) ([][]float64, error) {
	if err := checkCount(count, len(targets)/max(1, m.opt.Dim)); err != nil {
		return nil, err
	}
	mean, std, err := m.normal(ctx, targets)
	if err != nil {
		return nil, err
	}
	nt := len(mean)
	out := make([][]float64, count)
	rngs := make([]*rand.Rand, count)
	for s := range out {
		out[s], rngs[s] = make([]float64, nt), rand.New(rand.NewPCG(seed, uint64(s)))
	}
	if m.frame.ys == 0 {
		for s, row := range out {
			z := rngs[s].NormFloat64()
			for i := range row {
				if i > 0 && !function { // what lies behind equal values is one value, too
					z = rngs[s].NormFloat64()
				}
				row[i] = m.back(mean[i] + std[i]*z)
			}
		}
		return out, nil
	}
	t, err := m.places(targets)
	if err != nil {
		return nil, err
	}
	mu, v := make([]float64, nt), make([]float64, nt)
	if err := m.processes(ctx, t, mu, v, inside); err != nil {
		return nil, err
	}
	if err := m.simulate(ctx, t, out, rngs, function); err != nil {
		return nil, err
	}
	for _, row := range out {
		for i := range row {
			if row[i] = m.back(mean[i] + std[i]*(row[i]-mu[i])/math.Sqrt(v[i])); math.IsNaN(row[i] - row[i]) {
				return nil, fmt.Errorf("%w: targets: row %d: the sample %v is beyond float64", ErrInput, i, row[i])
			}
		}
	}
	return out, nil
}

// back takes a bent value back.
func (m *Model) back(v float64) float64 {
	if v = m.bend.from(v); m.opt.Values == Positive {
		v = max(0, v)
	}
	return v
}

// share distributes samples over the members of the mixture, by their weights.
func (m *Model) share(rngs []*rand.Rand) [][]int {
	of := make([][]int, len(m.members))
	var total float64
	for _, b := range m.members {
		total += b.weight
	}
	for s, rng := range rngs {
		u := rng.Float64() * total
		b := 0
		for b+1 < len(of) && u > m.members[b].weight {
			u -= m.members[b].weight
			b++
		}
		of[b] = append(of[b], s)
	}
	return of
}

// sampleMemory is how many numbers samples may have at a time, besides those at the targets: their paths, and values at the rows used.
const sampleMemory = 1 << 22

// simulate sets rows of out to samples of the mixture of Gaussian processes at normalised targets.
func (m *Model) simulate(ctx context.Context, t places, out [][]float64, rngs []*rand.Rand, function bool) error {
	used := upTo(m.n)
	if !m.exact {
		used = nil
		if len(m.local.members()) > 0 {
			var err error
			if used, err = m.local.used(ctx, t.x); err != nil {
				return err
			}
		}
	}
	place := slices.Repeat([]int32{-1}, m.n)
	for i, row := range used {
		place[row] = int32(i)
	}
	most := max(1, sampleMemory/(max(len(used), inducingMost)+(m.frame.dim+2)*pathWaves))
	for b, some := range m.share(rngs) {
		for len(some) > 0 {
			s := &simulation{m: m, b: m.members[b], t: t, used: used, place: place, stop: func() bool { return ctx.Err() != nil }}
			if u := s.b.inducing; u != nil {
				s.used, s.place = u.chosen, nil
			}
			now := some[:min(most, len(some))]
			some = some[len(now):]
			for _, k := range now {
				s.out, s.rngs = append(s.out, out[k]), append(s.rngs, rngs[k])
			}
			if err := s.run(ctx, function); err != nil {
				return err
			}
		}
	}
	return nil
}

// simulation draws some samples of one member.
type simulation struct {
	m     *Model
	b     *member
	t     places  // normalised
	used  []int   // rows of the table that targets are predicted from
	place []int32 // [n] where in used a row stands, -1 elsewhere
	out   [][]float64
	rngs  []*rand.Rand
	rows  []float64 // [used, samples]: new values of the paths at these rows
	beta  []float64 // [samples, D]: random coefficients of a drift
	stop  func() bool
}

func (s *simulation) run(ctx context.Context, function bool) error {
	paths, beside := make([]*path, len(s.rngs)), s.m.opt.Drift
	s.beta = make([]float64, len(paths)*beside)
	s.rows = make([]float64, len(s.used)*len(paths))
	root, noise := metricRoot(s.b), math.Sqrt(s.b.kernel.noise)
	parallel.For(len(paths), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			paths[k] = newPath(s.b.kernel, root, s.m.frame.dim, s.rngs[k])
			for _, at := range s.place { // of all rows, so that other targets change nothing
				if v := noise * s.rngs[k].NormFloat64(); at >= 0 {
					s.rows[int(at)*len(paths)+k] = v
				}
			}
			for i := k * beside; i < (k+1)*beside; i++ {
				s.beta[i] = s.rngs[k].NormFloat64()
			}
		}
	})
	s.follow(paths)
	if ctx.Err() == nil {
		if s.b.inducing != nil {
			s.conditionInducing()
		} else if s.m.exact {
			s.condition()
		} else if err := s.conditionNear(ctx); err != nil {
			return err
		}
	}
	if !function {
		noise *= math.Sqrt(s.b.variance)
		for k, row := range s.out {
			for i := range row {
				row[i] += noise * s.rngs[k].NormFloat64()
			}
		}
	}
	return ctx.Err()
}

// follow adds the paths to what stands at the table's rows, and sets samples to them.
func (s *simulation) follow(paths []*path) {
	const chunk = 128
	d, nt := s.m.frame.dim, len(s.t.x)/s.m.frame.dim
	chunks := (len(s.used) + nt + chunk - 1) / chunk
	parallel.Until(s.stop, chunks*len(paths), 1, func(lo, hi int) {
		room := make([]float64, 3*pathWaves)
		for ; lo < hi; lo++ {
			k, from := lo/chunks, lo%chunks*chunk
			f := paths[k]
			n := len(f.cos)
			phase, sin, cos := room[:n], room[pathWaves:pathWaves+n], room[2*pathWaves:2*pathWaves+n]
			for i := from; i < min(from+chunk, len(s.used)+nt); i++ {
				if i < len(s.used) {
					row := s.used[i]
					s.rows[i*len(paths)+k] += f.at(s.m.x[row*d:(row+1)*d], phase, sin, cos)
				} else {
					target := i - len(s.used)
					s.out[k][target] = f.at(s.t.x[target*d:(target+1)*d], phase, sin, cos)
				}
			}
		}
	})
}

// condition takes the samples of an exact member from paths to functions that know the table.
//
// The residual of a path is what its own values at the table's rows leave of it. It is independent of these values and has the posterior's
// covariance, so that it may be added to the posterior's mean. The level, of which nothing is known before, is estimated from the values.
func (s *simulation) condition() {
	b, n, count := s.b, s.m.n, len(s.out)
	d, beside := s.m.frame.dim, s.m.opt.Drift
	for k := range s.beta { // the drift of a path, which nothing is known of
		s.beta[k] /= math.Sqrt(s.m.drift.precision[k%beside])
	}
	if beside > 0 {
		simd.GemmNTF64(s.rows, count, s.m.drift.z, beside, s.beta, beside, 1, 1, n, count, beside)
	}
	alpha, level := make([]float64, n*count), make([]float64, count)
	simd.GemmF64(alpha, count, b.inverse, n, s.rows, count, 1, 0, n, count, n)
	for i, v := range b.one {
		simd.AxpyF64(level, v/b.ones, s.rows[i*count:(i+1)*count])
	}
	for i, v := range b.one {
		simd.AxpyF64(alpha[i*count:(i+1)*count], -v, level)
	}
	var coef []float64 // [D, samples]
	if f := b.drift; f != nil {
		coef = make([]float64, beside*count)
		simd.GemmF64(coef, count, f.white, n, s.rows, count, 1, 0, beside, count, n)
		simd.GemmTNF64(alpha, count, f.white, n, coef, count, -1, 1, n, count, beside)
	}
	sd := math.Sqrt(b.variance)
	const chunk = 64
	parallel.Until(s.stop, len(s.out[0]), chunk, func(lo, hi int) {
		at := make([]float64, beside)
		var f features
		var w scratch
		c := hi - lo
		f.grow(d, c*n, s.m.aniso())
		for i := range c {
			for j := range n {
				f.set(i*n+j, s.t.x[(lo+i)*d:(lo+i+1)*d], s.m.x[j*d:(j+1)*d])
			}
		}
		cov, known := make([]float64, c*n), make([]float64, c*count)
		b.kernel.covariances(cov, &f, &w)
		simd.GemmF64(known, count, cov, n, alpha, count, 1, 0, c, count, n)
		for i := range c {
			mean := b.level + simd.DotF64(cov[i*n:(i+1)*n], b.alpha)
			z := s.t.row(lo+i, beside)
			if b.drift != nil {
				b.drift.coordinates(at, z)
				mean += simd.DotF64(at, b.drift.coef)
			}
			for k, row := range s.out {
				for c, v := range at {
					row[lo+i] += z[c]*s.beta[k*beside+c] - v*coef[c*count+k]
				}
				row[lo+i] = mean + sd*(row[lo+i]-level[k]-known[i*count+k])
			}
		}
	})
}

// conditionInducing is condition by way of inducing points: a path's residual given its own values at the inducing points, plus
// what is known of these, drawn from their posterior.
func (s *simulation) conditionInducing() {
	b, u, count := s.b, s.b.inducing, len(s.out)
	d, r := u.d, len(u.chosen)
	// weights are of k(u, x): of R'^-1 times normal numbers less the path's own L^-1 f(u), in terms of phi = L^-1 k(u, x).
	weights, root, normal := make([]float64, r*count), make([]float64, r*count), make([]float64, r*count)
	for k, rng := range s.rngs {
		for i := range r {
			normal[i*count+k] = rng.NormFloat64()
		}
	}
	simd.GemmF64(root, count, u.down, r, s.rows, count, 1, 0, r, count, r)
	simd.GemmTNF64(weights, count, u.down, r, root, count, -1, 0, r, count, r)
	simd.GemmTNF64(weights, count, u.down[r*r:], r, normal, count, 1, 1, r, count, r)
	sd := math.Sqrt(b.variance)
	const chunk = 128
	parallel.Until(s.stop, len(s.out[0]), chunk, func(lo, hi int) {
		var w inducingDesk
		w.covariances(u, s.t.x[lo*d:hi*d])
		known := make([]float64, (hi-lo)*count)
		simd.GemmF64(known, count, w.cov, r, weights, count, 1, 0, hi-lo, count, r)
		for i := range hi - lo {
			cov := w.cov[i*r : (i+1)*r]
			mean := b.level + simd.DotF64(cov, u.weight[:r])
			mean += s.drift(lo+i, cov, u.weight[r:])
			for k, row := range s.out {
				row[lo+i] = mean + sd*(row[lo+i]+known[i*count+k])
			}
		}
	})
}

// drift adds to the paths at a target what is not known of the drift, and returns what it adds to the mean; see drift.near.
func (s *simulation) drift(target int, cov, rows []float64) (mean float64) {
	if s.b.drift == nil {
		return 0
	}
	beside := s.m.opt.Drift
	at := make([]float64, beside)
	mean, _ = s.b.drift.near(at, s.t.row(target, beside), cov, rows)
	for k, row := range s.out {
		row[target] += simd.DotF64(at, s.beta[k*beside:(k+1)*beside])
	}
	return mean
}

// conditionNear is condition where targets are predicted from the rows near them.
func (s *simulation) conditionNear(ctx context.Context) error {
	l, count := s.m.local, len(s.out)
	sd := math.Sqrt(s.b.variance)
	failed := make([]bool, len(s.out[0]))
	err := l.visit(ctx, s.t.x, func(w *desk, some []int32) {
		l.fill(w, s.t.x, some)
		a, cov, z, ok := l.factor(w, s.b, len(some), nil)
		n := len(w.index)
		known := make([]float64, count)
		for i, target := range some {
			if !ok {
				failed[target] = true
				continue
			}
			weights := cov[i*n : (i+1)*n]
			mean := s.b.level + dot(weights, z, n) + s.drift(int(target), weights, z[n:])
			backward(a, weights, n)
			clear(known)
			for j, p := range w.index {
				simd.AxpyF64(known, weights[j], s.rows[int(s.place[p])*count:][:count])
			}
			for k, row := range s.out {
				row[target] = mean + sd*(row[target]-known[k])
			}
		}
	})
	for _, f := range failed {
		if f && err == nil {
			err = errors.New("krige: samples: a covariance matrix is not positive definite")
		}
	}
	return err
}

// used lists the rows that targets are predicted from, in order.
func (l *local) used(ctx context.Context, t []float64) (rows []int, err error) {
	var mutex sync.Mutex
	marks := make([]bool, l.m.n)
	err = l.visit(ctx, t, func(w *desk, _ []int32) {
		mutex.Lock()
		for _, p := range w.index {
			marks[p] = true
		}
		mutex.Unlock()
	})
	for i, mark := range marks {
		if mark {
			rows = append(rows, i)
		}
	}
	return rows, err
}
