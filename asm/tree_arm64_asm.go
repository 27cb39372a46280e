package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// The kernels of the searches among points; see tree_amd64_asm.go. They select as select_arm64_asm.go says: 4 float32 or 2 float64 at a
// time, and most of what a scan does for a vector without a hit is loads and the distance: in float32 20 instructions in the plane
// and 25 in space, 5 and 6.3 per point. A hit adds 10: the row of the table, and a lookup, a store and a step for either output.

// neonTree is one of the kernels while it is written. dim is the number of axes, or 0 for a loop over any number of them.
type neonTree struct {
	*neonSelect
	dim int
}

func treeNEON(file *neon.File) {
	for _, wide := range []bool{false, true} {
		for _, dim := range []int{2, 3, 0} {
			treeBoxesNEON(file, wide, dim)
			treeFilterNEON(file, wide, dim)
			treeScanNEON(file, wide, dim, false)
			treeScanNEON(file, wide, dim, true)
		}
		treePartitionNEON(file, wide)
	}
}

// newNEONTree starts a function; T in its signature stands for the type of the elements.
func newNEONTree(file *neon.File, wide bool, dim int, name, signature, doc string) *neonTree {
	name += treeSuffix(dim) + map[bool]string{false: "F32", true: "F64"}[wide] + "NEON"
	if dim == 0 {
		signature += ", dim int"
	}
	return &neonTree{newNEONSelect(file, name, fmt.Sprintf(signature, goFloat(wide))+") (count int)", name+" "+doc, wide), dim}
}

// splats loads count elements from p on into all lanes of a register each.
func (t *neonTree) splats(p neon.R, count int) []neon.Vec {
	var xs []neon.Vec
	for range count {
		x := t.V(1)
		t.SplatAt(x, p, t.wide)
		t.Text("ADD $%d, %v", 1<<t.shift(), p)
		xs = append(xs, x)
	}
	return xs
}

// vectors writes a loop over n elements, which it consumes: whole vectors, then the rest, whose number is in left. Labels are
// fresh each time.
func (t *neonTree) vectors(n neon.R, body func(left neon.R, tail bool)) {
	loop, rest, done := t.NewLabel("vectors"), t.NewLabel("few"), t.NewLabel("over")
	t.Text("SUBS $%d, %v", t.lanes(), n)
	t.Text("BLT %s", rest)
	t.Counted(loop, t.lanes(), "points", func() {
		body(n, false)
		t.Text("SUBS $%d, %v", t.lanes(), n)
		t.Text("BGE %s", loop)
	})
	t.Label(rest)
	t.Text("ADDS $%d, %v", t.lanes(), n)
	t.Text("BEQ %s", done)
	body(n, true)
	t.Label(done)
}

// hits turns a mask into bits, of a tail only those of lanes that exist, and leaves to the label if there are none.
func (t *neonTree) hits(mask neon.Vec, left neon.R, tail bool, none string) neon.R {
	r := t.maskBits(mask)
	if tail {
		t.existing(r, left)
	}
	t.Text("CBZ %v, %s", r, none)
	return r
}

// existing clears the bits from left on.
func (t *neonTree) existing(bits, left neon.R) {
	ones := t.R()
	t.Text("MOVD $-1, %v", ones)
	t.Text("LSL %v, %v, %v", left, ones, ones)
	t.Text("BIC %v, %v, %v", ones, bits, bits)
	t.FreeR(ones)
}

