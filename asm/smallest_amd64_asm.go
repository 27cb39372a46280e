package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The smallest of some pairs (squared distance, number), in order. A pair becomes a key of 64 bits, the distance's above the
// number's: a float32 that is not negative is ordered like its bits, and ties go to the lower number. Read as a float64, a key
// is a positive finite number of the same order. Both vector ports compute minima of float64, which they do not of 64-bit integers.
//
// Keys are sorted by a bitonic network. Element e of L·R stands in lane e/R of register e%R, L to a register, so that
// partners which differ in a low bit stand in the same lane of two registers: two instructions for eight pairs.
// Partners in other lanes of a register cost a permutation as well. Each merge starts by comparing every element with
// its mirror image (e with its complement), so that no part has to be sorted in descending order. Sorting 64 keys takes
// 15 steps between registers and 6 between lanes with eight lanes.

// smallestKernel is the kernel while it is written.
type smallestKernel struct {
	fn      *x86.Func
	regs    int
	odd     map[int]reg.Register // AVX-512, by lane bit: the lanes that have it
	reverse reg.VecVirtual       // a permutation
}

func smallestAMD64(f *x86.File) {
	for _, regs := range []int{4, 8} {
		smallest(f, regs)
	}
	for _, blocks := range []int{1, 2} {
		smallestAVX2(f, blocks)
	}
}

// lanes is how many keys a register holds.
func (s *smallestKernel) lanes() int { return s.fn.Level.Bytes() / 8 }

// between compares registers in every lane: the smaller goes to a.
func (s *smallestKernel) between(r []reg.VecVirtual, a, b int) {
	least := s.fn.Vec()
	s.fn.VMINPD(r[b], r[a], least)
	s.fn.VMAXPD(r[b], r[a], r[b])
	r[a] = least
}

// partner returns the register with lanes exchanged: lane i gets lane i ^ mask.
func (s *smallestKernel) partner(r reg.VecVirtual, mask int) reg.VecVirtual {
	p := s.fn.Vec()
	switch mask {
	case 1:
		s.fn.VPERMILPD(operand.U8(0x55&(1<<s.lanes()-1)), r, p)
	case 2:
		s.fn.VPERMPD(operand.U8(0x4e), r, p)
	case 3:
		s.fn.VPERMPD(operand.U8(0x1b), r, p)
	case 4:
		s.fn.VSHUFF64X2(operand.U8(0x4e), r, r, p)
	case 7:
		s.fn.VPERMPD(r, s.reverse, p)
	}
	return p
}

// across compares each register with other, whose lanes are exchanged already: the larger goes where the lane has the bit.
func (s *smallestKernel) across(r, other reg.VecVirtual, bit int) reg.VecVirtual {
	least := s.fn.Vec()
	s.fn.VMINPD(other, r, least)
	if s.fn.Level == x86.AVX512 {
		s.fn.VMAXPD(other, r, s.odd[bit], least)
		return least
	}
	most := s.fn.Vec()
	s.fn.VMAXPD(other, r, most)
	s.fn.VBLENDPD(operand.U8(map[int]uint8{1: 0xa, 2: 0xc}[bit]), most, least, least)
	return least
}

// clean merges what is bitonic in blocks of 2·stride elements.
func (s *smallestKernel) clean(r []reg.VecVirtual, stride int) {
	for ; stride > 0; stride /= 2 {
		if lanes := stride / s.regs; lanes > 0 {
			for i := range r {
				r[i] = s.across(r[i], s.partner(r[i], lanes), lanes)
			}
			continue
		}
		for i := range r {
			if i&stride == 0 {
				s.between(r, i, i|stride)
			}
		}
	}
}

// sort sorts all elements.
func (s *smallestKernel) sort(r []reg.VecVirtual) {
	for size := 2; size <= s.lanes()*s.regs; size *= 2 {
		if lanes := size / s.regs; lanes > 1 {
			for i := range s.regs / 2 {
				j := s.regs - 1 - i
				p, q := s.partner(r[i], lanes-1), s.partner(r[j], lanes-1)
				r[i], r[j] = s.across(r[i], q, lanes/2), s.across(r[j], p, lanes/2)
			}
		} else {
			for i := range r {
				if j := i ^ (size - 1); i < j {
					s.between(r, i, j)
				}
			}
		}
		s.clean(r, size/4)
	}
}

