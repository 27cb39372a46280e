package depthwise

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/simd"
)

// Dots is a Orbits for weights in bfloat16, two steps at a time: where the CPU adds up the products
// of pairs of bfloat16 numbers (AVX512_BF16), the two points and the two weights of a lane take one instruction. It is
// only read, by any number of goroutines.
type Dots struct {
	*Orbits
	// pairs holds the groups, as depthwiseOrbitsF32Dots takes them:
	//
	// {pairs, singles, fours, the rows of each four, then for each pair a mask, four points and four points more, for
	// each single a mask and four points}
	//
	// Points are given in bytes.
	pairs []int32
	// uses are the weights in the order of their use, each the number of a pose: for each pair and bit of its mask that
	// of the first step and of the second, then those of the singles.
	uses []int32
}

const (
	dotsHead  = 3                 // numbers before the rows of a group
	dotsPoint = 2 * OrbitChannels // bytes of a point's features
)

// Dots returns the neighbourhood in pairs of steps. It is made once; nil says that it has rows in no four, or more
// points than the kernels can count.
func (p *Orbits) Dots() *Dots {
	p.dotsOnce.Do(func() {
		if len(p.rest) == 0 && p.groups > 0 && p.points <= math.MaxInt32/dotsPoint {
			p.dots = newDots(p)
		}
	})
	return p.dots
}

// newDots brings together steps that follow each other with the same mask.
func newDots(p *Orbits) *Dots {
	d := &Dots{Orbits: p}
	type step struct {
		code []int32
		uses []int32
	}
	var first, second, alone []step
	use := int32(0)
	for code := p.code; len(code) > 0; {
		steps, fours := int(code[0]), int(code[1])
		rows := code[schedule.OrbitHead:][:fours*schedule.OrbitCopies]
		code = code[schedule.OrbitHead+len(rows):]
		first, second, alone = first[:0], second[:0], alone[:0]
		var open step
		for range steps {
			s := step{code: code[:schedule.OrbitStep]}
			for r := range fours {
				if s.code[0]>>r&1 != 0 {
					s.uses = append(s.uses, use)
					use++
				}
			}
			switch {
			case open.code == nil:
				open = s
			case open.code[0] == s.code[0]:
				first, second, open = append(first, open), append(second, s), step{}
			default:
				alone, open = append(alone, open), s
			}
			code = code[schedule.OrbitStep:]
		}
		if open.code != nil {
			alone = append(alone, open)
		}
		d.pairs = append(d.pairs, int32(len(first)), int32(len(alone)), int32(fours))
		d.pairs = append(d.pairs, rows...)
		put := func(points []int32) {
			for _, v := range points {
				d.pairs = append(d.pairs, v*dotsPoint)
			}
		}
		for i, a := range first {
			b := second[i]
			d.pairs = append(d.pairs, a.code[0])
			put(a.code[1:])
			put(b.code[1:])
			for k, u := range a.uses {
				d.uses = append(d.uses, u, b.uses[k])
			}
		}
		for _, a := range alone {
			d.pairs = append(d.pairs, a.code[0])
			put(a.code[1:])
			d.uses = append(d.uses, a.uses...)
		}
	}
	d.pairs, d.uses = slices.Clip(d.pairs), slices.Clip(d.uses)
	return d
}

