package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// Kernels that select compute a condition per lane and store the lanes that meet it side by side. NEON has no store
// that compresses: the mask is turned into a number, by one bit per lane and a sum across lanes; the number selects a
// row of a table, and by that row a table lookup packs the lanes. Stores are of whole registers, so a destination must
// have room for a whole register behind its last result.

// neonSelect is a kernel of that kind while it is written, for float32, or float64 if wide.
type neonSelect struct {
	*neon.Func
	wide   bool
	weight neon.Vec // lane i has bit i
	table  neon.R   // a row for each mask
}

// selectRow is the binary logarithm of a row's size. A row begins with the bytes that pack the elements. Where elements
// are wide, 8 bytes follow that pack as many int32. The last int32 but one is the number of lanes.
const (
	selectRow   = 5
	selectIDs   = 16
	selectCount = 24
)

// newNEONSelect starts a function.
func newNEONSelect(file *neon.File, name, signature, doc string, wide bool) *neonSelect {
	s := &neonSelect{Func: file.Func(name, signature, doc), wide: wide}
	s.table = s.Table("select"+s.suffix(), selectTable(s.lanes())...)
	s.weight = s.V(1)
	s.Text("FMOVQ %d(%v), F%d", 1<<s.lanes()<<selectRow, s.table, s.weight[0])
	return s
}

// selectTable is the table for so many lanes, and after it the register that gives each lane its bit.
func selectTable(lanes int) []neon.Const {
	var cs []neon.Const
	size := 16 / lanes
	// pack lists the bytes of the lanes that are set, and 255, which gives 0, up to n of them.
	pack := func(mask, size, n int) {
		var bytes []byte
		for lane := range lanes {
			for b := 0; mask>>lane&1 == 1 && b < size; b++ {
				bytes = append(bytes, byte(lane*size+b))
			}
		}
		for len(bytes) < n {
			bytes = append(bytes, 255)
		}
		for i := 0; i < n; i += 4 {
			cs = append(cs, neon.Bits(uint32(bytes[i])|uint32(bytes[i+1])<<8|uint32(bytes[i+2])<<16|uint32(bytes[i+3])<<24, ""))
		}
	}
	for mask := range 1 << lanes {
		pack(mask, size, 16)
		if lanes == 2 {
			pack(mask, 4, 8)
		} else {
			cs = append(cs, neon.Bits(0, "unused"), neon.Bits(0, "unused"))
		}
		count := 0
		for m := mask; m > 0; m &= m - 1 {
			count++
		}
		cs = append(cs, neon.Bits(uint32(count), "lanes"), neon.Bits(0, "unused"))
	}
	if lanes == 2 {
		return append(cs, neon.Bits(1, "bits of the lanes"), neon.Bits(0, ""), neon.Bits(2, ""), neon.Bits(0, ""))
	}
	return append(cs, neon.Bits(1, "bits of the lanes"), neon.Bits(2, ""), neon.Bits(4, ""), neon.Bits(8, ""))
}

func (s *neonSelect) suffix() string {
	if s.wide {
		return "F64"
	}
	return "F32"
}

// goFloat is the element's type in Go.
func goFloat(wide bool) string {
	if wide {
		return "float64"
	}
	return "float32"
}

func (s *neonSelect) lanes() int {
	if s.wide {
		return 2
	}
	return 4
}

// shift turns a number of elements into bytes.
func (s *neonSelect) shift() int {
	if s.wide {
		return 3
	}
	return 2
}

// bytes turns a number of elements into bytes.
func (s *neonSelect) bytes(r neon.R) neon.R {
	s.Text("LSL $%d, %v, %v", s.shift(), r, r)
	return r
}

// float loads a parameter into all lanes.
func (s *neonSelect) float(name string) neon.Vec {
	if s.wide {
		return s.SplatD(name)
	}
	return s.Splat(name)
}

// either chooses the instruction for the element.
func (s *neonSelect) either(narrow, wide func(d, a, b neon.Vec), a, b neon.Vec) neon.Vec {
	d := s.V(1)
	if s.wide {
		wide(d, a, b)
	} else {
		narrow(d, a, b)
	}
	return d
}

