package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// The smallest of some pairs, as smallest_amd64_asm.go has it: keys of 64 bits, read as float64, in a bitonic network.
// Here 32 of them are sorted in sixteen registers of two: element e stands in lane e/16 of register e%16, so that only
// the last merge compares lanes.

// neonSmallest is the kernel while it is written.
type neonSmallest struct{ *neon.Func }

// smallestRegs is how many registers hold a block of keys.
const smallestRegs = 16

func smallestNEON(file *neon.File) {
	for _, blocks := range []int{1, 2} {
		smallestBlocksNEON(file, blocks)
	}
}

// between compares registers in both lanes: the smaller goes to a.
func (s neonSmallest) between(r []neon.Vec, a, b int) {
	least := s.V(1)
	s.MinD(least, r[a], r[b])
	s.MaxD(r[b], r[a], r[b])
	s.Free(r[a])
	r[a] = least
}

// swapped exchanges the lanes of a.
func (s neonSmallest) swapped(a neon.Vec) neon.Vec { return s.upperLower(a, a) }

// upperLower is the upper lane of a, then the lower one of b.
func (s neonSmallest) upperLower(a, b neon.Vec) neon.Vec {
	d := s.V(1)
	s.Text("VEXT $8, V%d.B16, V%d.B16, V%d.B16", b[0], a[0], d[0])
	return d
}

// clean merges what is bitonic in blocks of 2·stride elements.
func (s neonSmallest) clean(r []neon.Vec, stride int) {
	if stride == smallestRegs {
		// Lower against upper lanes, of two registers at a time.
		for i := 0; i < smallestRegs; i += 2 {
			low, high, least := s.V(1), s.V(1), s.V(1)
			s.Zip1(neon.D2, low, r[i], r[i+1])
			s.Zip2(neon.D2, high, r[i], r[i+1])
			s.MinD(least, low, high)
			s.MaxD(high, low, high)
			s.Zip1(neon.D2, r[i], least, high)
			s.Zip2(neon.D2, r[i+1], least, high)
			s.Free(low, high, least)
		}
		stride /= 2
	}
	for ; stride > 0; stride /= 2 {
		for i := range r {
			if i&stride == 0 {
				s.between(r, i, i|stride)
			}
		}
	}
}

// sort sorts a block.
func (s neonSmallest) sort(r []neon.Vec) {
	for size := 2; size <= smallestRegs; size *= 2 {
		for i := range r {
			if j := i ^ (size - 1); i < j {
				s.between(r, i, j)
			}
		}
		s.clean(r, size/4)
	}
	// The mirror image of the lower lane of r[i] is the upper one of r[j], and the other way round: two comparisons by
	// one pair of instructions.
	for i := range smallestRegs / 2 {
		j := smallestRegs - 1 - i
		p, least := s.swapped(r[j]), s.V(1)
		s.MinD(least, r[i], p)
		s.MaxD(p, r[i], p)
		s.Free(r[i], r[j])
		r[j] = s.upperLower(least, p)
		s.Text("VMOV V%d.D[1], V%d.D[1]", p[0], least[0])
		r[i] = least
		s.Free(p)
	}
	s.clean(r, smallestRegs/2)
}