// transpose returns the elements in order, eight to a register.
func (s *smallestKernel) transpose(r []reg.VecVirtual) []reg.VecVirtual {
	// Neighbouring elements side by side, those of even lanes and those of odd ones.
	var low, high []reg.VecVirtual
	for i := 0; i < s.regs; i += 2 {
		l, h := s.fn.ZMM(), s.fn.ZMM()
		s.fn.VUNPCKLPD(r[i+1], r[i], l)
		s.fn.VUNPCKHPD(r[i+1], r[i], h)
		low, high = append(low, l), append(high, h)
	}
	shuffle := func(imm uint8, a, b reg.VecVirtual) reg.VecVirtual {
		v := s.fn.ZMM()
		s.fn.VSHUFF64X2(operand.U8(imm), b, a, v)
		return v
	}
	// quarters turns four registers of four blocks around.
	quarters := func(a []reg.VecVirtual) [4]reg.VecVirtual {
		t0, t1 := shuffle(0x88, a[0], a[1]), shuffle(0xdd, a[0], a[1])
		t2, t3 := shuffle(0x88, a[2], a[3]), shuffle(0xdd, a[2], a[3])
		return [4]reg.VecVirtual{shuffle(0x88, t0, t2), shuffle(0x88, t1, t3), shuffle(0xdd, t0, t2), shuffle(0xdd, t1, t3)}
	}
	if s.regs == 4 {
		q := quarters(append(low, high...))
		return q[:]
	}
	even, odd := quarters(low), quarters(high)
	var out []reg.VecVirtual
	for i := range even {
		out = append(out, even[i], odd[i])
	}
	return out
}

// smallest writes the kernel for up to 8·regs results. With 8 registers it takes any number of pairs, 64 at a time; with 4 no
// more than 32.
func smallest(f *x86.File, regs int) {
	name, doc := "treeSmallest32F32", "n ≤ 32"
	if regs == 8 {
		name, doc = "treeSmallest64F32", "k ≤ 64"
	}
	s := &smallestKernel{fn: f.Func(x86.AVX512, x86.F32, name,
		"func(outIndex *int32, outDist2 *float32, index *int32, dist2 *float32, n int, k int)",
		"stores the k ≤ n smallest of n > 0 pairs, "+doc+", ordered by (dist2, index), and up to a vector more."), regs: regs,
		odd: map[int]reg.Register{}}
	index, dist2, n := s.fn.Arg("index"), s.fn.Arg("dist2"), s.fn.Arg("n")
	for _, bit := range []int{1, 2, 4} {
		k, r := s.fn.K(), s.fn.GP32()
		s.fn.MOVL(operand.U32(map[int]uint32{1: 0xaa, 2: 0xcc, 4: 0xf0}[bit]), r)
		s.fn.KMOVW(r, k)
		s.odd[bit] = k
	}
	s.reverse = s.fn.ZMM()
	var lanes []uint64
	for i := range 8 {
		lanes = append(lanes, uint64(7-i), 0) // 64-bit indices in a table of 32-bit numbers
	}
	s.fn.VMOVUPD(s.fn.Data("treeReverse", lanes...), s.reverse)
	last := s.fn.ZMM() // beyond every key
	high := s.fn.GP64()
	s.fn.MOVQ(operand.U64(math.Float64bits(math.Inf(1))), high)
	s.fn.VPBROADCASTQ(high, last)

	// load reads up to 8·regs pairs of those left, and puts last where there are none.
	load := func() []reg.VecVirtual {
		var r []reg.VecVirtual
		have := s.fn.GP64()
		s.fn.MOVQ(n, have)
		for i := range regs {
			// The lanes that exist: n - 8i, cut to 0 .. 8.
			count, zero, ones, k := s.fn.GP64(), s.fn.GP64(), s.fn.GP64(), s.fn.K()
			s.fn.XORQ(zero, zero)
			s.fn.MOVQ(have, count)
			s.fn.SUBQ(operand.U8(8*i), count)
			s.fn.CMOVQLT(zero, count)
			s.fn.MOVQ(operand.I32(0xff), ones)
			s.fn.CMPQ(count, operand.U8(8))
			full := s.fn.GP64()
			s.fn.MOVQ(operand.I32(8), full)
			s.fn.CMOVQGT(full, count)
			s.fn.BZHIQ(count, ones, ones)
			s.fn.KMOVW(ones.As32(), k)
			d, j, key := s.fn.YMM(), s.fn.YMM(), s.fn.ZMM()
			s.fn.VMOVDQU32_Z(operand.Mem{Base: dist2, Disp: 32 * i}, k, d)
			s.fn.VMOVDQU32_Z(operand.Mem{Base: index, Disp: 32 * i}, k, j)
			low := s.fn.ZMM()
			s.fn.VPMOVZXDQ(d, key)
			s.fn.VPMOVZXDQ(j, low)
			s.fn.VPSLLQ(operand.U8(32), key, key)
			s.fn.VPORQ(low, key, key)
			v := s.fn.ZMM()
			s.fn.VMOVAPD(last, v)
			s.fn.VMOVAPD(key, k, v)
			r = append(r, v)
		}
		return r
	}
	r := load()
	s.sort(r)
	if regs == 8 {
		// Fixed registers for what is kept while the next pairs are sorted.
		kept := make([]reg.VecVirtual, regs)
		for i := range kept {
			kept[i] = s.fn.ZMM()
			s.fn.VMOVAPD(r[i], kept[i])
		}
		loop, done := s.fn.NewLabel("loop"), s.fn.NewLabel("sorted")
		s.fn.Label(loop)
		s.fn.ADDQ(operand.U32(32*regs), index)
		s.fn.ADDQ(operand.U32(32*regs), dist2)
		s.fn.SUBQ(operand.U8(8*regs), n)
		s.fn.JLE(operand.LabelRef(done))
		next := load()
		s.sort(next)
		// The smaller of each and its mirror image are the 64 smallest, and bitonic.
		merged := make([]reg.VecVirtual, regs)
		for i := range merged {
			merged[i] = s.fn.ZMM()
			s.fn.VMINPD(s.partner(next[regs-1-i], 7), kept[i], merged[i])
		}
		s.clean(merged, 4*regs)
		for i := range kept {
			s.fn.VMOVAPD(merged[i], kept[i])
		}
		s.fn.JMP(operand.LabelRef(loop))
		s.fn.Label(done)
		r = kept
	}
	outIndex, outDist2, k := s.fn.Arg("outIndex"), s.fn.Arg("outDist2"), s.fn.Arg("k")
	stored := s.fn.NewLabel("stored")
	for i, key := range s.transpose(r) {
		j, d := s.fn.YMM(), s.fn.YMM()
		s.fn.VPMOVQD(key, j)
		s.fn.VPSRLQ(operand.U8(32), key, key)
		s.fn.VPMOVQD(key, d)
		s.fn.VMOVDQU(j, operand.Mem{Base: outIndex, Disp: 32 * i})
		s.fn.VMOVDQU(d, operand.Mem{Base: outDist2, Disp: 32 * i})
		s.fn.SUBQ(operand.U8(8), k)
		s.fn.JLE(operand.LabelRef(stored))
	}
	s.fn.Label(stored)
	s.fn.End()
}

