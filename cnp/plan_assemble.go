package cnp

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
)

// assembly is a plan whose layers are being made, given an arrangement for each kind of ball.
type assembly[T Float] struct {
	*imagePlan[T]
	ctx   context.Context
	m     *ImageEquivCNP[T]
	opt   PlanOptions
	kept  *frozen.File // has the layers' weights, if not nil
	balls []ball       // of the residual layers' convolutions
	embed *layers.Arrangement[T]
	left  int64 // bytes for weights
}

// assemble makes the layers, given an arrangement for each kind of ball. file, if not nil, has their weights.
func (p *imagePlan[T]) assemble(ctx context.Context, m *ImageEquivCNP[T], arranged map[ball]*layers.Arrangement[T],
	opt PlanOptions, file *frozen.File) error {
	p.arranged, p.half = arranged, opt.Precision == BFloat16
	a := assembly[T]{imagePlan: p, ctx: ctx, m: m, opt: opt, kept: file, balls: m.blockBalls(), embed: arranged[m.psiBall()]}
	a.chooseBlocks()
	if err := p.share(a.embed.Flat(), opt); err != nil {
		return err
	}
	p.turn = make(chan struct{}, p.info.Concurrency)
	a.left = max(opt.Memory-p.info.Bytes-int64(p.info.Concurrency)*p.info.CallBytes, 0)
	// Weights are stored first where they save the most work per byte: the embedding's, which are few per pose.
	a.makeEmbedding()
	made, err := a.makeConvolutions()
	if err != nil {
		return err
	}
	a.takeConvolutions(made)
	p.last = m.last.Plan()
	p.family = m.family.clone()
	p.info.ImageOps += float64(p.outputs() * m.cfg.Channels[0] * m.last.Out)
	p.info.Rows = p.rows
	p.info.Bytes += p.info.WeightBytes
	p.widen(opt)
	if !opt.Soft {
		debug.FreeOSMemory() // what the making left lies in pieces, and would come on top of the large arrays of calls
	}
	return nil
}

func (a *assembly[T]) stop() bool { return a.ctx.Err() != nil }

// chooseBlocks counts what the arrangements keep, and computes the residual blocks in bfloat16 as a whole where that is
// allowed and they are suited.
func (a *assembly[T]) chooseBlocks() {
	p := a.imagePlan
	for _, one := range p.arranged {
		one.ForgetPairs()
	}
	for _, one := range p.arranged {
		p.info.Bytes += one.Bytes()
		if p.half {
			kept, _ := one.PairedBytes(p.cfg.Channels[0], 1)
			p.info.Bytes += kept
		}
	}
	p.info.Precision = Float32
	if p.half && a.opt.Algorithm == layers.Auto && !slices.ContainsFunc(a.balls, func(r ball) bool { return r != a.balls[0] }) {
		if p.blocks = layers.PlanBlocks(a.m.blocks, p.arranged[a.balls[0]]); p.blocks != nil {
			p.info.Precision = BFloat16
		}
	}
}

// count counts what a layer keeps.
func (a *assembly[T]) count(one *layers.Arrangement[T], kept layers.Kept) {
	info := &a.info
	info.WeightBytes += kept.Bytes
	info.Rounded = info.Rounded.Or(kept.Rounded)
	info.CallOps += kept.MulAdds
	info.Interpolated = info.Interpolated || kept.Interpolated
	if kept.Evaluations == 0 {
		info.Stored++
	} else {
		info.Evaluated++
	}
	if !one.Flat() {
		a.left -= kept.Bytes
	}
}

func (a *assembly[T]) makeEmbedding() {
	p, psi := a.imagePlan, a.m.psi
	keep := storage(a.left, layers.StorageBytes(a.embed, psi.WeightNet.Out(), p.half), p.half, a.stop, a.kept)
	p.embedding = psi.PlanEmbedding(a.embed, keep, 2, a.m.first)
	a.count(a.embed, p.embedding.Kept())
	p.info.ImageOps = float64(a.embed.Pairs()*2*psi.Linear.In) + float64(p.rows)*float64(2*psi.Linear.In*p.cfg.Channels[0])
}

// makeConvolutions makes the residual layers' convolutions, two per block; none where the plan has blocks as a whole.
func (a *assembly[T]) makeConvolutions() ([]*layers.PlannedSeparable[T], error) {
	p, all := a.imagePlan, int64(0)
	for _, r := range a.balls {
		all += layers.StorageBytes(p.arranged[r], p.cfg.Channels[0], p.half)
	}
	keep := storage(a.left, all, p.half, a.stop, a.kept)
	keep.BF16Dense = p.half && a.opt.Algorithm == layers.Auto && a.embed.Flat()
	made := make([]*layers.PlannedSeparable[T], 2*len(a.m.blocks))
	if p.blocks != nil {
		made = nil
	}
	one := func(i int) {
		if conv := a.m.blocks[i/2].Conv[i%2]; !a.stop() && (a.kept == nil || a.kept.Err() == nil) {
			made[i] = conv.Plan(p.arranged[a.balls[i]], keep)
		}
	}
	atOnce := len(made) // the weights of a flat plan's layer are too few for several goroutines
	switch {
	case a.kept != nil || !a.opt.Soft && !a.embed.Flat():
		atOnce = 1
	case !a.embed.Flat():
		atOnce = 4 // all goroutines compute a layer's weights, but one alone clears their memory, which takes as long on many processors
	}
	parallel.ForWorkers(len(made), 1, min(atOnce, workers()), func(_, i, _ int) { one(i) })
	if a.kept != nil && a.kept.Err() != nil {
		return nil, a.kept.Err()
	}
	return made, a.ctx.Err() // a layer that was stopped lacks weights
}

// takeConvolutions gives the plan its convolutions, or counts its blocks, and describes them.
func (a *assembly[T]) takeConvolutions(made []*layers.PlannedSeparable[T]) {
	p, width := a.imagePlan, a.m.cfg.Channels[0]
	if p.blocks != nil {
		p.info.WeightBytes += p.blocks.Bytes()
		p.info.Stored += len(a.balls)
		p.info.Rounded = layers.Rounded{Weights: true, Features: true, Dense: true}
	}
	for i, r := range a.balls {
		one := p.arranged[r]
		if p.blocks == nil {
			a.count(one, made[i].Kept())
			p.conv = append(p.conv, made[i])
		}
		p.layout = one
		p.info.ImageOps += float64(one.Pairs()*width) + float64(p.rows)*float64(width*width)
		p.info.Pairs, p.info.Poses, p.info.Flat, p.info.Algorithm = one.Pairs(), one.Poses(), one.Flat(), one.Algorithm()
	}
	p.slabs = p.k == 1 && p.rank == nil && p.embedding.Slabs() && len(p.conv) > 0
	for _, conv := range p.conv {
		p.slabs = p.slabs && conv.Slabs()
	}
}

// storage returns which share of that many bytes of weights fits into a budget.
func storage(left, all int64, half bool, stop func() bool, file *frozen.File) layers.Storage {
	s := layers.Storage{Share: min(1, float64(left)/float64(max(all, 1))), BF16: half, Stop: stop}
	if file != nil {
		s.File = file
	}
	return s
}
