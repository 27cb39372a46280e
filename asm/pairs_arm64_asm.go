package main

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// Kernels that compare one query with many points and keep those within a radius; see pairs_amd64_asm.go. Here groups of points are
// aligned, so that none reaches beyond the end: callers give whole groups and do the last few points by the portable twin, which
// computes the same bits.
//
// A group of which nothing is kept takes 18 (one coordinate) to 33 (polar) of the instructions that the generated loops count, 4.5 to
// 8.3 per point in float32; keeping packs the labels and the poses by one lookup and one store each.

func pairsNEON(file *neon.File) {
	for d := 1; d <= 3; d++ {
		nearWindowNEON(file, d)
	}
	for _, wide := range []bool{false, true} {
		for d := 1; d <= 3; d++ {
			pairsEuclidNEON(file, wide, d)
		}
		pairsRigidNEON(file, wide)
		pairsPolarNEON(file, wide)
		pairsLogPolarNEON(file, wide)
	}
}

// neonPairs goes through the points whose bit is set, a group of as many points as a vector has lanes at a time.
type neonPairs struct {
	*neonSelect
	point, stride neon.R // the group's coordinates, and bytes from a coordinate to the next
	row           neon.R // the coordinate last read, past the first
}

// newNEONPairs starts a function whose query and parameters are the named floats.
func newNEONPairs(file *neon.File, name, doc string, wide bool, params string) *neonPairs {
	float, suffix := goFloat(wide), map[bool]string{false: "F32", true: "F64"}[wide]
	name += suffix + "NEON"
	signature := fmt.Sprintf("(index *int32, pose *%s, label *int32, bits *uint64, x *%[1]s, stride, n int, %s %[1]s) (count int)", float, params)
	p := &neonPairs{neonSelect: newNEONSelect(file, name, signature,
		name+" "+doc+"\nn is a multiple of the lanes of a vector. pose may be nil.", wide)}
	p.point, p.row, p.stride = p.R(), p.R(), p.bytes(p.Arg("stride"))
	return p
}

