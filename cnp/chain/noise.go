package chain

import "math/rand/v2"

// Noise is a source of random numbers for every value of every sample: what is drawn does not depend on when.
type Noise struct {
	pcg rand.PCG
	rng *rand.Rand
}

// NewNoise returns a source.
func NewNoise() *Noise {
	n := &Noise{}
	n.rng = rand.New(&n.pcg)
	return n
}

// At returns the source of a target of a sample.
func (n *Noise) At(seed uint64, sample, target int) *rand.Rand {
	n.pcg.Seed(Scramble(Scramble(seed)+uint64(sample)), Scramble(uint64(target)))
	return n.rng
}
