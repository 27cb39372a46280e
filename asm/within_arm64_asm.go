package main

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// Kernels that compare one query with many points and keep those within a radius, in float64; see within_amd64_asm.go. Here groups of
// points are aligned, so that none reaches beyond the end: callers give whole groups and decide about the last point by the portable
// twin, which computes the same bits.
//
// A group of which nothing is kept takes 18 (one coordinate) to 33 (polar) of the instructions that the generated loops count.

func withinNEON(file *neon.File) {
	for d := 1; d <= 3; d++ {
		withinEuclidNEON(file, d)
	}
	withinRigidNEON(file)
	withinPolarNEON(file)
	withinLogPolarNEON(file)
}

// neonWithin goes through the points whose bit is set, a group of as many points as a vector has lanes at a time.
type neonWithin struct {
	*neonSelect
	point, stride neon.R // the group's coordinates, and bytes from a coordinate to the next
	row           neon.R // the coordinate last read, past the first
}

// newNEONWithin starts a function whose query and parameters are the named floats.
func newNEONWithin(file *neon.File, name, doc, params string) *neonWithin {
	name += "NEON"
	signature := fmt.Sprintf("(index *int32, label *int32, bits *uint64, x *float64, stride, n int, %s float64) (count int)", params)
	p := &neonWithin{neonSelect: newNEONSelect(file, name, signature, name+" "+doc+"\nn is a multiple of the lanes of a vector.", true)}
	p.point, p.row, p.stride = p.R(), p.R(), p.bytes(p.Arg("stride"))
	return p
}

// coordinate reads coordinate c of the group's points; each one once, in order.
func (p *neonWithin) coordinate(c int) neon.Vec {
	from := p.point
	if c > 0 {
		if c > 1 {
			from = p.row
		}
		p.Text("ADD %v, %v, %v", p.stride, from, p.row)
		from = p.row
	}
	return p.load(from, neon.Zero, false)
}

// constant has a number in all lanes.
func (p *neonWithin) constant(k float64) neon.Vec {
	d, r := p.V(1), p.R()
	p.Text("MOVD $0x%016x, %v // %x", math.Float64bits(k), r, k)
	p.Text("VDUP %v, V%d.D2", r, d[0])
	p.FreeR(r)
	return d
}

// run writes the loops. keep computes the mask of the group's points that are within.
func (p *neonWithin) run(keep func() neon.Vec) {
	index, label, bits, x, left := p.Arg("index"), p.Arg("label"), p.Arg("bits"), p.Arg("x"), p.Arg("n")
	first, word, off, lab := p.R(), p.R(), p.R(), p.R()
	p.Text("MOVD %v, %v", index, first)
	p.Text("CBZ %v, done", left)
	p.Label("word")
	p.Text("MOVD.P 8(%v), %v", bits, word)
	p.Text("CMP $64, %v", left)
	p.Text("BGE whole")
	p.Comment("Only bits of points that exist count.")
	p.Text("MOVD $-1, %v", off)
	p.Text("LSL %v, %v, %v", left, off, off)
	p.Text("BIC %v, %v, %v", off, word, word)
	p.Label("whole")
	p.Text("CBZ %v, next", word)
	p.Text("MOVD %v, %v", x, p.point)
	p.Text("MOVD %v, %v", label, lab)

	group := func() {
		p.Text("RBIT %v, %v", word, off)
		p.Text("CLZ %v, %v", off, off)
		p.Text("AND $%d, %v, %v", -p.lanes(), off, off)
		p.Text("LSR %v, %v, %v", off, word, word)
		p.Text("ADD %v<<%d, %v, %v", off, p.shift(), p.point, p.point)
		p.Text("ADD %v<<2, %v, %v", off, lab, lab)
		mask := p.maskBits(keep())
		p.Text("ANDS %v, %v, %v", word, mask, mask)
		p.Text("BEQ skip")
		k := p.packing(mask)
		ids := p.loadIDs(lab, neon.Zero, false)
		k.storeIDs(ids, index)
		p.Free(ids)
		k.advanceIDs(index)
		k.free()
		p.Label("skip")
		p.Text("ADD $16, %v", p.point)
		p.Text("ADD $%d, %v", 4*p.lanes(), lab)
		p.Text("LSR $%d, %v, %v", p.lanes(), word, word)
		p.Text("CBNZ %v, group", word)
	}
	p.Counted("group", p.lanes(), "points", group)
	p.Label("next")
	p.Text("ADD $%d, %v", 64<<p.shift(), x)
	p.Text("ADD $256, %v", label)
	p.Text("SUBS $64, %v", left)
	p.Text("BGT word")
	p.Label("done")
	p.Text("SUB %v, %v, %v", first, index, first)
	p.Text("LSR $2, %v, %v", first, first)
	p.ReturnR("count", first)
}

