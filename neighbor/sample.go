package neighbor

import (
	"math/bits"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/neighbor/internal/posetable"
)

// picker draws the neighbours that remain under a cap. The zero value is ready.
type picker struct {
	pcg   rand.PCG
	taken []uint64 // a bit per entry of the list, all zero between calls
}

// sample keeps k of the entries of list, in their order and in place; each subset of that size is equally likely. What it keeps
// depends on the seed, the query's row and the list alone.
func (p *picker) sample(list []int32, k int, seed uint64, row int) []int32 {
	n := len(list)
	if n <= k {
		return list
	}
	p.pcg.Seed(seed, posetable.Mix(uint64(row)))
	rng := rand.New(&p.pcg)
	if words := (n + 63) / 64; len(p.taken) < words {
		p.taken = make([]uint64, words)
	}
	// R. W. Floyd's sample (Bentley and Floyd, Programming Pearls, CACM 30, 1987): for each m draw an entry up to m; if it is
	// taken already, take m itself. It draws k numbers, however long the list is.
	for m := n - k; m < n; m++ {
		i := int(rng.Uint64N(uint64(m + 1)))
		if p.taken[i>>6]>>(i&63)&1 != 0 {
			i = m
		}
		p.taken[i>>6] |= 1 << (i & 63)
	}
	kept := list[:0]
	for w := range (n + 63) / 64 {
		for word := p.taken[w]; word != 0; word &= word - 1 {
			kept = append(kept, list[w<<6+bits.TrailingZeros64(word)])
		}
		p.taken[w] = 0
	}
	return kept
}
