package testkit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Mutants are damaged copies of a file: bits and bytes changed, parts cut off, removed, doubled, swapped and zeroed.
// Equal seeds give equal mutants, none of which is the file.
func Mutants(seed uint64, file []byte, n int) (mutants [][]byte, what []string) {
	rng := Rand(seed)
	for len(mutants) < n {
		b, name := mutant(rng, bytes.Clone(file))
		if !bytes.Equal(b, file) {
			mutants, what = append(mutants, b), append(what, fmt.Sprintf("seed %d, mutant %d: %s", seed, len(mutants), name))
		}
	}
	return mutants, what
}

func mutant(rng *rand.Rand, b []byte) ([]byte, string) {
	if len(b) < 2 {
		return append(b, 1), "one byte more"
	}
	at := rng.IntN(len(b))
	n := 1 + rng.IntN(min(64, len(b)-at))
	switch rng.IntN(8) {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
		return b, fmt.Sprintf("a bit of byte %d", at)
	case 1:
		b[at] = byte(rng.IntN(256))
		return b, fmt.Sprintf("byte %d", at)
	case 2:
		return b[:at], fmt.Sprintf("cut off at %d", at)
	case 3:
		return append(b[:at], b[at+n:]...), fmt.Sprintf("%d bytes removed at %d", n, at)
	case 4:
		return append(b[:at:at], append(bytes.Clone(b[at:at+n]), b[at:]...)...), fmt.Sprintf("%d bytes doubled at %d", n, at)
	case 5:
		clear(b[at : at+n])
		return b, fmt.Sprintf("%d bytes zeroed at %d", n, at)
	case 6:
		to := rng.IntN(len(b) - n + 1)
		copy(b[to:], bytes.Clone(b[at:at+n]))
		return b, fmt.Sprintf("%d bytes of %d copied to %d", n, at, to)
	}
	if lines := bytes.SplitAfter(b, []byte{'\n'}); len(lines) > 2 {
		i, k := rng.IntN(len(lines)), rng.IntN(len(lines))
		lines[i], lines[k] = lines[k], lines[i]
		return bytes.Join(lines, nil), fmt.Sprintf("lines %d and %d swapped", i, k)
	}
	return b[:len(b)-1], "one byte less"
}