// smallestAVX2 writes the kernel for up to 32·blocks results of any number of pairs. Eight registers hold the 32 keys
// being sorted, and eight more the lanes being exchanged. So the keys that are kept stay in memory, in blocks of 32.
func smallestAVX2(f *x86.File, blocks int) {
	const regs, block = 8, 32
	s := &smallestKernel{fn: f.Func(x86.AVX2, x86.F32, fmt.Sprintf("treeSmallest%dF32", block*blocks),
		"func(outIndex *int32, outDist2 *float32, index *int32, dist2 *float32, n int, k int)",
		fmt.Sprintf("stores the k ≤ n smallest of n > 0 pairs, k ≤ %d, ordered by (dist2, index), and up to a vector more.",
			block*blocks)), regs: regs}
	index, dist2, n := s.fn.Arg("index"), s.fn.Arg("dist2"), s.fn.Arg("n")
	kept := s.fn.AllocLocal(8 * block * blocks)
	place := func(b, i int) operand.Mem { return kept.Offset(8 * (block*b + 4*i)) }
	keep := func(b int, r []reg.VecVirtual) {
		for i := range r {
			s.fn.VMOVUPD(r[i], place(b, i))
		}
	}
	recall := func(b int) []reg.VecVirtual {
		r := make([]reg.VecVirtual, regs)
		for i := range r {
			r[i] = s.fn.YMM()
			s.fn.VMOVUPD(place(b, i), r[i])
		}
		return r
	}
	// lesser replaces the block, sorted as the kept one is, by the smaller of each kept key and its mirror image: the 32 smallest of both,
	// bitonic. The larger ones, bitonic too, take the place of block larger, if there is one.
	lesser := func(r []reg.VecVirtual, b, larger int) {
		for i := range regs / 2 {
			j := regs - 1 - i
			p, q := s.partner(r[i], 3), s.partner(r[j], 3)
			r[i], r[j] = s.fn.YMM(), s.fn.YMM()
			s.fn.VMINPD(place(b, i), q, r[i])
			s.fn.VMINPD(place(b, j), p, r[j])
			if larger > 0 {
				s.fn.VMAXPD(place(b, i), q, q)
				s.fn.VMAXPD(place(b, j), p, p)
				s.fn.VMOVUPD(q, place(larger, i))
				s.fn.VMOVUPD(p, place(larger, j))
			}
		}
	}

	// Nothing is kept at first.
	infinity := s.fn.Data("treeLast", 0, math.Float64bits(math.Inf(1))>>32)
	last := s.fn.YMM() // beyond every key
	s.fn.VBROADCASTSD(infinity, last)
	for b := range blocks {
		for i := range regs {
			s.fn.VMOVUPD(last, place(b, i))
		}
	}
	loop, part, loaded, done := s.fn.NewLabel("loop"), s.fn.NewLabel("part"), s.fn.NewLabel("loaded"), s.fn.NewLabel("sorted")
	s.fn.Label(loop)
	r := make([]reg.VecVirtual, regs)
	for i := range r {
		r[i] = s.fn.YMM()
	}
	s.fn.CMPQ(n, operand.U8(block))
	s.fn.JL(operand.LabelRef(part))
	key := func(low, r reg.VecVirtual) {
		s.fn.VPSLLQ(operand.U8(32), r, r)
		s.fn.VPOR(low, r, r)
	}
	for i := range r {
		low := s.fn.YMM()
		s.fn.VPMOVZXDQ(operand.Mem{Base: dist2, Disp: 16 * i}, r[i])
		s.fn.VPMOVZXDQ(operand.Mem{Base: index, Disp: 16 * i}, low)
		key(low, r[i])
	}
	s.fn.JMP(operand.LabelRef(loaded))
	s.fn.Label(part)
	left := s.fn.XMM()
	s.fn.VMOVD(n.As32(), left)
	s.fn.VPBROADCASTD(left, left)
	for i := range r {
		have, low := s.fn.YMM(), s.fn.YMM()
		lanes := s.fn.Data(fmt.Sprintf("treeLanes%d", 4*i), uint64(4*i), uint64(4*i+1), uint64(4*i+2), uint64(4*i+3))
		s.fn.VPCMPGTD(lanes, left, have.AsX())
		s.fn.VPMASKMOVD(operand.Mem{Base: dist2, Disp: 16 * i}, have.AsX(), r[i].AsX())
		s.fn.VPMASKMOVD(operand.Mem{Base: index, Disp: 16 * i}, have.AsX(), low.AsX())
		s.fn.VPMOVZXDQ(r[i].AsX(), r[i])
		s.fn.VPMOVZXDQ(low.AsX(), low)
		key(low, r[i])
		s.fn.VPMOVSXDQ(have.AsX(), have)
		end := s.fn.YMM()
		s.fn.VBROADCASTSD(infinity, end)
		s.fn.VBLENDVPD(have, r[i], end, r[i])
	}
	s.fn.Label(loaded)
	s.sort(r)
	lesser(r, blocks-1, 0)
	s.clean(r, block/2)
	if blocks > 1 {
		lesser(r, 0, 1)
		s.clean(r, block/2)
		keep(0, r)
		upper := recall(1)
		s.clean(upper, block/2)
		keep(1, upper)
	} else {
		keep(0, r)
	}
	s.fn.ADDQ(operand.U32(4*block), index)
	s.fn.ADDQ(operand.U32(4*block), dist2)
	s.fn.SUBQ(operand.U8(block), n)
	s.fn.JG(operand.LabelRef(loop))
	outIndex, outDist2, k := s.fn.Arg("outIndex"), s.fn.Arg("outDist2"), s.fn.Arg("k")
	for b := range blocks {
		for i, key := range s.inOrder(recall(b)) {
			high, out := s.fn.XMM(), s.fn.XMM()
			s.fn.VEXTRACTF128(operand.U8(1), key, high)
			s.fn.VSHUFPS(operand.U8(0x88), high, key.AsX(), out)
			s.fn.VSHUFPS(operand.U8(0xdd), high, key.AsX(), high)
			at := 4 * (block*b + 4*i)
			s.fn.VMOVUPS(out, operand.Mem{Base: outIndex, Disp: at})
			s.fn.VMOVUPS(high, operand.Mem{Base: outDist2, Disp: at})
			s.fn.SUBQ(operand.U8(4), k)
			s.fn.JLE(operand.LabelRef(done))
		}
	}
	s.fn.Label(done)
	s.fn.End()
}

// inOrder is transpose for registers of four.
func (s *smallestKernel) inOrder(r []reg.VecVirtual) []reg.VecVirtual {
	out := make([]reg.VecVirtual, len(r))
	for half := range 2 {
		low, high := [2]reg.VecVirtual{}, [2]reg.VecVirtual{} // of lanes 0 and 2, and of lanes 1 and 3
		for i := range low {
			a, b := r[4*half+2*i], r[4*half+2*i+1]
			low[i], high[i] = s.fn.YMM(), s.fn.YMM()
			s.fn.VUNPCKLPD(b, a, low[i])
			s.fn.VUNPCKHPD(b, a, high[i])
		}
		for lane := range 4 {
			pair := [2][2]reg.VecVirtual{low, high}[lane%2]
			t := s.fn.YMM()
			s.fn.VPERM2F128(operand.U8([2]uint8{0x20, 0x31}[lane/2]), pair[1], pair[0], t)
			out[2*lane+half] = t
		}
	}
	return out
}
