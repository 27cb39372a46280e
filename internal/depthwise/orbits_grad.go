package depthwise

import (
	"math/bits"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/schedule"
)

// orbitGradImages is how many images' rows of a group lie beside each other for the gradient: 12 KB, of a first-level cache.
const orbitGradImages = 8

// orbitLines is the lines of 16 channels that a group's rows take, of each image.
const orbitLines = schedule.OrbitRows * schedule.OrbitCopies

// HaveOrbitsGrad reports whether OrbitsGradF32 has a kernel at the current level.
func HaveOrbitsGrad() bool { return level == cpu.AVX2 || level == cpu.AVX512 }

// OrbitsGradF32 sets dw to the gradient of sums over a neighbourhood of fours to its weights, for
// OrbitChannels channels, summed over images:
//
//	dw[q, j] = Σ_b Σ_k d[b, row of k, j] · f[b, index[k], j]
//
// over the pairs k of pose q. A plan of means is one of sums here. A pose without pairs gets 0, if its number is behind
// those of the groups' steps.
//
//   - Shape: dw is [poses, OrbitChannels]. Images of d [rows, OrbitChannels] begin dstride numbers after each other,
//     those of f [points, OrbitChannels] fstride; both may go on
//     after the last one.
//   - Aliasing: dw must not overlap d or f.
//   - Errors: panics if a length does not match, or images is negative.
//   - Accuracy: at most (n+8)·eps·Σ|d·f| from the exact value, n the number of a pose's pairs in all images.
func OrbitsGradF32(dw, d, f []float32, p *Orbits, dstride, fstride, images int) {
	const fn, n = "OrbitsGradF32", OrbitChannels
	check.Size(fn, "images", images)
	check.Elements(fn, "dw", len(dw), p.poses, n)
	if images == 0 {
		clear(dw)
		return
	}
	check.Matrix(fn, "d", len(d), images, p.rows*n, dstride)
	check.Matrix(fn, "f", len(f), images, p.points*n, fstride)
	p.findRuns()
	p.raceGrad(dw, d, f)
	for b := 0; b < images; b += orbitGradImages {
		p.gradient(dw, d[b*dstride:], f[b*fstride:], dstride, fstride, min(orbitGradImages, images-b), b > 0)
	}
	behind := dw[p.used*n:]
	clear(behind)
	for _, r := range p.rest {
		for i := range len(r.offsets) - 1 {
			for k := r.offsets[i] - r.offsets[0]; k < r.offsets[i+1]-r.offsets[0]; k++ {
				for b := range images {
					mulAdd(rowOf(dw, r.pose[k], n), rowOf(d[b*dstride:], int32(r.lo+i), n), rowOf(f[b*fstride:], r.index[k], n))
				}
			}
		}
	}
}

// gradient computes the groups' poses for at most orbitGradImages images, or adds to them.
func (p *Orbits) gradient(dw, d, f []float32, dstride, fstride, images int, add bool) {
	const n = OrbitChannels
	var lines [orbitGradImages * orbitLines][n]float32
	code, runs := p.code, p.runs
	for range p.groups {
		rows := code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
		for b := range images {
			own, image := lines[b*orbitLines:][:orbitLines], d[b*dstride:]
			for k, row := range rows {
				r, c := k/schedule.OrbitCopies, k%schedule.OrbitCopies
				own[c*schedule.OrbitRows+r] = *(*[n]float32)(image[int(row)*n:])
			}
		}
		code = code[schedule.OrbitHead+len(rows):]
		count := runs[0]
		runs = runs[1:]
		for range count {
			mask, steps := runs[0], int(runs[1])
			runs = runs[2:]
			orbitsGrad(dw, f, &lines, code, mask, steps, images, fstride, add)
			dw = dw[n*steps*bits.OnesCount32(uint32(mask)):]
			code = code[schedule.OrbitStep*steps:]
		}
	}
}

// orbitsGradGeneric computes steps with the same mask.
func orbitsGradGeneric(dw, f []float32, lines *[orbitGradImages * orbitLines][OrbitChannels]float32, code []int32,
	mask int32, steps, images, fstride int, add bool) {
	const n = OrbitChannels
	for ; steps > 0; steps, code = steps-1, code[schedule.OrbitStep:] {
		for r := range schedule.OrbitRows {
			if mask>>r&1 == 0 {
				continue
			}
			to := dw[:n]
			if !add {
				clear(to)
			}
			for b := range images {
				for c, x := range code[1:schedule.OrbitStep] {
					mulAdd(to, lines[b*orbitLines+c*schedule.OrbitRows+r][:], rowOf(f[b*fstride:], x, n))
				}
			}
			dw = dw[n:]
		}
	}
}