// Pack rounds weights w [poses, OrbitChannels] to bfloat16 and puts them into dst, as long, in the order in which
// DotsF32 takes them. What no row uses is left out, and the end of dst is 0 instead. It panics if a length
// does not match.
func (d *Dots) Pack(dst []simd.BF16, w []float32) {
	const fn, n = "Dots.Pack", OrbitChannels
	check.Elements(fn, "dst", len(dst), d.poses, n)
	check.Elements(fn, "w", len(w), d.poses, n)
	var part [2 * n]simd.BF16
	to, code, uses := dst, d.pairs, d.uses
	for range d.groups {
		pairs, singles, rows := int(code[0]), int(code[1]), int(code[2])*schedule.OrbitCopies
		code = code[dotsHead+rows:]
		for range pairs {
			for range bitsOf(code[0]) {
				simd.BF16FromF32(part[:n], rowOf(w, uses[0], n))
				simd.BF16FromF32(part[n:], rowOf(w, uses[1], n))
				for j := range n {
					to[2*j], to[2*j+1] = part[j], part[n+j]
				}
				to, uses = to[2*n:], uses[2:]
			}
			code = code[1+2*schedule.OrbitCopies:]
		}
		for range singles {
			for range bitsOf(code[0]) {
				simd.BF16FromF32(to[:n], rowOf(w, uses[0], n))
				to, uses = to[n:], uses[1:]
			}
			code = code[schedule.OrbitStep:]
		}
	}
	clear(to)
}

// bitsOf is how many fours a mask has.
func bitsOf(mask int32) (n int) {
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}

// DotsF32 is OrbitsF32 for features in bfloat16, and weights that d.Pack has rounded and ordered.
// Sums are float32. Rows of out lie stride numbers apart.
//
//   - Shape: out is [rows, stride], of which OrbitChannels are set, and the last row may end with these; f is [points,
//     OrbitChannels], w [poses, OrbitChannels].
//   - Aliasing: out must not overlap f or w.
//   - Errors: panics if the length of f or w does not match, stride is less than OrbitChannels or out too short.
//   - Accuracy: at most (n+8)·eps·Σ|w·f|·scale from the exact value, n the number of pairs. Numbers below 2⁻¹²⁶ count
//     as 0. The bits are the same at every level.
func DotsF32(out []float32, stride int, f, w []simd.BF16, d *Dots) {
	const fn = "DotsF32"
	if stride < OrbitChannels {
		panic(fmt.Sprintf("depthwise: %s: stride = %d, need %d or more", fn, stride, OrbitChannels))
	}
	if need := (d.rows-1)*stride + OrbitChannels; len(out) < need {
		check.PanicLen(fn, "out", len(out), need)
	}
	check.Elements(fn, "f", len(f), d.points, OrbitChannels)
	check.Elements(fn, "w", len(w), d.poses, OrbitChannels)
	if cpu.Dots() {
		runDots(out, stride, f, w, d)
		return
	}
	dotsGeneric(out, stride, f, w, d)
}

func dotsGeneric(out []float32, stride int, f, w []simd.BF16, d *Dots) {
	const n = OrbitChannels
	code, scale := d.pairs, d.scale
	for range d.groups {
		pairs, singles, rows := int(code[0]), int(code[1]), code[dotsHead:][:code[2]*schedule.OrbitCopies]
		code = code[dotsHead+len(rows):]
		for _, r := range rows {
			clear(out[int(r)*stride:][:n])
		}
		for s := range pairs + singles {
			mask, points, more := code[0], code[1:schedule.OrbitStep], []int32(nil)
			code = code[schedule.OrbitStep:]
			if s < pairs {
				more, code = code[:schedule.OrbitCopies], code[schedule.OrbitCopies:]
			}
			for r := range len(rows) / schedule.OrbitCopies {
				if mask>>r&1 == 0 {
					continue
				}
				for c, p := range points {
					to, x := out[int(rows[r*schedule.OrbitCopies+c])*stride:][:n], f[int(p)/2:][:n]
					for j := range to {
						if more == nil {
							to[j] = bf16.MulAdd(bf16.MulAdd(to[j], 0, 0), w[j], x[j])
							continue
						}
						to[j] = bf16.MulAdd(bf16.MulAdd(to[j], w[2*j+1], f[int(more[c])/2+j]), w[2*j], x[j])
					}
				}
				if w = w[n:]; more != nil {
					w = w[n:]
				}
			}
		}
		for k, r := range rows {
			to := out[int(r)*stride:][:n]
			for j := range to {
				to[j] *= scale[k/schedule.OrbitCopies]
			}
		}
		scale = scale[len(rows)/schedule.OrbitCopies:]
	}
}
