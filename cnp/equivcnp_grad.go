package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/internal/perlift"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// pointsTape is a prediction of a pointsEngine on its way, and what its backward pass needs.
type pointsTape[T Float] struct {
	*pointsEngine[T]
	b     *Batch[T]
	grids *taskLattices
	geo   []*layers.Geometry[T] // of the encoder, and of every LieConv
	lifts lifting[T]

	encodings []*curve.Encoding[T] // of each task
	features  []T                  // of all encodings
	in, pre   []T                  // of the pointwise layer: its input and its result
	h         [][]T                // of the rows: the pointwise layer's results, and those of each LieConv with its ReLU
	conv      []*layers.LieConvTape[T]
	read      []T                 // features that are read
	aux       []*curve.AuxTape[T] // of each task
	heads     []*headTape[T]      // of each task
}

// record is differentiate for targets in the order that suits the geometry.
func (m *pointsEngine[T]) record(ctx context.Context, b *Batch[T], mode layers.Mode, in surroundings[T]) (*Pass[T], error) {
	pass := newPass(&m.head.family, b.B*b.Nt*m.cfg.DimY, b.B, b.valueMask(m.cfg.DimY))
	if b.B == 0 {
		return pass, nil
	}
	grids, err := m.lattices(b, mode)
	if err != nil {
		return nil, err
	}
	tape := &pointsTape[T]{pointsEngine: m, b: b, grids: grids}
	if err := tape.encode(in, mode); err != nil {
		return nil, err
	}
	if err := tape.decode(ctx, mode); err != nil {
		return nil, err
	}
	tape.readAll(pass)
	pass.stages = func(show func(string, []T) bool) {
		ok := show("psi", tape.features) && show("prelinear", tape.pre)
		for i := 0; ok && i < len(m.conv); i++ {
			ok = show(fmt.Sprintf("conv.%d", 2*i), tape.h[i+1])
		}
		_ = ok && show("psi_rho", tape.heads[0].features) && show("mean_linear", pass.Mean) && show("var_linear", pass.Std)
	}
	pass.back = tape.back
	return pass, nil
}

// encode gives every task's points their features.
func (k *pointsTape[T]) encode(in surroundings[T], mode layers.Mode) (err error) {
	k.encodings = make([]*curve.Encoding[T], k.b.B)
	k.geo, err = k.layouts(in, k.b, 0, k.b.B, k.grids, func(t int, x []float64, origin float64) {
		cx, cy := k.b.context(t, k.cfg.DimX, k.encoder.Dy)
		k.encodings[t] = k.encoder.Record(x, curve.Counted(cx, origin), cy, origin,
			departureAt(&k.cfg, k.b, t, mode, x, []float64{origin}))
		k.features = append(k.features, k.encodings[t].Out...)
	})
	if err == nil {
		k.lifts = k.lifting(k.geo[0].Points, k.geo[len(k.geo)-1].Points, 0, k.b.B)
	}
	return err
}

// decode takes them through the pointwise layer and the LieConvs.
func (k *pointsTape[T]) decode(ctx context.Context, mode layers.Mode) error {
	k.h, k.conv = make([][]T, 1), make([]*layers.LieConvTape[T], len(k.pointsEngine.conv))
	k.in, k.pre, k.h[0] = k.lifts.enter(k.features)
	for i, l := range k.pointsEngine.conv {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, f := k.geo[i+1], k.h[i]
		if at.Rows() != k.geo[i].Rows() {
			f = perlift.Resize(f, k.b.B, at.Rows()*l.In)
		}
		y := make([]T, at.Rows()*l.Out)
		var err error
		if k.conv[i], err = l.ForwardTape(y, f, at, 1, mode); err != nil {
			return err
		}
		simd.ReLU(y, y)
		k.h = append(k.h, y)
	}
	k.read = k.lifts.leave(k.h[len(k.conv)])
	return nil
}

// readAll reads the features at the targets of all tasks.
func (k *pointsTape[T]) readAll(pass *Pass[T]) {
	b, perTask := k.b, len(k.read)/k.b.B
	k.heads, k.aux = make([]*headTape[T], b.B), make([]*curve.AuxTape[T], b.B)
	for t := range b.B {
		f := k.atTargets(k.read[t*perTask:][:perTask], b, t, k.grids, k.lifts.times())
		if net := k.pointsEngine.aux; net != nil {
			f, k.aux[t] = net.Record(f, b.auxTargets(nil, t, net.Inputs(), k.lifts.times()))
		}
		k.heads[t] = k.lifts.record(pass, t*b.Nt*k.cfg.DimY, b, t, f)
		clearMasked(pass.Prediction, b, t, k.cfg.DimY)
	}
}

// back adds the gradients of all parameters, given those to the prediction.
func (k *pointsTape[T]) back(d outGrad[T], g *layers.Grads[T]) {
	m, b, perTask := k.pointsEngine, k.b, len(k.read)/k.b.B
	dread := make([]T, len(k.read))
	for t := range b.B {
		df := m.aux.Backward(k.lifts.recorded(d, t*b.Nt*m.cfg.DimY, t, k.heads[t], g), k.aux[t], g)
		m.atTargetsGrad(dread[t*perTask:][:perTask], df, k.read[t*perTask:][:perTask], b, t, k.grids, g)
	}
	dh := k.lifts.left(dread)
	for i := len(m.conv) - 1; i >= 0; i-- {
		simd.ReLUGrad(dh, dh, k.h[i+1])
		in, rows := m.conv[i].In, k.geo[i+1].Rows()
		df := make([]T, rows*in)
		k.conv[i].Backward(df, dh, g)
		if rows != k.geo[i].Rows() {
			df = perlift.Resize(df, b.B, k.geo[i].Rows()*in)
		}
		dh = df
	}
	dfeatures := k.lifts.entered(dh, k.in, k.pre, g)
	per := len(dfeatures) / b.B
	for t, e := range k.encodings {
		m.encoder.Backward(dfeatures[t*per:][:per], e, g)
	}
}
