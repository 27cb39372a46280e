//go:build !purego

package depthwise

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/schedule"
)

// orbitImages is how many images the kernel for AVX2 computes at a time: their sums stay in the first-level cache.
const orbitImages = 8

func orbitBatch() int {
	if level == cpu.AVX2 {
		return orbitImages
	}
	return 1
}

// orbitSums is how many numbers it needs beside its registers.
const orbitSums = 32 + orbitImages*schedule.OrbitRows*schedule.OrbitCopies*OrbitChannels

// orbitMasks tells the kernel for AVX2 of each mask where the sums of its fours lie among those of six, in bytes, and
// in the last place how many there are.
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

// runOrbits calls the kernel of the level.
func runOrbits(out, f, w []float32, p *Orbits, fstride, images int) {
	if level == cpu.AVX2 {
		p.findRuns()
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
		if level == cpu.Generic {
			orbitsGeneric(out, f, w, p)
			return
		}
		depthwiseOrbitsF32AVX512(&out[0], &f[0], &w[0], &p.scale[0], &p.code[0], p.groups)
	})
}
