package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/limits"
	"github.com/equivcnp/equivcnp/layers"
	ourblas "github.com/equivcnp/equivcnp/linalg/blas"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// digest is a hash of results, comparable within this process.
type digest struct {
	sum uint64
	buf []byte
}

var digestSeed = maphash.MakeSeed()

// write appends numbers to what is hashed: a slice of numbers of fixed size, or one of them.
func (d *digest) write(values ...any) error {
	d.buf = binary.LittleEndian.AppendUint64(d.buf[:0], d.sum)
	for _, v := range values {
		var err error
		if d.buf, err = binary.Append(d.buf, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	d.sum = maphash.Bytes(digestSeed, d.buf)
	return nil
}

// prediction appends one.
func (d *digest) prediction(p *cnp.Prediction[float32]) error {
	return d.write(p.Mean, p.Std, p.Params)
}

// scalingCases are the rows.
func scalingCases() (cases []scalingCase) {
	add := func(name, unit string, start func(ctx context.Context, f *scalingFlags, procs int) (*scalingRun, error)) {
		cases = append(cases, scalingCase{name: name, unit: unit, start: start})
	}
	add("limits/multiply-adds", "GFLOP", limitOfSums)
	add("limits/memory", "GB", limitOfMemory)
	addBLASRows(add)
	addNeighborRows(add)
	addModelRows(add)
	add("serve/image/T2", "requests", load{imageModel("T2"), 4, 24, benchImages(1, 64), nil}.start)
	add("serve/curve/bench-eq", "requests", load{shippedModel("bench-eq"), 16, 256, nil, scatteredTasks(1, 1)}.start)
	addKrigeRows(add)
	for i := range cases {
		cases[i].latency = cases[i].unit == ""
	}
	return cases
}

// addRow adds a row; no unit means that it is a latency.
type addRow = func(name, unit string, start func(ctx context.Context, f *scalingFlags, procs int) (*scalingRun, error))

// onEach calls f on so many goroutines at a time and returns when all have ended.
func onEach(procs int, f func(i int)) {
	var all sync.WaitGroup
	for i := range procs {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// limitOfSums lets every processor do multiply-adds on its registers.
func limitOfSums(_ context.Context, _ *scalingFlags, procs int) (*scalingRun, error) {
	const rounds = 1 << 16
	level := simd.CurrentLevel().String()
	flop := limits.FMA(level, rounds)
	return &scalingRun{
		work:   float64(procs) * float64(flop) * 1e-9,
		call:   func() error { onEach(procs, func(int) { limits.FMA(level, rounds) }); return nil },
		result: func(d *digest) error { return d.write(int64(flop)) },
	}, nil
}

// limitOfMemory lets every processor read memory of its own.
func limitOfMemory(_ context.Context, _ *scalingFlags, procs int) (*scalingRun, error) {
	level, each := simd.CurrentLevel().String(), make([][]byte, procs)
	size := min(memoryBytes, 64<<20)
	for i := range each {
		each[i] = onHugePages[byte](size)
	}
	onEach(procs, func(i int) {
		for j := range each[i] { // pages never written to all share one physical page
			each[i][j] = byte(j)
		}
	})
	return &scalingRun{
		work:   float64(procs) * float64(size) * 1e-9,
		call:   func() error { onEach(procs, func(i int) { limits.Read(level, each[i]) }); return nil },
		result: func(d *digest) error { return d.write(each[0]) },
	}, nil
}

// overwritten is a row whose calls overwrite the same results.
func overwritten(work float64, call func(), results ...any) *scalingRun {
	return &scalingRun{
		work:   work,
		call:   func() error { call(); return nil },
		result: func(d *digest) error { call(); return d.write(results...) },
	}
}

func addBLASRows(add addRow) {
	type start = func(context.Context, *scalingFlags, int) (*scalingRun, error)
	var impl ourblas.Implementation
	for _, n := range []int{512, 2048} {
		work := 2 * float64(n) * float64(n) * float64(n) * 1e-9
		add(fmt.Sprintf("blas/sgemm/%d", n), "GFLOP", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			a, b, c := blasData[float32](n*n), blasData[float32](n*n), make([]float32, n*n)
			return overwritten(work, func() { impl.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n) }, c), nil
		})
		add(fmt.Sprintf("blas/dgemm/%d", n), "GFLOP", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			a, b, c := blasData[float64](n*n), blasData[float64](n*n), make([]float64, n*n)
			return overwritten(work, func() { impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n) }, c), nil
		})
	}
	gemv := func(t blas.Transpose) start {
		return func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			const n = 4096
			a, x, y := blasData[float32](n*n), blasData[float32](n), make([]float32, n)
			return overwritten(4*n*n*1e-9, func() { impl.Sgemv(t, n, n, 1, a, n, x, 1, 0, y, 1) }, y), nil
		}
	}
	add("blas/sgemv/4096", "GB", gemv(blas.NoTrans))
	add("blas/sgemv-transposed/4096", "GB", gemv(blas.Trans))
	add("mat/cholesky/1000", "GFLOP", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
		const n = 1000
		var s mat.SymDense
		s.SymOuterK(1, mat.NewDense(n, n, blasData[float64](n*n)))
		for i := range n {
			s.SetSym(i, i, s.At(i, i)+1)
		}
		upper := mat.NewTriDense(n, mat.Upper, nil)
		r := overwritten(n*n*n/3*1e-9, func() {
			blas64.Use(impl)
			defer blas64.Use(gonum.Implementation{})
			var c mat.Cholesky
			c.Factorize(&s)
			c.UTo(upper)
		}, upper.RawTriangular().Data)
		return r, nil
	})
}

