package depthwise

import (
	"fmt"
	"sync"

	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/simd"
)

// OrbitChannels is the number of channels that OrbitsF32 computes.
const OrbitChannels = poseLanes

// Orbits is a neighbourhood in which rows come in fours with the same poses, as a point and its copies under
// quarter turns do, and fours side by side have most points in common. Up to six fours are computed together: a point
// is read once for all of them, a pose's weights once for four rows, and the weights follow each other in the order of
// their use. Making it checks all indices; it is only read then, by any number of goroutines.
type Orbits struct {
	rows, points, poses int
	code                []int32   // as package schedule writes it
	groups              int       // how many it has
	used                int       // poses of its steps
	scale               []float32 // what the sums of each four are multiplied by
	rest                []orbitRest
	mean                bool

	dotsOnce, runsOnce sync.Once
	dots               *Dots
	runs               []int32 // for kernels that take steps with the same mask together
}

// orbitRest is rows from lo on that are in no group.
type orbitRest struct {
	lo   int
	rows *simd.DepthwiseRows
	// for the gradient
	offsets     []int
	index, pose []int32
}

// NewOrbits checks groups of fours, as package schedule writes them, and a neighbourhood of that many points
// and poses, given as in simd.NewDepthwiseRows, from which it takes the rows that are in no group. With mean, sums are
// divided by the number of a row's pairs. It panics if code has a row twice or no steps, names a row, a point or a pose
// that is none, or has no end; and where simd.NewDepthwiseRows does. It keeps the slices, and nobody may change them
// afterwards.
func NewOrbits(code []int32, offsets []int, index, pose []int32, same []bool, points, poses int, mean bool) *Orbits {
	const fn = "NewOrbits"
	check.Size(fn, "points", points)
	check.Size(fn, "poses", poses)
	p := &Orbits{rows: check.CSR(fn, offsets, index, pose), points: points, poses: poses, code: code, mean: mean}
	check.Len(fn, "same", len(same), p.rows)
	grouped := make([]bool, p.rows)
	for at := 0; at < len(code); p.groups++ {
		fail := func(what string, v int32) {
			panic(fmt.Sprintf("depthwise: %s: code[%d:], group %d: %s %d", fn, at, p.groups, what, v))
		}
		if len(code)-at < schedule.OrbitHead {
			fail("ends after", int32(len(code)-at))
		}
		steps, fours := code[at], code[at+1]
		if fours < 1 || fours > schedule.OrbitRows {
			fail("fours", fours)
		}
		head := schedule.OrbitHead + int(fours)*schedule.OrbitCopies
		if steps < 1 || len(code)-at < head || int(steps) > (len(code)-at-head)/schedule.OrbitStep {
			fail("steps", steps)
		}
		for _, row := range code[at+schedule.OrbitHead : at+head] {
			if row < 0 || int(row) >= p.rows || grouped[row] {
				fail("row", row)
			}
			grouped[row] = true
		}
		var pairs [schedule.OrbitRows]int
		for k := at + head; k < at+head+int(steps)*schedule.OrbitStep; k += schedule.OrbitStep {
			mask := code[k]
			if mask < 1 || mask >= 1<<fours {
				fail("mask", mask)
			}
			for r := range fours {
				pairs[r] += int(mask >> r & 1)
			}
			for _, x := range code[k+1 : k+schedule.OrbitStep] {
				if x < 0 || int(x) >= points {
					fail("point", x)
				}
			}
		}
		for r := range fours {
			scale := float32(1)
			if p.used += pairs[r]; mean && pairs[r] > 1 {
				scale = 1 / float32(pairs[r])
			}
			p.scale = append(p.scale, scale)
		}
		if p.used > poses {
			fail("poses up to", int32(p.used))
		}
		at += head + int(steps)*schedule.OrbitStep
	}
	for lo := 0; lo < p.rows; lo++ {
		hi := lo
		for hi < p.rows && !grouped[hi] {
			hi++
		}
		if hi > lo {
			a, b := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
			rows := simd.NewDepthwiseRows(offsets[lo:hi+1], index[a:b], pose[a:b], same[lo:hi], points, poses)
			p.rest = append(p.rest, orbitRest{lo, rows, offsets[lo : hi+1], index[a:b], pose[a:b]})
			lo = hi
		}
	}
	return p
}

// orbitRun is how many steps with the same mask are taken at a time, for all images: the lines of their points and
// weights, ten for a step that all fours have, stay in the first-level cache.
const orbitRun = 32

// runsOf returns the number of runs of each group of code, then the mask of each and its number of steps, which is at
// most orbitRun. Steps with the same mask follow each other.
func runsOf(code []int32, groups int) (runs []int32) {
	for range groups {
		steps := int(code[0])
		code = code[schedule.OrbitHead+code[1]*schedule.OrbitCopies:]
		count := len(runs)
		runs = append(runs, 0)
		for k := range steps {
			last := len(runs) - 1
			if k == 0 || runs[last-1] != code[0] || runs[last] == orbitRun {
				runs = append(runs, code[0], 0)
				runs[count]++
				last += 2
			}
			runs[last]++
			code = code[schedule.OrbitStep:]
		}
	}
	return runs
}

