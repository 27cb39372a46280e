package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// Difference says how far the prediction for moved data is from the moved prediction: 0 for a model that is equivariant under
// that move. It compares values that are in both predictions and whose mean and standard deviation are finite.
type Difference struct {
	Move   string `json:"move"`
	Values int    `json:"values"`
	// MeanRMS and StdRMS are the root mean squares of the differences between means and between standard deviations; MeanMax and
	// StdMax are the largest of these differences.
	MeanRMS float64 `json:"mean_rms"`
	MeanMax float64 `json:"mean_max"`
	StdRMS  float64 `json:"std_rms"`
	StdMax  float64 `json:"std_max"`
	// LogLikelihood is the change of the mean log-likelihood per value.
	LogLikelihood float64 `json:"log_likelihood"`
}

func (d *Difference) add(mean, std, mean2, std2, y float64) {
	m, s := math.Abs(mean2-mean), math.Abs(std2-std)
	if !(std > 0 && std2 > 0) || math.IsInf(m+s, 0) || math.IsNaN(m+s) {
		return
	}
	d.Values++
	d.MeanRMS, d.StdRMS = d.MeanRMS+m*m, d.StdRMS+s*s // sums until finish
	d.MeanMax, d.StdMax = max(d.MeanMax, m), max(d.StdMax, s)
	z, z2 := (y-mean)/std, (y-mean2)/std2
	d.LogLikelihood += 0.5*z*z + math.Log(std) - 0.5*z2*z2 - math.Log(std2)
}

func (d *Difference) finish() Difference {
	n := float64(d.Values)
	d.MeanRMS, d.StdRMS, d.LogLikelihood = math.Sqrt(d.MeanRMS/n), math.Sqrt(d.StdRMS/n), d.LogLikelihood/n
	return *d
}

// shiftPixels is how far images are shifted, down and to the right.
const shiftPixels = 6