// coordinate reads coordinate c of the group's points; each one once, in order.
func (p *neonPairs) coordinate(c int) neon.Vec {
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
func (p *neonPairs) constant(k float64) neon.Vec {
	d, r := p.V(1), p.R()
	if p.wide {
		p.Text("MOVD $0x%016x, %v // %x", math.Float64bits(k), r, k)
		p.Text("VDUP %v, V%d.D2", r, d[0])
	} else {
		p.Text("MOVD $0x%08x, %v // %x", math.Float32bits(float32(k)), r, k)
		p.Text("VDUP %v, V%d.S4", r, d[0])
	}
	p.FreeR(r)
	return d
}

// run writes the loops. keep computes the mask of the group's points that are within; pose, called after it, their relative
// poses.
func (p *neonPairs) run(keep func() neon.Vec, pose func() []neon.Vec) {
	index, to, label, bits, x, left := p.Arg("index"), p.Arg("pose"), p.Arg("label"), p.Arg("bits"), p.Arg("x"), p.Arg("n")
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
		p.Text("CBZ %v, skip", to)
		row := p.R()
		for c, v := range pose() {
			if c == 0 {
				k.store(v, to)
			} else {
				from := row
				if c == 1 {
					from = to
				}
				p.Text("ADD %v, %v, %v", p.stride, from, row)
				k.store(v, row)
			}
		}
		p.FreeR(row)
		k.advance(to)
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

// pairsEuclidNEON keeps the points with |u - x|² < limit.
func pairsEuclidNEON(file *neon.File, wide bool, d int) {
	params := ""
	for c := range d {
		params += fmt.Sprintf("u%d, ", c)
	}
	p := newNEONPairs(file, fmt.Sprintf("pairsEuclid%d", d), "keeps the points with |u - x|² < limit, and u - x.", wide, params+"limit")
	var u []neon.Vec
	for c := range d {
		u = append(u, p.float(fmt.Sprintf("u%d", c)))
	}
	limit := p.float("limit")
	var diff []neon.Vec
	p.run(func() neon.Vec {
		var sum neon.Vec
		for c := range d {
			x := p.coordinate(c)
			diff = append(diff, p.sub(u[c], x))
			p.Free(x)
			square := p.mul(diff[c], diff[c])
			if sum == nil {
				sum = square
				continue
			}
			total := p.add(sum, square)
			p.Free(sum, square)
			sum = total
		}
		return p.less(sum, limit)
	}, func() []neon.Vec { return diff })
}

// pairsRigidNEON keeps the points with |m·(u - x)|² < limit, a product of complex numbers.
func pairsRigidNEON(file *neon.File, wide bool) {
	p := newNEONPairs(file, "pairsRigid", "keeps the points with |t|² < limit, t = m·(u - x), and (turn, t).", wide, "u0, u1, m0, m1, turn, limit")
	u0, u1, m0, m1, turn, limit := p.float("u0"), p.float("u1"), p.float("m0"), p.float("m1"), p.float("turn"), p.float("limit")
	var re, im neon.Vec
	p.run(func() neon.Vec {
		dx, dy := p.sub(u0, p.coordinate(0)), p.sub(u1, p.coordinate(1))
		re = p.sub(p.mul(m0, dx), p.mul(m1, dy))
		im = p.add(p.mul(m1, dx), p.mul(m0, dy))
		return p.less(p.add(p.mul(re, re), p.mul(im, im)), limit)
	}, func() []neon.Vec { return []neon.Vec{turn, re, im} })
}

// angles returns how to write the magnitude of a difference of angles, and the difference itself, both modulo a turn; see
// angleSize and wrapAngle in simd/pairs_generic.go.
func (p *neonPairs) angles() (size, wrap func(d neon.Vec) neon.Vec) {
	half := -math.Pi + 0x1p-48
	if !p.wide {
		half = float64(float32(-math.Pi) + 0x1p-19)
	}
	pi, turn, negative, sign := p.constant(math.Pi), p.constant(2*math.Pi), p.constant(half), p.constant(math.Copysign(0, -1))
	size = func(d neon.Vec) neon.Vec {
		a := p.abs(d)
		past, rest := p.less(pi, a), p.sub(turn, a)
		p.Insert(a, rest, past)
		p.Free(past, rest)
		return a
	}
	wrap = func(d neon.Vec) neon.Vec {
		w, back := p.abs(d), p.V(1)
		past := p.less(pi, w)
		p.And(back, d, sign)
		p.Or(back, back, turn)
		less := p.sub(d, back)
		p.Mov(w, d)
		p.Insert(w, less, past)
		p.Free(past, back, less)
		below := p.less(w, negative)
		p.And(below, below, sign)
		p.Xor(w, w, below)
		p.Free(below)
		return w
	}
	return size, wrap
}

// pairsLogPolarNEON keeps the points (log radius, θ) with alpha·|Δθ| + beta·|Δ log radius| < r.
func pairsLogPolarNEON(file *neon.File, wide bool) {
	p := newNEONPairs(file, "pairsLogPolar", "keeps the points with alpha·|Δθ| + beta·|Δl| < r, and (Δl, Δθ).", wide, "u0, u1, alpha, beta, r")
	u0, u1, alpha, beta, r := p.float("u0"), p.float("u1"), p.float("alpha"), p.float("beta"), p.float("r")
	size, wrap := p.angles()
	var dl, dt neon.Vec
	p.run(func() neon.Vec {
		dl, dt = p.sub(u0, p.coordinate(0)), p.sub(u1, p.coordinate(1))
		return p.less(p.add(p.mul(alpha, size(dt)), p.mul(beta, p.abs(dl))), r)
	}, func() []neon.Vec { return []neon.Vec{dl, wrap(dt)} })
}

// pairsPolarNEON keeps the points (θ, radius) with alpha·|Δθ| + beta·|h - s|/((h + s) + floor) < r, h and s half the radii.
func pairsPolarNEON(file *neon.File, wide bool) {
	p := newNEONPairs(file, "pairsPolar",
		"keeps the points with alpha·|Δθ| + beta·|h - s|/((h + s) + floor) < r, h and s half the\nradii, and (Δθ, radius of the query, radius of the point).",
		wide, "u0, u1, floor, alpha, beta, r")
	u0, u1, floor, alpha, beta, r := p.float("u0"), p.float("u1"), p.float("floor"), p.float("alpha"), p.float("beta"), p.float("r")
	half := p.constant(0.5)
	h := p.mul(half, u1)
	size, wrap := p.angles()
	var dt, radius neon.Vec
	p.run(func() neon.Vec {
		dt, radius = p.sub(u0, p.coordinate(0)), p.coordinate(1)
		s := p.mul(half, radius)
		gap, sum := p.sub(h, s), p.add(h, s)
		above, below := p.abs(gap), p.add(sum, floor)
		p.Free(s, gap, sum)
		part, angle := p.div(above, below), size(dt)
		p.Free(above, below)
		return p.less(p.add(p.mul(alpha, angle), p.mul(beta, part)), r)
	}, func() []neon.Vec { return []neon.Vec{wrap(dt), u1, radius} })
}