// smallestBlocksNEON writes the kernel for up to 32·blocks results of any number of pairs. Keys that are kept wait on the stack.
func smallestBlocksNEON(file *neon.File, blocks int) {
	const block = 2 * smallestRegs
	name := fmt.Sprintf("smallest%dF32NEON", block*blocks)
	s := neonSmallest{file.Func(name, "(outIndex *int32, outDist2 *float32, index *int32, dist2 *float32, n, k int)",
		fmt.Sprintf("%s stores the k ≤ n smallest of n > 0 pairs, k ≤ %d, ordered by (dist2, index), and up to a vector more.",
			name, block*blocks))}
	s.Slots(smallestRegs * (blocks + 1)) // the last ones are for a part of a block
	keep := func(b int, r []neon.Vec) {
		for i, v := range r {
			s.StoreSlot(v[0], smallestRegs*b+i)
		}
	}
	recall := func(b int) []neon.Vec {
		r := make([]neon.Vec, smallestRegs)
		for i := range r {
			r[i] = s.V(1)
			s.LoadSlot(r[i][0], smallestRegs*b+i)
		}
		return r
	}
	// lesser replaces the block, sorted as the kept one is, by the smaller of each kept key and its mirror image: the 32 smallest of both,
	// bitonic. The larger ones, bitonic too, take the place of block larger, if there is one.
	lesser := func(r []neon.Vec, b, larger int) {
		for i := range smallestRegs / 2 {
			j := smallestRegs - 1 - i
			p, q := s.swapped(r[i]), s.swapped(r[j])
			for _, side := range []struct {
				at    int
				other neon.Vec
			}{{i, q}, {j, p}} {
				old := s.V(1)
				s.LoadSlot(old[0], smallestRegs*b+side.at)
				s.MinD(r[side.at], old, side.other)
				if larger > 0 {
					s.MaxD(old, old, side.other)
					s.StoreSlot(old[0], smallestRegs*larger+side.at)
				}
				s.Free(old)
			}
			s.Free(p, q)
		}
	}

	index, dist2, n := s.Arg("index"), s.Arg("dist2"), s.Arg("n")
	last, tmp := s.V(1), s.R() // beyond every key
	s.Text("MOVD $%#x, %v", math.Float64bits(math.Inf(1)), tmp)
	s.Text("VDUP %v, V%d.D2", tmp, last[0])
	for slot := range smallestRegs * blocks {
		s.StoreSlot(last[0], slot)
	}
	loop, part, pair, loaded, stored := s.NewLabel("loop"), s.NewLabel("part"), s.NewLabel("pair"), s.NewLabel("loaded"),
		s.NewLabel("stored")
	s.Label(loop)
	free := s.Snapshot()
	s.Text("CMP $%d, %v", block, n)
	s.Text("BLT %s", part)
	r := make([]neon.Vec, smallestRegs)
	for i := range r {
		r[i] = s.V(1)
	}
	for i := 0; i < smallestRegs; i += 2 {
		d, j := s.V(1), s.V(1)
		s.Text("FMOVQ %d(%v), F%d", 8*i, dist2, d[0])
		s.Text("FMOVQ %d(%v), F%d", 8*i, index, j[0])
		s.Zip1(neon.S4, r[i], j, d)
		s.Zip2(neon.S4, r[i+1], j, d)
		s.Free(d, j)
	}
	s.Label(loaded)
	first := slices.Clone(r)
	s.sort(r)
	lesser(r, blocks-1, 0)
	s.clean(r, smallestRegs)
	if blocks > 1 {
		lesser(r, 0, 1)
		s.clean(r, smallestRegs)
		keep(0, r)
		s.Free(r...)
		r = recall(1)
		s.clean(r, smallestRegs)
		keep(1, r)
	} else {
		keep(0, r)
	}
	s.Free(r...)
	s.Text("ADD $%d, %v", 4*block, index)
	s.Text("ADD $%d, %v", 4*block, dist2)
	s.Text("SUBS $%d, %v", block, n)
	s.Text("BGT %s", loop)

	outIndex, outDist2, k := s.Arg("outIndex"), s.Arg("outDist2"), s.Arg("k")
	for b := range blocks {
		r := recall(b)
		for _, join := range []func(l neon.Lanes, d, a, b neon.Vec){s.Zip1, s.Zip2} {
			for i := 0; i < smallestRegs; i += 4 {
				a, b, numbers := s.V(1), s.V(1), s.V(1)
				join(neon.D2, a, r[i], r[i+1])
				join(neon.D2, b, r[i+2], r[i+3])
				s.Unzip1(neon.S4, numbers, a, b)
				s.Unzip2(neon.S4, a, a, b)
				s.Text("FMOVQ.P F%d, 16(%v)", numbers[0], outIndex)
				s.Text("FMOVQ.P F%d, 16(%v)", a[0], outDist2)
				s.Free(a, b, numbers)
				s.Text("SUBS $4, %v", k)
				s.Text("BLE %s", stored)
			}
		}
		s.Free(r...)
	}
	s.Label(stored)
	s.Return()

	// The pairs left, fewer than a block, one at a time into slots that are full of what is beyond every key.
	s.Label(part)
	free()
	at, left, d, j := s.R(), s.R(), s.R(), s.R()
	for slot := range smallestRegs {
		s.StoreSlot(last[0], smallestRegs*blocks+slot)
	}
	s.Text("ADD $%d, RSP, %v", 16+16*smallestRegs*blocks, at)
	s.Text("MOVD %v, %v", n, left)
	s.Label(pair)
	s.Text("MOVWU.P 4(%v), %v", index, j)
	s.Text("MOVWU.P 4(%v), %v", dist2, d)
	s.Text("ORR %v<<32, %v, %v", d, j, j)
	s.Text("MOVD.P %v, 8(%v)", j, at)
	s.Text("SUBS $1, %v", left)
	s.Text("BGT %s", pair)
	for i := range smallestRegs {
		s.LoadSlot(first[i][0], smallestRegs*blocks+i)
	}
	s.Text("B %s", loaded)
}