// Equivariance measures how a model's predictions move with the data of the first tasks of a source.
//
// In a curve task, context and targets move by one random element of the model's group, or by a random translation if the model has no
// group. Algebra coordinates are uniform in [-1, 1], those of T(n) in [-4, 4]. Square images are turned by 90 degrees. All images are
// shifted by 6 pixels; pixels that the shift brings in count as not observed. Only pixels that stay in the image are compared.
// Pixels that left it no longer inform the others, so even a model that is equivariant on an infinite grid shows a small
// difference. Moves that leave no pixels to compare are omitted.
func Equivariance[T cnp.Float](ctx context.Context, m cnp.Model[T], src task.Source[T], opt Options) ([]Difference, error) {
	if m == nil {
		return nil, errNoModel
	}
	predict := Model(m)
	var all []*Difference
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		moves, err := movesOf(m.Config(), b, opt.Seed)
		if err != nil {
			return err
		}
		p, err := predict.checked(ctx, b)
		if err != nil {
			return err
		}
		for i, mv := range moves {
			if i == len(all) {
				all = append(all, &Difference{Move: mv.name})
			}
			p2, err := predict.checked(ctx, mv.tasks)
			if err != nil {
				return err
			}
			if mv.back != nil {
				mv.back(p2)
			}
			per, counts := len(b.Y)/Count(b), b.Counts()
			for k := range n * per {
				if at := mv.to(k); at >= 0 && (counts == nil || counts[k]) {
					all[i].add(float64(p.Mean[k]), float64(p.Std[k]), float64(p2.Mean[at]), float64(p2.Std[at]), float64(b.Y[k]))
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Difference
	for _, d := range all {
		if d.Values > 0 {
			out = append(out, d.finish())
		}
	}
	return out, nil
}

// move is a moved batch. to[k] is where value k of the prediction went, negative if it left the image.
type move[T cnp.Float] struct {
	name  string
	tasks *task.Tasks[T]
	to    func(k int) int
	back  func(p *cnp.Prediction[T]) // turns a prediction's vectors back; nil where there are none
}

func movesOf[T cnp.Float](cfg cnp.Config, b *task.Tasks[T], seed uint64) ([]move[T], error) {
	if b.Curves != nil {
		mv, err := moveCurves(cfg, b, seed)
		return []move[T]{mv}, err
	}
	im := b.Images
	moves := []move[T]{moveImages(im, fmt.Sprintf("shift by %d pixels", shiftPixels), func(y, x int) (int, int) {
		return y + shiftPixels, x + shiftPixels
	})}
	if im.H == im.W {
		moves = append(moves, moveImages(im, "quarter turn", func(y, x int) (int, int) { return im.W - 1 - x, y }))
	}
	return moves, nil
}

// moveCurves moves each task by a random element of the model's group.
func moveCurves[T cnp.Float](cfg cnp.Config, b *task.Tasks[T], seed uint64) (move[T], error) {
	c := b.Curves
	var g group.Group = group.NewT(cfg.DimX, 0)
	name := cfg.Group
	if name == "" && cfg.OnSphere() { // a translation could leave the globe
		name = "SO(3)"
	}
	if name != "" {
		var err error
		if g, err = group.Parse(name, cfg.Alpha); err != nil {
			return move[T]{}, err
		}
	}
	reach := 1.0
	if strings.HasPrefix(g.Name(), "T(") {
		reach = 4
	}
	moved := *c
	moved.XContext, moved.XTarget, moved.XStatic = slices.Clone(c.XContext), slices.Clone(c.XTarget), slices.Clone(c.XStatic)
	rng := rand.New(rand.NewPCG(seed, 0x6d6f766573)) // "moves"
	d, a := cfg.DimX, make([]float64, g.AlgebraDim())
	turner, _ := g.(group.Turner)
	var turns [][]float64 // of each task's values
	if cfg.Vectors() && turner != nil {
		moved.YContext = append([]T(nil), c.YContext...)
	}
	for t := range c.B {
		for i := range a {
			a[i] = reach * (2*rng.Float64() - 1)
		}
		for _, x := range [][]float64{moved.XContext[t*c.Nc*d : (t+1)*c.Nc*d], moved.XTarget[t*c.Nt*d : (t+1)*c.Nt*d],
			moved.XStatic[t*c.Ns*d : (t+1)*c.Ns*d]} {
			if cfg.OnSphere() {
				copy(x, cfg.Turned(x, [3]float64(a)))
				continue
			}
			for i := 0; i < len(x); i += d {
				g.Act(x[i:i+d], a, x[i:i+d])
			}
		}
		if cfg.Vectors() && turner != nil {
			r := make([]float64, d*d)
			turner.Turn(r, a)
			turns = append(turns, r)
			eachVector(&cfg, moved.YContext[t*c.Nc*cfg.DimY:(t+1)*c.Nc*cfg.DimY], func(v []T) { turn(v, r, false) })
		}
	}
	var back func(p *cnp.Prediction[T])
	if turns != nil {
		back = func(p *cnp.Prediction[T]) { turnBack(&cfg, p, turns) }
	}
	dy := cfg.DimY
	to := func(k int) int {
		if c.TargetMask != nil && !c.TargetMask[k/dy] {
			return -1
		}
		return k
	}
	return move[T]{"random element of " + g.Name(), &task.Tasks[T]{Curves: &moved, Y: b.Y}, to, back}, nil
}

// eachVector calls f with every vector of values [n, dy].
func eachVector[T cnp.Float](cfg *cnp.Config, values []T, f func(v []T)) {
	for _, field := range cfg.Fields() {
		if field.Type == cnp.Vector {
			for i := field.First; i < len(values); i += cfg.DimY {
				f(values[i : i+field.Width])
			}
		}
	}
}

// turn replaces v by r·v, or rᵀ·v.
func turn[T cnp.Float](v []T, r []float64, back bool) {
	n := len(v)
	out := make([]float64, n)
	for i := range n {
		for j, x := range v {
			if back {
				out[i] += r[j*n+i] * float64(x)
			} else {
				out[i] += r[i*n+j] * float64(x)
			}
		}
	}
	for i, x := range out {
		v[i] = T(x)
	}
}

// turnBack turns the means of a prediction's vectors back, and the deviations of their components with the covariance, if there is one. Of
// each task turns has the rotation.
func turnBack[T cnp.Float](cfg *cnp.Config, p *cnp.Prediction[T], turns [][]float64) {
	dy, cov := cfg.DimY, p.TargetCovariances()
	per := len(p.Mean) / max(1, len(turns))
	for t, r := range turns {
		eachVector(cfg, p.Mean[t*per:(t+1)*per], func(v []T) { turn(v, r, true) })
		for _, f := range cfg.Fields() {
			if f.Type != cnp.Vector || cov == nil {
				continue
			}
			for i := t * per; i < (t+1)*per; i += dy {
				own := cov[i*dy : (i+dy)*dy]
				for a := range f.Width {
					s := 0.0
					for b := range f.Width {
						for c := range f.Width {
							s += r[b*f.Width+a] * own[(f.First+b)*dy+f.First+c] * r[c*f.Width+a]
						}
					}
					p.Std[i+f.First+a] = T(math.Sqrt(s))
				}
			}
		}
	}
}

// moveImages moves every pixel (y, x) to f(y, x). Pixels that leave the image are lost; pixels that receive nothing are
// not observed.
func moveImages[T cnp.Float](im *cnp.Images[T], name string, f func(y, x int) (int, int)) move[T] {
	n := im.H * im.W
	to := make([]int, n)
	for p := range to {
		y, x := f(p/im.W, p%im.W)
		to[p] = -1
		if y >= 0 && y < im.H && x >= 0 && x < im.W {
			to[p] = y*im.W + x
		}
	}
	moved := &cnp.Images[T]{B: im.B, C: im.C, H: im.H, W: im.W, Pixels: make([]T, len(im.Pixels)), Mask: make([]bool, len(im.Mask))}
	for i := range im.Mask {
		if at := to[i%n]; at >= 0 {
			moved.Mask[i/n*n+at] = im.Mask[i]
		}
	}
	place := func(k int) int {
		if to[k%n] < 0 {
			return -1
		}
		return k/n*n + to[k%n]
	}
	for k, v := range im.Pixels {
		if at := place(k); at >= 0 {
			moved.Pixels[at] = v
		}
	}
	return move[T]{name, &task.Tasks[T]{Images: moved, Y: moved.Pixels}, place, nil}
}