func (s *neonSelect) add(a, b neon.Vec) neon.Vec { return s.either(s.Add, s.AddD, a, b) }
func (s *neonSelect) sub(a, b neon.Vec) neon.Vec { return s.either(s.Sub, s.SubD, a, b) }
func (s *neonSelect) mul(a, b neon.Vec) neon.Vec { return s.either(s.Mul, s.MulD, a, b) }
func (s *neonSelect) div(a, b neon.Vec) neon.Vec { return s.either(s.Div, s.DivD, a, b) }
func (s *neonSelect) max(a, b neon.Vec) neon.Vec { return s.either(s.Max, s.MaxD, a, b) }
func (s *neonSelect) min(a, b neon.Vec) neon.Vec { return s.either(s.Min, s.MinD, a, b) }

// less is the mask of the lanes with a < b, none if either is NaN.
func (s *neonSelect) less(a, b neon.Vec) neon.Vec { return s.either(s.GT, s.GTD, b, a) }

func (s *neonSelect) abs(a neon.Vec) neon.Vec {
	d := s.V(1)
	if s.wide {
		s.AbsD(d, a)
	} else {
		s.Abs(d, a)
	}
	return d
}

// maskBits puts a bit per lane of a mask into a new register: 3 instructions. The mask is used up.
func (s *neonSelect) maskBits(mask neon.Vec) neon.R {
	r := s.R()
	s.And(mask, mask, s.weight)
	s.SumAcrossInt(r, mask, mask)
	s.Free(mask)
	return r
}

// packing is a row of the table, ready to pack lanes by.
type packing struct {
	*neonSelect
	elems, ids neon.Vec
	count      neon.R // of lanes
}

// packing looks up the mask's row: 3 or 4 instructions. The mask is used up; its register becomes the count.
func (s *neonSelect) packing(mask neon.R) *packing {
	p := &packing{neonSelect: s, elems: s.V(1), count: mask}
	p.ids = p.elems
	s.Text("ADD %v<<%d, %v, %v", mask, selectRow, s.table, mask)
	s.Text("FMOVQ (%v), F%d", mask, p.elems[0])
	if s.wide {
		p.ids = s.V(1)
		s.Text("FMOVD %d(%v), F%d", selectIDs, mask, p.ids[0])
	}
	s.Text("MOVWU %d(%v), %v", selectCount, mask, mask)
	return p
}

// free gives the registers back.
func (p *packing) free() {
	p.Free(p.elems)
	if p.wide {
		p.Free(p.ids)
	}
	p.FreeR(p.count)
}

// store packs a vector of elements and stores it.
func (p *packing) store(x neon.Vec, to neon.R) {
	packed := p.V(1)
	p.Lookup(packed, x, p.elems)
	p.Text("FMOVQ F%d, (%v)", packed[0], to)
	p.Free(packed)
}

// storeIDs packs as many int32 and stores them.
func (p *packing) storeIDs(ids neon.Vec, to neon.R) {
	packed := p.V(1)
	p.Lookup(packed, ids, p.ids)
	if p.wide {
		p.Text("FMOVD F%d, (%v)", packed[0], to)
	} else {
		p.Text("FMOVQ F%d, (%v)", packed[0], to)
	}
	p.Free(packed)
}

// advance moves a pointer to elements past the lanes stored, advanceIDs one to int32.
func (p *packing) advance(to neon.R)    { p.Text("ADD %v<<%d, %v, %v", p.count, p.shift(), to, to) }
func (p *packing) advanceIDs(to neon.R) { p.Text("ADD %v<<2, %v, %v", p.count, to, to) }

// load reads a vector of elements at p; of a tail, the left ones that exist, and zeros. tmp is a register for that.
func (s *neonSelect) load(p, left neon.R, tail bool) neon.Vec {
	x := s.V(1)
	switch {
	case !tail:
		s.Text("FMOVQ (%v), F%d", p, x[0])
	case s.wide:
		s.Text("FMOVD (%v), F%d", p, x[0])
	default:
		s.loadPart(x, p, left)
	}
	return x
}

// loadIDs reads the int32 that belong to a vector.
func (s *neonSelect) loadIDs(p, left neon.R, tail bool) neon.Vec {
	x := s.V(1)
	switch {
	case !tail && s.wide:
		s.Text("FMOVD (%v), F%d", p, x[0])
	case !tail:
		s.Text("FMOVQ (%v), F%d", p, x[0])
	case s.wide:
		s.Text("FMOVS (%v), F%d", p, x[0])
	default:
		s.loadPart(x, p, left)
	}
	return x
}

// loadPart is LoadPart on a copy of the pointer.
func (s *neonSelect) loadPart(x neon.Vec, p, left neon.R) {
	at := s.R()
	s.Text("MOVD %v, %v", p, at)
	s.LoadPart(x[0], at, left)
	s.FreeR(at)
}