// addNeighborRows has searches among a million points, and among rows of many numbers.
func addNeighborRows(add addRow) {
	const n = 1_000_000
	for _, c := range peerRadii {
		if c.n != n {
			continue
		}
		name := fmt.Sprintf("tree/%d-d/", c.dim)
		add(name+"build", "points", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			x := floatsFor(c.dim, n)
			build := func() (*neighbor.KDTree[float32], error) { return neighbor.NewTree(x, c.dim, nil) }
			return &scalingRun{
				work: n,
				call: func() error { _, err := build(); return err },
				result: func(d *digest) error {
					tree, err := build()
					if err != nil {
						return err
					}
					return digestBalls(d, tree, tree, c.r30*c.r30)
				},
			}, nil
		})
		add(name+"balls", "queries", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			tree, err := neighbor.NewTree(floatsFor(c.dim, n), c.dim, nil)
			return &scalingRun{
				work: n,
				call: func() error {
					return neighbor.EachBall(tree, tree, c.r30*c.r30, neighbor.BulkOptions{}, func(int, *neighbor.Batch[float32]) {})
				},
				result: func(d *digest) error { return digestBalls(d, tree, tree, c.r30*c.r30) },
			}, err
		})
		add(name+"8-nearest", "queries", func(context.Context, *scalingFlags, int) (*scalingRun, error) {
			tree, err := neighbor.NewTree(floatsFor(c.dim, n), c.dim, nil)
			nearest := func() ([]int32, []float32, error) {
				return neighbor.Nearest(tree, tree, 8, float32(math.Inf(1)), neighbor.BulkOptions{})
			}
			return &scalingRun{
				work: n,
				call: func() error { _, _, err := nearest(); return err },
				result: func(d *digest) error {
					index, dist2, err := nearest()
					return errors.Join(err, d.write(index, dist2))
				},
			}, err
		})
	}
	addVectors(add)
}

// vectorsSearch searches for the best rows of all queries.
type vectorsSearch func(index []int32, score []float32)

