// Package posetable finds the distinct relative poses of the pairs of a neighbourhood, and which of them each pair has.
//
// The table is defined by going through the pairs in order: a pair takes the earliest entry within the tolerance of its own pose,
// in every coordinate, or else becomes a new entry. Every strategy gives exactly that table, with the same bits, whatever GOMAXPROCS
// is; they differ in how many poses they have to look up. They are tried in this order, once there are enough pairs for any but the
// last to pay:
//
//   - by lattice: points stand on a lattice that the group moves along, as pixels do under translations. A pair's pose follows from
//     the difference of two cells.
//   - by seeds: a few rows show nearly all poses. Each pair is compared with one of those.
//   - by rotations: rotations of the group take the points to themselves, as quarter turns do with an image. Most pairs repeat the
//     pose of their rotated copy.
//   - by hashing: every pose is looked up in a hash table, of which each core has one for its own part of the space of poses.
//
// Strategies guess, and a wrong guess costs time; what they use, they have proved. Each file says how.
package posetable

import (
	"fmt"

	"github.com/equivcnp/equivcnp/group"
)

// Pairs are the pairs of a neighbourhood, row by row, and everything that determines their poses.
type Pairs struct {
	Group           group.Group
	Queries, Points *group.Lifted
	// Masks are nil or false at rows that do not count; blocks are never nil. See neighbor.Options.
	QueryMask, PointMask     []bool
	QueryBlocks, PointBlocks []int
	// Row i is Index[Offsets[i]:Offsets[i+1]], ascending: the points with a distance below Radius or, if Sampled, some of them.
	Offsets []int
	Index   []int32
	Radius  float64
	Sampled bool
	// Poses merge within Tolerance; if it is negative, they do not merge.
	Tolerance float64
	// MaxBytes, if positive, bounds the bytes that are live at a time: see Bytes.
	MaxBytes int64
	// Pause, if not nil, is called now and then by any goroutine. It may panic, to leave Build.
	Pause func()
	// Pose has an entry per pair, zero at the start. Build sets it to the number of the pair's pose.
	Pose []int32

	e    int   // the length of a pose
	need int64 // the fewest bytes that a strategy needed when it exceeded MaxBytes, 0 if none did
}

// Table is the table of poses.
type Table struct {
	Poses []float64 // [poses, e], in the order in which pairs first have them
	Count []int32   // [poses] how many pairs have each
	// Twins, if not nil, says for each row which earlier row is known to have the same poses, or NoTwin.
	Twins []int32
}

// NoTwin stands for a row that has no twin.
const NoTwin = -1

// strategy is a way to find the table. It returns false, and leaves Pose all zero, where it does not apply.
type strategy struct {
	name string
	try  func(p *Pairs, s *survey) (*Table, bool)
}

// merging are the strategies where poses merge, in the order in which they are tried; separate is the only one where they do not.
var (
	merging = []strategy{
		{"few", few}, {"lattice", byLattice}, {"seeds", bySeeds}, {"rotations", byRotations}, {"hashing", byHashing},
	}
	separate = []strategy{{"apart", apart}}
)

// pause calls Pause.
func (p *Pairs) pause() {
	if p.Pause != nil {
		p.Pause()
	}
}

// Build fills p.Pose and returns the table. It fails only if it needs more than MaxBytes, and the error says how many bytes it
// needs.
func Build(p *Pairs) (*Table, error) {
	p.e = group.PoseDim(p.Group)
	strategies, found := merging, &survey{}
	if p.Tolerance < 0 {
		strategies = separate
	}
	for _, s := range strategies {
		if table, ok := s.try(p, found); ok {
			return table, nil
		}
	}
	return nil, fmt.Errorf("%d pairs with poses of %d numbers need at least %d bytes, more than the limit of %d", len(p.Index),
		p.e, p.need, p.MaxBytes)
}

// Bytes is how many bytes are live at a time while a table is made of poses of e numbers and hashed of the pairs are looked up:
// Offsets, Index and Pose; what is entered into hash tables; and the table of so many distinct poses, which is made before the
// former is freed.
func Bytes(rows, pairs, hashed, poses, e int) int64 {
	return 8*int64(rows) + 8*int64(pairs) + int64(8*(e+1)+1)*int64(hashed) + int64(8*e+4)*int64(poses)
}

// fits reports whether Bytes, together with the slots of one table at a time, is within the limit.
func (p *Pairs) fits(hashed, poses, shards int) bool {
	need := Bytes(len(p.Offsets), len(p.Index), hashed, poses, p.e)
	if shards == 1 {
		need += slotBytes(hashed)
	}
	if p.MaxBytes <= 0 || need <= p.MaxBytes {
		return true
	}
	if p.need == 0 || need < p.need {
		p.need = need
	}
	return false
}

// rows is the number of queries.
func (p *Pairs) rows() int { return len(p.Offsets) - 1 }

// Mix scrambles a number so that similar ones give unrelated results; it is a bijection (the finalizer of splitmix64,
// Steele, Lea and Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mixShort is enough of Mix for its upper bits.
func mixShort(x uint64) uint64 { return (x ^ x>>32) * 0x9e3779b97f4a7c15 }

// counts reports whether row i counts under a mask.
func counts(mask []bool, i int) bool { return mask == nil || mask[i] }
