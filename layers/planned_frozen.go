package layers

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/simd"
)

// freeze writes the weights, or reads those of a plan for that arrangement.
func (p *poseWeights[T]) freeze(f Archive, a *Arrangement[T]) {
	f.Array(&p.table)
	f.Array((*[]uint16)(unsafe.Pointer(&p.half))) // BF16 is one
	f.Array(&p.starts)
	if !f.Reading() || f.Err() != nil {
		return
	}
	out := p.net.out()
	if a.dim != p.net.in() {
		f.Fail("poses of %d numbers, the layer's have %d", a.dim, p.net.in())
		return
	}
	if a.Flat() {
		if len(p.table) != a.poses*out || p.half != nil {
			f.Fail("%d weights of %d poses, need %d each", len(p.table), a.poses, out)
			return
		}
		if len(p.starts) > 0 {
			f.Fail("weights of %d tiles, there are none", len(p.starts))
			return
		}
	} else {
		have := len(p.table)
		if p.half != nil {
			if have > 0 || buffers.SizeOf[T]() != 4 {
				f.Fail("weights of two kinds")
				return
			}
			have = len(p.half)
		}
		if len(p.starts) != len(a.tiles) {
			f.Fail("weights of %d tiles, there are %d", len(p.starts), len(a.tiles))
			return
		}
		for i, start := range p.starts {
			if start < -1 || start >= 0 && (start > have || have-start < len(a.tiles[i].poses)*out) {
				f.Fail("the weights of tile %d stand at %d of %d", i, start, have)
				return
			}
		}
	}
	p.file = f
	p.compare(f, a)
}

// compare computes the weights of one pose again: a program that computes other weights, or stores them in another
// order, must not use these.
func (p *poseWeights[T]) compare(f Archive, a *Arrangement[T]) {
	var w workspace[T]
	out := p.net.out()
	want := make([]T, out)
	if a.Flat() {
		if a.poses == 0 {
			return
		}
		last := a.poses - 1
		p.net.forwardAll(want, a.table[last*a.dim:], 1)
		if p.window != nil {
			scaleRows(want, p.window[last:], out)
		}
		if !equal(want, p.table[last*out:]) {
			f.Fail("the model's weights are others")
		}
		return
	}
	for i, start := range p.starts {
		n := len(a.tiles[i].poses)
		if start < 0 || n == 0 {
			continue
		}
		one := tile[T]{poses: a.tiles[i].poses[:1], table: a.tiles[i].table[:a.dim], between: &nodal.Places{}}
		p.evaluate(want, &one, &w)
		at := 0
		for k := range p.slices {
			width := p.slices[k].B.N()
			if p.half != nil {
				half := make([]simd.BF16, width)
				simd.BF16FromF32(half, any(want[at:at+width]).([]float32))
				if !equal(half, p.half[start+n*at:]) {
					f.Fail("the model's weights are others")
				}
			} else if !equal(want[at:at+width], p.table[start+n*at:]) {
				f.Fail("the model's weights are others")
			}
			at += width
		}
		return
	}
}

// equal reports whether y begins with x.
func equal[E comparable](x, y []E) bool {
	for i, v := range x {
		if v != y[i] && (v == v || y[i] == y[i]) {
			return false
		}
	}
	return true
}