// addVectors has exact searches of 100,000 rows of 384 numbers of each type, for one query and for 256 at once.
func addVectors(add addRow) {
	const rows, dim, k, by = 100_000, 384, 10, neighbor.SquaredL2
	for _, c := range []struct {
		name    string
		prepare func(x []float32) (vectorsSearch, error)
	}{
		{"", func(x []float32) (vectorsSearch, error) {
			v, err := neighbor.NewVectors(x[:rows*dim], dim, by)
			return func(index []int32, score []float32) { v.Search(index, score, x[rows*dim:], k) }, err
		}},
		{"bf16/", func(x []float32) (vectorsSearch, error) {
			half := make([]simd.BF16, rows*dim)
			simd.BF16FromF32(half, x[:len(half)])
			v, err := neighbor.NewVectorsBF16(half, dim, by)
			return func(index []int32, score []float32) { v.Search(index, score, x[rows*dim:], k) }, err
		}},
		{"i8/", func(x []float32) (vectorsSearch, error) {
			bytes := make([]int8, len(x))
			for i, v := range x { // 0 to 1
				bytes[i] = int8(127 * v)
			}
			v, err := neighbor.NewVectorsI8(bytes[:rows*dim], dim, by)
			return func(index []int32, score []float32) { v.Search(index, score, bytes[rows*dim:], k) }, err
		}},
	} {
		for _, q := range []int{1, 256} {
			add(fmt.Sprintf("vectors/%s100000x384/%d-at-once", c.name, q), "queries",
				func(context.Context, *scalingFlags, int) (*scalingRun, error) {
					search, err := c.prepare(floatsFor(dim, rows+q))
					index, score := make([]int32, q*k), make([]float32, q*k)
					return overwritten(float64(q), func() { search(index, score) }, index, score), err
				})
		}
	}
}

// digestBalls appends the answers to all queries. Batches come in no order, but each has an order of its own.
func digestBalls(d *digest, points, queries neighbor.Cloud[float32], radius2 float32) error {
	var sum atomic.Uint64
	var failed error
	var mu sync.Mutex
	err := neighbor.EachBall(points, queries, radius2, neighbor.BulkOptions{}, func(_ int, b *neighbor.Batch[float32]) {
		var of digest
		total := uint64(0)
		for i, q := range b.Query {
			index, dist2 := b.Row(i)
			of.sum = 0
			if err := of.write(q, index, dist2); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
			total += of.sum
		}
		sum.Add(total)
	})
	return errors.Join(err, failed, d.write(sum.Load()))
}

// modelOf loads a model.
type modelOf = func(f *scalingFlags) (cnp.Model[float32], error)

func imageModel(group string) modelOf {
	return func(f *scalingFlags) (cnp.Model[float32], error) {
		m, err := weights.Load[float32](filepath.Join(f.weights, "2d", group+".pth"), weights.Options{Group: group})
		if err != nil {
			return nil, fmt.Errorf("--weights %s: %w", f.weights, err)
		}
		return m, nil
	}
}

func shippedModel(name string) modelOf {
	return func(*scalingFlags) (cnp.Model[float32], error) { return pretrained.Load(name) }
}

// addModelRows has predictions of one task and of many, plans and training steps.
func addModelRows(add addRow) {
	for _, c := range []struct {
		group string
		many  int
	}{{"T2", 16}, {"SE2", 16}, {"RxSO2", 4}} {
		name := "image/" + c.group + "/64x64/"
		add(name+"one", "", planned(imageModel(c.group), benchImages(1, 64)))
		add(fmt.Sprintf("%sbatch%d", name, c.many), "images", planned(imageModel(c.group), benchImages(c.many, 64)))
	}
	for _, group := range []string{"T2", "SE2", "RxSO2"} {
		add("plan/"+group+"/64x64", "", func(ctx context.Context, f *scalingFlags, _ int) (*scalingRun, error) {
			m, err := imageModel(group)(f)
			if err != nil {
				return nil, err
			}
			plan := func() (cnp.Plan[float32], error) { return m.Plan(ctx, cnp.Pixels(64, 64), cnp.PlanOptions{}) }
			return &scalingRun{
				work: 1,
				call: func() error { _, err := plan(); return err },
				result: func(d *digest) error {
					p, err := plan()
					if err != nil {
						return err
					}
					return digestPlanned(ctx, d, p, benchImages(1, 64))
				},
			}, nil
		})
	}
	for _, c := range []struct {
		model    string
		dx, many int
	}{{"bench-eq", 1, 256}, {"bench2-eq", 2, 32}} {
		add("curve/"+c.model+"/one", "", regressed(shippedModel(c.model), scatteredTasks(1, c.dx)))
		add(fmt.Sprintf("curve/%s/batch%d", c.model, c.many), "tasks", regressed(shippedModel(c.model), scatteredTasks(c.many, c.dx)))
	}
	add("train/curve/rbf/batch16", "steps",
		trained(func() (stepCase, error) { return curveStep("rbf", "rbf/queries", layers.WindowSmooth) }))
	add("train/plane/levels/batch16", "steps", trained(planeStep))
	add("train/image/T(2)/batch4", "steps", trained(func() (stepCase, error) { return imageStep("T(2)", layers.WindowSmooth) }))
}

