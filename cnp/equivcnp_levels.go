package cnp

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/pyramid"
)

// levelsEngine is a network over lattices of several levels, from the finest, onto which the data are encoded, to coarser
// ones and back.
type levelsEngine[T Float] struct {
	*curveParts[T]
	pyramid *pyramid.Pyramid[T]
	frames  *curve.Frames // the sides that it sees a task from; nil: from one
	cache   levelsCache[T]
}

// newLevelsEngine draws the parameters of a model whose other parts are these.
func newLevelsEngine[T Float](parts *curveParts[T], rng *rand.Rand) *levelsEngine[T] {
	c := &parts.cfg
	m := &levelsEngine[T]{curveParts: parts, pyramid: newPyramid[T](c, parts.encoder.Channels(), rng)}
	if c.framed(parts.group) {
		m.frames = newFrames(c, parts.group)
	}
	return m
}

func (m *levelsEngine[T]) params() []layers.Param[T] { return m.pyramid.Params("pyramid.") }

func (m *levelsEngine[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	if err := m.cache.get(m).predict(ctx, out, b); err != nil {
		return nil, err
	}
	return out, nil
}

func (m *levelsEngine[T]) elsewhere(Shape) error { return nil }

func (m *levelsEngine[T]) compile(float64, float64) (curveProgram[T], error) { return m.pack(), nil }

// pack packs the network.
func (m *levelsEngine[T]) pack() *levelsNet[T] {
	return &levelsNet[T]{cfg: m.cfg, frames: m.frames, pyramid: m.pyramid, net: m.pyramid.Compile(),
		psi: curve.NewKernel(m.encoder.Psi), length: m.encoder.Psi.Length(),
		floor: m.encoder.Floor, departure: m.encoder.Departure.Plan(m.cfg.departureOff()), aux: m.aux.Plan(),
		head: m.head.plan(), pool: &sync.Pool{}}
}

// framesOf returns the frames in which a batch is seen: those of the model, or in training with random samples some that are drawn for it.
func (m *levelsEngine[T]) framesOf(b *Batch[T], mode layers.Mode) *curve.Frames {
	if m.cfg.LiftSamples != SamplesRandom || mode != layers.Train {
		return m.frames
	}
	return m.cfg.framesAt(m.group.(group.Turner), stabiliser(&m.cfg, m.group, b.seed(m.cfg.LiftSeed)))
}

func (c *levelsCache[T]) get(m *levelsEngine[T]) *levelsNet[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := m.state(m); c.net == nil || !sameState(c.state, state) {
		c.state, c.net = copyState(state), m.pack()
	}
	return c.net
}

// levelsTask is a task as a frame sees it.
type levelsTask[T Float] struct {
	x, targets []float64 // counted from the origin
	origin     []float64
	y          []T
	order      []int // the targets that count
	place      *levelsPlace
	layout     *pyramid.Layout[T]
	encoding   *curve.Encoding[T]
}

// levelsTasks returns the tasks of a batch as the frames see them, those of a task one after the other.
func (m *levelsEngine[T]) levelsTasks(b *Batch[T], mode layers.Mode, frames *curve.Frames) []levelsTask[T] {
	dx, known, each := m.cfg.DimX, m.cfg.contextValues(), frames.Count()
	tasks, origin, room := make([]levelsTask[T], b.B*each), make([]float64, dx), make([]float64, max(dx, known))
	b.origins(&m.cfg, origin, 0, b.B)
	for t := range b.B {
		if mode != layers.Train {
			b.origins(&m.cfg, origin, t, t+1)
		}
		var own levelsTask[T]
		var x []float64
		own.origin = slices.Clone(origin)
		x, own.y = b.context(t, dx, known)
		for i, v := range x {
			own.x = append(own.x, v-origin[i%dx])
		}
		for i := range b.Nt {
			if b.targetOK(t, i) {
				own.order = append(own.order, i)
				for d := range dx {
					own.targets = append(own.targets, b.XTarget[(t*b.Nt+i)*dx+d]-origin[d])
				}
			}
		}
		for l := range each {
			k := &tasks[t*each+l]
			if *k = own; frames == nil {
				continue
			}
			k.x, k.targets, k.y = slices.Clone(own.x), slices.Clone(own.targets), slices.Clone(own.y)
			curve.Seen(k.x, frames.X[l], room[:dx])
			curve.Seen(k.targets, frames.X[l], room[:dx])
			if r := frames.OfFrame(l); r != nil {
				curve.Seen(k.y, r, room[:known])
			}
			if mode != layers.Train {
				curve.FromLeast(k.x, k.targets, room[:dx])
			}
		}
	}
	return tasks
}

// layLevels gives the tasks their lattices: in training, all of a frame share them.
func (m *levelsEngine[T]) layLevels(b *Batch[T], mode layers.Mode, tasks []levelsTask[T]) error {
	dx, each, reach := m.cfg.DimX, len(tasks)/b.B, m.encoder.Psi.Length()*encoderReach(m.encoder.Floor)
	shared := make([]*pyramid.Layout[T], each)
	for l := range each {
		var all levelsPlace
		all.clear(dx)
		for t := range b.B {
			k := &tasks[t*each+l]
			k.place = &all
			if mode != layers.Train {
				k.place = &levelsPlace{}
				k.place.clear(dx)
			}
			grow(k.place.lo, k.place.hi, k.x)
			grow(k.place.from, k.place.to, k.targets)
			if mode == layers.Train {
				continue
			}
			k.place.reach(reach)
			if err := k.place.check(&m.cfg, t); err != nil {
				return err
			}
			k.layout = m.pyramid.LayoutFor(k.place.lo, k.place.hi, k.place.from, k.place.to)
		}
		if mode == layers.Train {
			all.reach(reach)
			if err := all.check(&m.cfg, -1); err != nil {
				return err
			}
			shared[l] = m.pyramid.LayoutFor(all.lo, all.hi, all.from, all.to)
			for t := range b.B {
				tasks[t*each+l].layout = shared[l]
			}
		}
	}
	return nil
}

// levelsAuxiliary joins the targets' auxiliary inputs, if there are any, to their features, which every frame has.
func (m *levelsEngine[T]) levelsAuxiliary(b *Batch[T], each int, features []T) ([]T, *curve.AuxTape[T]) {
	if m.aux == nil {
		return features, nil
	}
	var aux []T
	for t := range b.B {
		for range each {
			aux = b.auxTargets(aux, t, m.aux.Inputs(), 1)
		}
	}
	return m.aux.Record(features, aux)
}

// differentiate gives all tasks a lattice that they share in training, of every frame its own: then they share its
// layout, too.
func (m *levelsEngine[T]) differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	dy := m.cfg.DimY
	pass := newPass(&m.head.family, b.B*b.Nt*dy, b.B, b.valueMask(dy))
	if b.B == 0 {
		return pass, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	frames := m.framesOf(b, mode)
	tasks, each := m.levelsTasks(b, mode, frames), frames.Count()
	if err := m.layLevels(b, mode, tasks); err != nil {
		return nil, err
	}
	c := m.head.in()
	features := make([]T, len(tasks)*b.Nt*c)
	tape := m.pyramid.ForwardTape(len(tasks), func(t int) (*pyramid.Layout[T], []T, []float64) {
		k := &tasks[t]
		if k.encoding == nil {
			var points, at []float64
			lattice := k.layout.Lattice(nil)
			if lattice == nil || m.encoder.Departure != nil {
				points = k.layout.Points(nil)
				at = departureAt(&m.cfg, b, t/each, mode, points, k.origin)
			}
			k.encoding = m.encoder.RecordOn(lattice, points, k.x, k.y, 0, at)
		}
		return k.layout, k.encoding.Out, k.targets
	}, func(t int, f []T) {
		for i, at := range tasks[t].order {
			copy(features[(t*b.Nt+at)*c:][:c], f[i*c:(i+1)*c])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	features, with := m.levelsAuxiliary(b, each, features)
	var head *headTape[T]
	if frames == nil {
		var x []float64
		for t := range b.B {
			x = append(x, places(m.head.waves, b, t, nil, nil)...)
		}
		head = m.head.record(pass, 0, features, b.B*b.Nt, x)
	} else {
		head = m.head.recordFrames(pass, frames, features, b.B, b.Nt)
	}
	for t := range b.B {
		clearMasked(pass.Prediction, b, t, dy)
	}
	pass.stages = func(show func(string, []T) bool) {
		ok := true
		for t := 0; ok && t < len(tasks); t++ {
			ok = show("psi", tasks[t].encoding.Out)
		}
		_ = ok && show("pyramid", features) && show("mean_linear", pass.Mean) && show("var_linear", pass.Std)
	}
	pass.back = func(d outGrad[T], g *layers.Grads[T]) {
		var dfeatures []T
		if frames == nil {
			dfeatures = m.head.backward(d, 0, head, g)
		} else {
			dfeatures = m.head.backwardFrames(d, frames, head, b.B, b.Nt, g)
		}
		dfeatures = m.aux.Backward(dfeatures, with, g)
		tape.Backward(func(t int) []T {
			k := &tasks[t]
			if len(k.order) == b.Nt {
				return dfeatures[t*b.Nt*c : (t+1)*b.Nt*c]
			}
			out := make([]T, 0, len(k.order)*c)
			for _, at := range k.order {
				out = append(out, dfeatures[(t*b.Nt+at)*c:][:c]...)
			}
			return out
		}, g, func(t int, df []T) { m.encoder.Backward(df, tasks[t].encoding, g) })
	}
	return pass, nil
}