// axes calls body for each axis, with pointers that advance by their strides: unrolled for 2 and 3 axes, else a loop. A stride
// of 0 is one element.
func (t *neonTree) axes(pointers, strides []neon.R, body func(a int, p []neon.R)) {
	p := make([]neon.R, len(pointers))
	for i := range p {
		p[i] = t.R()
		t.Text("MOVD %v, %v", pointers[i], p[i])
	}
	next := func() {
		for i := range p {
			if strides[i] == neon.Zero {
				t.Text("ADD $%d, %v", 1<<t.shift(), p[i])
			} else {
				t.Text("ADD %v, %v", strides[i], p[i])
			}
		}
	}
	if t.dim > 0 {
		for a := range t.dim {
			body(a, p)
			if a < t.dim-1 {
				next()
			}
		}
	} else {
		axis, n := t.NewLabel("axis"), t.R()
		t.LoadArg(n, "dim")
		t.Label(axis)
		body(0, p)
		next()
		t.Text("SUBS $1, %v", n)
		t.Text("BNE %s", axis)
		t.FreeR(n)
	}
	t.FreeR(p...)
}

// addTo adds x² to a sum that is 0 before the first axis; x is used up.
func (t *neonTree) addTo(sum, x neon.Vec) {
	if t.wide {
		t.MulD(x, x, x)
		t.AddD(sum, sum, x)
	} else {
		t.Mul(x, x, x)
		t.Add(sum, sum, x)
	}
	t.Free(x)
}

// zero is a new register of zeros.
func (t *neonTree) zero() neon.Vec {
	x := t.V(1)
	t.Clear(x)
	return x
}

// treeScanNEON compares each query with all points, and stores those within or counts them.
func treeScanNEON(file *neon.File, wide bool, dim int, count bool) {
	name, outputs, doc := "treeScan", "index *int32, dist2 *%[1]s, end, id *int32, ",
		"finds the points of each query and returns how many there are."
	if count {
		name, outputs, doc = "treeCount", "counts *int32, ", "counts the points of each query and returns the last one's."
	}
	signature := "(" + outputs + "q *%[1]s, ldq, nq int, c *%[1]s, ldc, nc int, r2 *%[1]s, stepR2 int"
	if dim == 0 {
		signature += ", period *%[1]s"
	}
	t := newNEONTree(file, wide, dim, name, signature, doc)
	var index, dist2, end, id, first, total, counts neon.R
	if count {
		counts, total = t.Arg("counts"), t.R()
	} else {
		index, dist2, end, first = t.Arg("index"), t.Arg("dist2"), t.Arg("end"), t.R()
		t.Text("MOVD %v, %v", index, first)
		id = t.R()
	}
	q, ldq, nq, ldc := t.Arg("q"), t.bytes(t.Arg("ldq")), t.Arg("nq"), t.bytes(t.Arg("ldc"))
	c, left, r2, step := t.R(), t.R(), t.Arg("r2"), t.bytes(t.Arg("stepR2"))
	limit := t.V(1)
	t.Label("query")
	t.SplatAt(limit, r2, wide)
	t.Text("ADD %v, %v", step, r2)
	t.LoadArg(c, "c")
	t.LoadArg(left, "nc")
	if count {
		t.Text("MOVD ZR, %v", total)
	} else {
		t.LoadArg(id, "id")
	}
	var place []neon.Vec
	if dim > 0 {
		t.axes([]neon.R{q}, []neon.R{ldq}, func(_ int, p []neon.R) {
			x := t.V(1)
			t.SplatAt(x, p[0], wide)
			place = append(place, x)
		})
	}
	t.vectors(left, func(left neon.R, tail bool) {
		sum := t.zero()
		if dim > 0 {
			t.axes([]neon.R{c}, []neon.R{ldc}, func(a int, p []neon.R) {
				x := t.load(p[0], left, tail)
				d := t.sub(x, place[a])
				t.Free(x)
				t.addTo(sum, d)
			})
		} else {
			period := t.R()
			t.LoadArg(period, "period")
			t.axes([]neon.R{c, q, period}, []neon.R{ldc, ldq, neon.Zero}, func(_ int, p []neon.R) {
				x, y := t.load(p[0], left, tail), t.V(1)
				t.SplatAt(y, p[1], wide)
				diff := t.sub(x, y)
				d := t.abs(diff)
				t.SplatAt(y, p[2], wide)
				t.Free(x, diff)
				round := t.sub(d, y)
				other := t.abs(round)
				nearer := t.less(other, d)
				t.Insert(d, other, nearer)
				t.Free(y, round, other, nearer)
				t.addTo(sum, d)
			})
			t.FreeR(period)
		}
		none := t.NewLabel("none")
		hits := t.hits(t.less(sum, limit), left, tail, none)
		p := t.packing(hits)
		if count {
			t.Text("ADD %v, %v", p.count, total)
		} else {
			ids := t.loadIDs(id, left, tail)
			p.storeIDs(ids, index)
			p.store(sum, dist2)
			p.advanceIDs(index)
			p.advance(dist2)
			t.Free(ids)
		}
		p.free()
		t.Free(sum)
		t.Label(none)
		t.Text("ADD $16, %v", c)
		if !count {
			t.Text("ADD $%d, %v", 4*t.lanes(), id)
		}
	})
	if count {
		t.Text("MOVW.P %v, 4(%v)", total, counts)
		t.Text("MOVD %v, %v", total, left)
	} else {
		t.Text("SUB %v, %v, %v", first, index, left)
		t.Text("LSR $2, %v, %v", left, left)
		t.Text("MOVW.P %v, 4(%v)", left, end)
	}
	t.Text("ADD $%d, %v", 1<<t.shift(), q)
	t.Text("SUBS $1, %v", nq)
	t.Text("BNE query")
	t.ReturnR("count", left)
}