// scatteredTasks are tasks of 50 context points and 50 targets in [-2, 2]^dx.
func scatteredTasks(tasks, dx int) *cnp.Batch[float32] {
	const n = 50
	rng := rand.New(rand.NewPCG(1, 1))
	b := &cnp.Batch[float32]{B: tasks, Nc: n, Nt: n}
	b.XContext, b.YContext = randomPoints(rng, tasks*n, dx)
	b.XTarget, _ = randomPoints(rng, tasks*n, dx)
	return b
}

// digestPlanned appends what a plan predicts.
func digestPlanned(ctx context.Context, d *digest, p cnp.Plan[float32], im *cnp.Images[float32]) error {
	dst := p.NewPrediction(im)
	if err := p.Predict(ctx, dst, im); err != nil {
		return err
	}
	return d.prediction(dst)
}

// planned are the predictions of images by a plan.
func planned(load modelOf, im *cnp.Images[float32]) func(context.Context, *scalingFlags, int) (*scalingRun, error) {
	return func(ctx context.Context, f *scalingFlags, _ int) (*scalingRun, error) {
		m, err := load(f)
		if err != nil {
			return nil, err
		}
		plan, err := m.Plan(ctx, cnp.Pixels(im.H, im.W), cnp.PlanOptions{})
		if err != nil {
			return nil, err
		}
		dst := plan.NewPrediction(im)
		return &scalingRun{
			work:   float64(im.B),
			call:   func() error { return plan.Predict(ctx, dst, im) },
			result: func(d *digest) error { return digestPlanned(ctx, d, plan, im) },
		}, nil
	}
}

// regressed are the predictions of scattered points.
func regressed(load modelOf, b *cnp.Batch[float32]) func(context.Context, *scalingFlags, int) (*scalingRun, error) {
	return func(ctx context.Context, f *scalingFlags, _ int) (*scalingRun, error) {
		m, err := load(f)
		if err != nil {
			return nil, err
		}
		model, ok := m.(cnp.Regressor[float32])
		if !ok {
			return nil, errors.New("no model of scattered points")
		}
		return &scalingRun{
			work: float64(b.B),
			call: func() error { _, err := model.Predict(ctx, b); return err },
			result: func(d *digest) error {
				p, err := model.Predict(ctx, b)
				if err != nil {
					return err
				}
				return d.prediction(p)
			},
		}, nil
	}
}

// trained are training steps. The result is the state after two of them.
func trained(make func() (stepCase, error)) func(context.Context, *scalingFlags, int) (*scalingRun, error) {
	return func(context.Context, *scalingFlags, int) (*scalingRun, error) {
		s, err := make()
		if err != nil {
			return nil, err
		}
		params := s.model.State()
		adam, err := train.NewAdam(train.DefaultAdam(1e-4), params)
		if err != nil {
			return nil, err
		}
		grads := layers.NewGrads(params)
		step := func() error {
			p, err := s.pass()
			if err != nil {
				return err
			}
			grads.Zero()
			if _, err := p.Gradient(s.y, grads); err != nil {
				return err
			}
			return adam.Step(grads)
		}
		return &scalingRun{work: 1, call: step, result: func(d *digest) error {
			err := errors.Join(step(), step())
			for _, p := range params {
				err = errors.Join(err, d.write(p.Data))
			}
			return err
		}}, nil
	}
}

