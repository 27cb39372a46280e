// Package radix sorts short lists of numbered things: the rows of a neighbourhood, the points near a query.
package radix

import "math/bits"

// few is the largest number of keys for which insertion is faster than counting.
const few = 24

// ByUpper sorts keys by their upper 32 bits, none of which exceed most; keys with the same upper half keep their order. spare has
// room for as many keys. The result is in one of the two slices and is returned first, the other slice second.
//
// Each pass counts by one digit, lowest first. Digits have at most eight bits, and no more than the smallest number of passes
// requires: fewer bits mean fewer counters to clear, which matters for short lists.
func ByUpper(keys, spare []uint64, most uint32) (sorted, other []uint64) {
	spare = spare[:len(keys)]
	if len(keys) <= few {
		for i := 1; i < len(keys); i++ {
			k, j := keys[i], i
			last := k | (1<<32 - 1) // of the keys with the same upper half
			for ; j > 0 && keys[j-1] > last; j-- {
				keys[j] = keys[j-1]
			}
			keys[j] = k
		}
		return keys, spare
	}
	length := bits.Len32(most)
	passes := (length + 7) / 8
	for pass := range passes {
		digit := (length + passes - 1) / passes
		shift, mask := 32+pass*digit, uint64(1)<<digit-1
		var next [256]uint32
		for _, k := range keys {
			next[uint8(k>>(shift&63)&mask)]++
		}
		sum := uint32(0)
		for d, n := range next[:mask+1] {
			next[d] = sum
			sum += n
		}
		for _, k := range keys {
			d := uint8(k >> (shift & 63) & mask)
			spare[next[d]] = k
			next[d]++
		}
		keys, spare = spare, keys
	}
	return keys, spare
}