// treeFilterNEON keeps the points of some runs that are near a box.
func treeFilterNEON(file *neon.File, wide bool, dim int) {
	t := newNEONTree(file, wide, dim, "treeFilter",
		"(out *%s, ldo int, dist2 *%[1]s, outID *int32, c *%[1]s, ldc int, id, from, to *int32, nruns int, box *%[1]s, r2 %[1]s",
		"keeps the points of the runs that are near the box and returns how many.")
	out, ldo, dist2, outID, ldc := t.Arg("out"), t.bytes(t.Arg("ldo")), t.Arg("dist2"), t.Arg("outID"), t.bytes(t.Arg("ldc"))
	from, to, runs, box := t.Arg("from"), t.Arg("to"), t.Arg("nruns"), t.Arg("box")
	limit := t.float("r2")
	first, c, id, left := t.R(), t.R(), t.R(), t.R()
	t.Text("MOVD %v, %v", outID, first)
	var bounds []neon.Vec
	if dim > 0 {
		bounds = t.splats(box, 2*dim)
	}
	t.Label("run")
	at := t.R()
	t.Text("MOVW.P 4(%v), %v", from, at)
	t.Text("MOVW.P 4(%v), %v", to, left)
	t.Text("SUB %v, %v", at, left)
	t.LoadArg(c, "c")
	t.LoadArg(id, "id")
	t.Text("ADD %v<<%d, %v, %v", at, t.shift(), c, c)
	t.Text("ADD %v<<2, %v, %v", at, id, id)
	t.FreeR(at)
	t.vectors(left, func(left neon.R, tail bool) {
		sum, xs := t.zero(), make([]neon.Vec, dim)
		if dim > 0 {
			t.axes([]neon.R{c}, []neon.R{ldc}, func(a int, p []neon.R) {
				xs[a] = t.load(p[0], left, tail)
				t.addTo(sum, t.outside(xs[a], bounds[2*a], bounds[2*a+1]))
			})
		} else {
			t.axes([]neon.R{c, box}, []neon.R{ldc, neon.Zero}, func(_ int, p []neon.R) {
				x, lo, hi := t.load(p[0], left, tail), t.V(1), t.V(1)
				t.SplatAt(lo, p[1], wide)
				t.Text("ADD $%d, %v", 1<<t.shift(), p[1])
				t.SplatAt(hi, p[1], wide)
				t.addTo(sum, t.outside(x, lo, hi))
				t.Free(x, lo, hi)
			})
		}
		none := t.NewLabel("none")
		p := t.packing(t.hits(t.less(sum, limit), left, tail, none))
		t.axes([]neon.R{c, out}, []neon.R{ldc, ldo}, func(a int, row []neon.R) {
			if dim > 0 {
				p.store(xs[a], row[1])
				t.Free(xs[a])
				return
			}
			x := t.load(row[0], left, tail)
			p.store(x, row[1])
			t.Free(x)
		})
		p.store(sum, dist2)
		ids := t.loadIDs(id, left, tail)
		p.storeIDs(ids, outID)
		p.advance(out)
		p.advance(dist2)
		p.advanceIDs(outID)
		t.Free(sum, ids)
		p.free()
		t.Label(none)
		t.Text("ADD $16, %v", c)
		t.Text("ADD $%d, %v", 4*t.lanes(), id)
	})
	t.Text("SUBS $1, %v", runs)
	t.Text("BNE run")
	t.Text("SUB %v, %v, %v", first, outID, first)
	t.Text("LSR $2, %v, %v", first, first)
	t.ReturnR("count", first)
}