// withinEuclidNEON keeps the points with |u - x|² < limit.
func withinEuclidNEON(file *neon.File, d int) {
	params := ""
	for c := range d {
		params += fmt.Sprintf("u%d, ", c)
	}
	p := newNEONWithin(file, fmt.Sprintf("withinEuclid%d", d), "keeps the points with |u - x|² < limit.", params+"limit")
	var u []neon.Vec
	for c := range d {
		u = append(u, p.float(fmt.Sprintf("u%d", c)))
	}
	limit := p.float("limit")
	p.run(func() neon.Vec {
		var sum neon.Vec
		for c := range d {
			x := p.coordinate(c)
			diff := p.sub(u[c], x)
			square := p.mul(diff, diff)
			p.Free(x, diff)
			if sum == nil {
				sum = square
				continue
			}
			total := p.add(sum, square)
			p.Free(sum, square)
			sum = total
		}
		return p.less(sum, limit)
	})
}

// withinRigidNEON keeps the points with |m·(u - x)|² < limit, a product of complex numbers.
func withinRigidNEON(file *neon.File) {
	p := newNEONWithin(file, "withinRigid", "keeps the points with |m·(u - x)|² < limit.", "u0, u1, m0, m1, limit")
	u0, u1, m0, m1, limit := p.float("u0"), p.float("u1"), p.float("m0"), p.float("m1"), p.float("limit")
	p.run(func() neon.Vec {
		dx, dy := p.sub(u0, p.coordinate(0)), p.sub(u1, p.coordinate(1))
		re := p.sub(p.mul(m0, dx), p.mul(m1, dy))
		im := p.add(p.mul(m1, dx), p.mul(m0, dy))
		return p.less(p.add(p.mul(re, re), p.mul(im, im)), limit)
	})
}

// angleSize returns how to write the magnitude of a difference of angles modulo a turn; see angleSize in
// internal/search/within_generic.go.
func (p *neonWithin) angleSize() func(d neon.Vec) neon.Vec {
	pi, turn := p.constant(math.Pi), p.constant(2*math.Pi)
	return func(d neon.Vec) neon.Vec {
		a := p.abs(d)
		past, rest := p.less(pi, a), p.sub(turn, a)
		p.Insert(a, rest, past)
		p.Free(past, rest)
		return a
	}
}

// withinLogPolarNEON keeps the points (log radius, θ) with alpha·|Δθ| + beta·|Δ log radius| < r.
func withinLogPolarNEON(file *neon.File) {
	p := newNEONWithin(file, "withinLogPolar", "keeps the points with alpha·|Δθ| + beta·|Δl| < r.", "u0, u1, alpha, beta, r")
	u0, u1, alpha, beta, r := p.float("u0"), p.float("u1"), p.float("alpha"), p.float("beta"), p.float("r")
	size := p.angleSize()
	p.run(func() neon.Vec {
		dl, dt := p.sub(u0, p.coordinate(0)), p.sub(u1, p.coordinate(1))
		return p.less(p.add(p.mul(alpha, size(dt)), p.mul(beta, p.abs(dl))), r)
	})
}

// withinPolarNEON keeps the points (θ, radius) with alpha·|Δθ| + beta·|h - s|/((h + s) + floor) < r, h and s half the radii.
func withinPolarNEON(file *neon.File) {
	p := newNEONWithin(file, "withinPolar",
		"keeps the points with alpha·|Δθ| + beta·|h - s|/((h + s) + floor) < r, h and s half the\nradii.",
		"u0, u1, floor, alpha, beta, r")
	u0, u1, floor, alpha, beta, r := p.float("u0"), p.float("u1"), p.float("floor"), p.float("alpha"), p.float("beta"), p.float("r")
	half := p.constant(0.5)
	h := p.mul(half, u1)
	size := p.angleSize()
	p.run(func() neon.Vec {
		dt, radius := p.sub(u0, p.coordinate(0)), p.coordinate(1)
		s := p.mul(half, radius)
		gap, sum := p.sub(h, s), p.add(h, s)
		above, below := p.abs(gap), p.add(sum, floor)
		p.Free(s, gap, sum, radius)
		part, angle := p.div(above, below), size(dt)
		p.Free(above, below)
		return p.less(p.add(p.mul(alpha, angle), p.mul(beta, part)), r)
	})
}