// A load is what clients of a server ask for.
type load struct {
	model             modelOf
	clients, requests int // for every processor: how many ask at a time, and how many requests are a call
	images            *cnp.Images[float32]
	points            *cnp.Batch[float32] // if no images
}

// start starts a server in this process. Clients need time of its processors, too.
func (l load) start(ctx context.Context, f *scalingFlags, procs int) (*scalingRun, error) {
	m, err := l.model(f)
	if err != nil {
		return nil, err
	}
	undo := serve.SpareThreads(procs)
	remote, stop, err := startHere(ctx, m)
	if err != nil {
		undo()
		return nil, err
	}
	ask := func() (*cnp.Prediction[float32], error) {
		if l.images != nil {
			return remote.Complete(ctx, dimensionModel, l.images)
		}
		return remote.Predict(ctx, dimensionModel, l.points, m.Config().DimX, m.Config().DimY)
	}
	answers := make([]*cnp.Prediction[float32], l.requests*procs)
	call := func() error {
		var next atomic.Int64
		errs := make([]error, l.clients*procs)
		onEach(len(errs), func(i int) {
			for k := int(next.Add(1)) - 1; k < len(answers) && errs[i] == nil; k = int(next.Add(1)) - 1 {
				answers[k], errs[i] = ask()
			}
		})
		return errors.Join(errs...)
	}
	return &scalingRun{
		work: float64(len(answers)),
		call: call,
		result: func(d *digest) error { // one answer: all are equal, however many there are
			if err := call(); err != nil {
				return err
			}
			if err := d.prediction(answers[0]); err != nil {
				return err
			}
			for k, p := range answers {
				var other digest
				if err := other.prediction(p); err != nil {
					return err
				}
				if other.sum != d.sum {
					return fmt.Errorf("request %d got another answer than request 0, which was the same", k)
				}
			}
			return nil
		},
		close: func() error { err := stop(); undo(); return err },
	}, nil
}

// addKrigeRows has fits of a table that is predicted exactly, of one that is not, and of a population.
func addKrigeRows(add addRow) {
	targets, _ := krigeTable(1, 200)
	for _, n := range []int{300, 3000} {
		add(fmt.Sprintf("krige/fit/%d", n), "", func(ctx context.Context, _ *scalingFlags, _ int) (*scalingRun, error) {
			x, y := krigeTable(2, n)
			fit := func() (*krige.Model, error) { return krige.Fit(ctx, x, y, krige.Options{Dim: 2}) }
			return &scalingRun{
				work: 1,
				call: func() error { _, err := fit(); return err },
				result: func(d *digest) error {
					m, err := fit()
					if err != nil {
						return err
					}
					mean, std, err := m.Predict(ctx, targets)
					return errors.Join(err, d.write(mean, std))
				},
			}, nil
		})
	}
	add("krige/population/32x40", "", func(ctx context.Context, _ *scalingFlags, _ int) (*scalingRun, error) {
		var xs, ys [][]float64
		for i := range 32 {
			x, y := krigeTable(uint64(i), 40)
			xs, ys = append(xs, x), append(ys, y)
		}
		fit := func() (*krige.Population, error) { return krige.FitPopulation(ctx, xs, ys, krige.Options{Dim: 2}) }
		return &scalingRun{
			work: 1,
			call: func() error { _, err := fit(); return err },
			result: func(d *digest) error {
				p, err := fit()
				if err != nil {
					return err
				}
				mean, std, err := p.Predict(ctx, xs[0], ys[0], targets)
				return errors.Join(err, d.write(mean, std))
			},
		}, nil
	})
}

// krigeTable is a smooth function of the plane at random places, with noise.
func krigeTable(seed uint64, n int) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	phase := 6 * rng.Float64()
	for range n {
		u, v := rng.Float64(), rng.Float64()
		x = append(x, u, v)
		y = append(y, math.Sin(5*u+phase)*math.Cos(7*v)+0.5*math.Sin(19*u*v+phase)+0.1*rng.NormFloat64())
	}
	return x, y
}