// outside is the distance of x from an interval: x - max(min(x, hi), lo).
func (t *neonTree) outside(x, lo, hi neon.Vec) neon.Vec {
	below := t.min(x, hi)
	within := t.max(below, lo)
	d := t.sub(x, within)
	t.Free(below, within)
	return d
}

// treeBoxesNEON keeps the runs of points whose bounding box is near a box. An axis adds the square of max(least - hi, lo - greatest, 0).
func treeBoxesNEON(file *neon.File, wide bool, dim int) {
	t := newNEONTree(file, wide, dim, "treeBoxes",
		"(outFrom, outTo *int32, boxes *%s, ld int, from, to *int32, n int, box *%[1]s, r2 %[1]s",
		"keeps the runs whose box is near the box and returns how many.")
	outFrom, outTo, boxes, ld := t.Arg("outFrom"), t.Arg("outTo"), t.Arg("boxes"), t.bytes(t.Arg("ld"))
	from, to, n, box := t.Arg("from"), t.Arg("to"), t.Arg("n"), t.Arg("box")
	limit, zero, first, twice := t.float("r2"), t.zero(), t.R(), t.R()
	t.Text("MOVD %v, %v", outFrom, first)
	t.Text("LSL $1, %v, %v", ld, twice)
	var bounds []neon.Vec
	if dim > 0 {
		bounds = t.splats(box, 2*dim)
	}
	t.vectors(n, func(left neon.R, tail bool) {
		sum, greatest := t.zero(), t.R()
		gap := func(least, lo, hi neon.Vec) {
			most := t.load(greatest, left, tail)
			above, below := t.sub(least, hi), t.sub(lo, most)
			outer := t.max(above, below)
			d := t.max(outer, zero)
			t.Free(least, most, above, below, outer)
			t.addTo(sum, d)
		}
		if dim > 0 {
			t.axes([]neon.R{boxes}, []neon.R{twice}, func(a int, p []neon.R) {
				t.Text("ADD %v, %v, %v", ld, p[0], greatest)
				gap(t.load(p[0], left, tail), bounds[2*a], bounds[2*a+1])
			})
		} else {
			t.axes([]neon.R{boxes, box}, []neon.R{twice, neon.Zero}, func(_ int, p []neon.R) {
				t.Text("ADD %v, %v, %v", ld, p[0], greatest)
				lo, hi := t.V(1), t.V(1)
				t.SplatAt(lo, p[1], wide)
				t.Text("ADD $%d, %v", 1<<t.shift(), p[1])
				t.SplatAt(hi, p[1], wide)
				gap(t.load(p[0], left, tail), lo, hi)
				t.Free(lo, hi)
			})
		}
		t.FreeR(greatest)
		none := t.NewLabel("none")
		p := t.packing(t.hits(t.less(sum, limit), left, tail, none))
		t.Free(sum)
		for _, x := range []struct{ from, to neon.R }{{from, outFrom}, {to, outTo}} {
			ids := t.loadIDs(x.from, left, tail)
			p.storeIDs(ids, x.to)
			p.advanceIDs(x.to)
			t.Free(ids)
		}
		p.free()
		t.Label(none)
		t.Text("ADD $16, %v", boxes)
		t.Text("ADD $%d, %v", 4*t.lanes(), from)
		t.Text("ADD $%d, %v", 4*t.lanes(), to)
	})
	t.Text("SUB %v, %v, %v", first, outFrom, first)
	t.Text("LSR $2, %v, %v", first, first)
	t.ReturnR("count", first)
}

