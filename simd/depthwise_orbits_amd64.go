//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/schedule"

// orbitImages is how many images the kernel for AVX2 computes at a time: their sums stay in the first-level cache.
const orbitImages = 8

func orbitBatch() int {
	if level == AVX2 {
		return orbitImages
	}
	return 1
}

// orbitSums is how many numbers it needs beside its registers.
const orbitSums = 32 + orbitImages*schedule.OrbitRows*schedule.OrbitCopies*OrbitChannels

// orbitRun is how many steps it takes at a time, for all images: the lines of their points and weights, ten for a step that all fours have, stay in the first-level cache.
const orbitRun = 32

// orbitMasks tells the kernel for AVX2 of each mask where the sums of its fours lie among those of six, in bytes, and in the last place how many there are.
var orbitMasks = func() (masks [1 << schedule.OrbitRows][8]int32) {
	for m := range masks {
		of := &masks[m]
		for r := range schedule.OrbitRows {
			if m>>r&1 == 1 {
				of[of[7]] = int32(r * 2 * 32)
				of[7]++
			}
		}
	}
	return masks
}()

// runsOf returns the number of runs of each group of code, then the mask of each and its number of steps, which is at most orbitRun. Steps with the same mask follow
// each other.
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

// depthwiseOrbits calls the kernel of the level.
func depthwiseOrbits(out, f, w []float32, p *DepthwiseOrbits, fstride, images int) {
	if level == AVX2 {
		p.runsOnce.Do(func() { p.runs = runsOf(p.code, p.groups) })
		var sums [orbitSums]float32
		next := p.rows * OrbitChannels
		for b := 0; b < images; b += orbitImages {
			n, fnext := min(orbitImages, images-b), 4*fstride
			if n == 1 {
				fnext = 0 // nothing to fetch ahead
			}
			depthwiseOrbitsF32AVX2(&out[b*next], &f[b*fstride], &w[0], &p.scale[0], &p.code[0], &p.runs[0], &orbitMasks[0][0], &sums[0],
				p.groups, n, 4*next, fnext)
		}
		return
	}
	p.eachImage(out, f, fstride, images, func(out, f []float32) {
		if level == Generic {
			depthwiseOrbitsGeneric(out, f, w, p)
			return
		}
		depthwiseOrbitsF32AVX512(&out[0], &f[0], &w[0], &p.scale[0], &p.code[0], p.groups)
	})
}
