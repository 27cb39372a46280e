package neighbor

import "math/rand/v2"

// picker draws the neighbours that a cap leaves. The zero value is ready.
type picker struct{ pcg rand.PCG }

// sample keeps k of the entries of list, each subset of that size equally likely, in their order and in place. What it
// keeps depends on the seed, the query's row and the list alone.
func (p *picker) sample(list []int32, k int, seed uint64, row int) []int32 {
	if len(list) <= k {
		return list
	}
	p.pcg.Seed(seed, mix(uint64(row)))
	rng := rand.New(&p.pcg)
	// Selection sampling, Knuth, The Art of Computer Programming 3.4.2, algorithm S: an entry is kept with probability
	// (entries still wanted)/(entries still to come).
	kept := list[:0]
	for i, j := range list {
		if rng.Uint64N(uint64(len(list)-i)) < uint64(k-len(kept)) {
			kept = append(kept, j)
		}
	}
	return kept
}

// mix scrambles a number so that similar ones give unrelated results; it is a bijection (the finalizer of splitmix64,
// Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