// Alone is the number of rows that are in no group.
func (p *Orbits) Alone() int {
	n := 0
	for _, r := range p.rest {
		n += len(r.offsets) - 1
	}
	return n
}

// findRuns makes runs, once.
func (p *Orbits) findRuns() {
	p.runsOnce.Do(func() { p.runs = runsOf(p.code, p.groups) })
}

// OrbitsF32 computes a depthwise group convolution over a neighbourhood of fours, for OrbitChannels channels:
//
//	out[i, j] = scale_i · Σ_k w[pose[k], j] · f[index[k], j]
//
// over the pairs k of row i, where scale_i is 1 or, if the plan takes means, one over the number of these pairs.
//
//   - Shape: out is [rows, OrbitChannels], f [points, OrbitChannels], w [poses, OrbitChannels].
//   - Aliasing: out must not overlap f or w.
//   - Errors: panics if a length does not match.
//   - Accuracy: at most (n+8)·eps·Σ|w·f|·scale from the exact value, n the number of pairs. Pairs are added in the order of the group's
//     steps, whatever the level. Rows in no group are those of simd.DepthwiseRowsF32.
func OrbitsF32(out, f, w []float32, p *Orbits) {
	const fn = "OrbitsF32"
	check.Elements(fn, "out", len(out), p.rows, OrbitChannels)
	check.Elements(fn, "f", len(f), p.points, OrbitChannels)
	check.Elements(fn, "w", len(w), p.poses, OrbitChannels)
	p.images(out, f, w, 0, 1)
}

// OrbitsBatchF32 is OrbitsF32 for several images, with the same bits for each. At AVX2 and AVX-512
// weights then come to the first-level cache once for all of them.
//
//   - Shape: out is [images, rows, OrbitChannels]. Those of f [points, OrbitChannels] begin fstride numbers after each
//     other, at least points·OrbitChannels; f may go on
//     after the last one.
func OrbitsBatchF32(out, f, w []float32, p *Orbits, fstride, images int) {
	const fn = "OrbitsBatchF32"
	check.Size(fn, "images", images)
	check.Elements(fn, "out", len(out), images, p.rows, OrbitChannels)
	check.Elements(fn, "w", len(w), p.poses, OrbitChannels)
	if images == 0 {
		return
	}
	check.Matrix(fn, "f", len(f), images, p.points*OrbitChannels, fstride)
	p.images(out, f, w, fstride, images)
}

// OrbitImages returns the number of images that OrbitsBatchF32 best takes in a call at the current level: 1 where several
// gain nothing over one by one.
func OrbitImages() int { return orbitBatch() }

// images computes that many images, whose f begin fstride numbers after each other.
func (p *Orbits) images(out, f, w []float32, fstride, images int) {
	if p.groups > 0 {
		p.eachImage(out, f, fstride, images, func(out, f []float32) { p.race(out, f, w) })
		runOrbits(out, f, w, p, fstride, images)
	}
	for _, r := range p.rest {
		for b := range images {
			to := out[(b*p.rows+r.lo)*OrbitChannels:][:(len(r.offsets)-1)*OrbitChannels]
			simd.DepthwiseRowsF32(to, f[b*fstride:][:p.points*OrbitChannels], w, r.rows, OrbitChannels, p.mean)
		}
	}
}

// eachImage calls one for out and f of every image.
func (p *Orbits) eachImage(out, f []float32, fstride, images int, one func(out, f []float32)) {
	for b := range images {
		one(out[b*p.rows*OrbitChannels:][:p.rows*OrbitChannels], f[b*fstride:][:p.points*OrbitChannels])
	}
}

func orbitsGeneric(out, f, w []float32, p *Orbits) {
	const n = OrbitChannels
	code, scale := p.code, p.scale
	for range p.groups {
		steps, rows := int(code[0]), code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
		code = code[schedule.OrbitHead+len(rows):]
		for _, row := range rows {
			clear(rowOf(out, row, n))
		}
		for range steps {
			for r := range len(rows) / schedule.OrbitCopies {
				if code[0]>>r&1 == 0 {
					continue
				}
				for c, x := range code[1:schedule.OrbitStep] {
					mulAdd(rowOf(out, rows[r*schedule.OrbitCopies+c], n), w[:n], rowOf(f, x, n))
				}
				w = w[n:]
			}
			code = code[schedule.OrbitStep:]
		}
		for k, row := range rows {
			to := rowOf(out, row, n)
			for j := range to {
				to[j] *= scale[k/schedule.OrbitCopies]
			}
		}
		scale = scale[len(rows)/schedule.OrbitCopies:]
	}
}