// treePartitionNEON splits the columns of a matrix by a row of it, the key: those with key < pivot move to the front, the others to
// scratch, both in their order. A store to the front never reaches what is not yet read, and of the last few columns stores no
// more than there are. A row of a vector takes 10 instructions.
func treePartitionNEON(file *neon.File, wide bool) {
	t := newNEONTree(file, wide, -1, "treePartition",
		"(x *%s, ldx, rows int, scratch *%[1]s, lds int, key *%[1]s, n int, pivot %[1]s",
		"moves the columns with key < pivot of x to the front and the others to scratch, which has room\nfor a vector "+
			"more, and returns how many are in front.")
	x, ldx, rows, scratch, lds := t.Arg("x"), t.bytes(t.Arg("ldx")), t.Arg("rows"), t.Arg("scratch"), t.bytes(t.Arg("lds"))
	key, n, pivot := t.Arg("key"), t.Arg("n"), t.float("pivot")
	front, first := t.R(), t.R()
	t.Text("MOVD %v, %v", x, front)
	t.Text("MOVD %v, %v", x, first)
	t.vectors(n, func(left neon.R, tail bool) {
		k := t.load(key, left, tail)
		kept := t.maskBits(t.less(k, pivot))
		t.Free(k)
		if tail {
			t.existing(kept, left)
		}
		others := t.R()
		t.Text("EOR $%d, %v, %v", 1<<t.lanes()-1, kept, others)
		if tail {
			t.existing(others, left)
		}
		a, b := t.packing(kept), t.packing(others)
		count, px, pf, ps := t.R(), t.R(), t.R(), t.R()
		for _, m := range [][2]neon.R{{rows, count}, {x, px}, {front, pf}, {scratch, ps}} {
			t.Text("MOVD %v, %v", m[0], m[1])
		}
		row := t.NewLabel("row")
		t.Label(row)
		v := t.load(px, left, tail)
		if !tail {
			a.store(v, pf)
		} else {
			a.storeSome(v, pf)
		}
		b.store(v, ps)
		t.Free(v)
		t.Text("ADD %v, %v", ldx, px)
		t.Text("ADD %v, %v", ldx, pf)
		t.Text("ADD %v, %v", lds, ps)
		t.Text("SUBS $1, %v", count)
		t.Text("BNE %s", row)
		a.advance(front)
		b.advance(scratch)
		a.free()
		b.free()
		t.FreeR(count, px, pf, ps)
		t.Text("ADD $16, %v", x)
		t.Text("ADD $16, %v", key)
	})
	t.Text("SUB %v, %v, %v", first, front, first)
	t.Text("LSR $%d, %v, %v", t.shift(), first, first)
	t.ReturnR("count", first)
}

// storeSome packs a vector of elements and stores those that are kept, fewer than a vector has.
func (p *packing) storeSome(x neon.Vec, to neon.R) {
	packed, none, at := p.V(1), p.NewLabel("nothing"), p.R()
	p.Lookup(packed, x, p.elems)
	p.Text("CBZ %v, %s", p.count, none)
	if p.wide {
		p.Text("FMOVD F%d, (%v)", packed[0], to)
	} else {
		p.Text("MOVD %v, %v", to, at)
		p.StorePart(packed[0], at, p.count)
	}
	p.Label(none)
	p.Free(packed)
	p.FreeR(at)
}
