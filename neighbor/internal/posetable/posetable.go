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
// What a strategy guesses costs or saves time; what it uses, it has proved, as its file says.
package posetable

import (
	"fmt"

	"github.com/equivcnp/equivcnp/group"
)

// Pairs are the pairs of a neighbourhood, row by row, and all that their poses follow from.
type Pairs struct {
	Group           group.Group
	Queries, Points *group.Lifted
	// Masks, nil or false at rows that do not count, and blocks, which are never nil: see neighbor.Options.
	QueryMask, PointMask     []bool
	QueryBlocks, PointBlocks []int
	// Row i is Index[Offsets[i]:Offsets[i+1]], ascending: the points with a distance below Radius or, if Sampled, some of them.
	Offsets []int
	Index   []int32
	Radius  float64
	Sampled bool
	// Tolerance within which poses merge, negative if they do not.
	Tolerance float64
	// MaxBytes, if positive, bounds the bytes that are live at a time: see Bytes.
	MaxBytes int64
	// Pause, if not nil, is called now and then by any goroutine. It may panic, to leave Build.
	Pause func()
	// Pose, all zero, becomes the number of each pair's pose.
	Pose []int32

	e    int   // the length of a pose
	need int64 // the least number of bytes that a strategy needed and that are more than MaxBytes, 0 if none did
}

// Table is the table of poses.
type Table struct {
	Poses []float64 // [poses, e] numbered in the order in which pairs show them
	Count []int32   // [poses] how many pairs have each
	// Twins, if not nil, says of each row which earlier row it is known to have the same poses as, or NoTwin.
	Twins []int32
}

// NoTwin stands for a row that has no twin.
const NoTwin = -1

// strategy is a way to find the table. It returns false, and leaves Pose all zero, where it does not apply.
type strategy struct {
	name string
	try  func(p *Pairs, s *survey) (*Table, bool)
}

// merging are the strategies where poses merge, in the order in which they are tried; separate is the one where they do not.
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

// Build fills p.Pose and returns the table. It fails, naming the bytes it needs, only where those are more than MaxBytes.
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
	return nil, fmt.Errorf("%d pairs with poses of %d numbers need at least %d bytes, more than the limit of %d", len(p.Index), p.e, p.need, p.MaxBytes)
}

// Bytes is how many bytes are live at a time while a table of poses of e numbers is made, by hashing so many of the pairs: Offsets,
// Index and Pose; what is entered into tables; and, since it is made before that is given up, the table of so many distinct poses.
func Bytes(rows, pairs, hashed, poses, e int) int64 {
	return 8*int64(rows) + 8*int64(pairs) + int64(8*(e+1)+1)*int64(hashed) + int64(8*e+4)*int64(poses)
}

// fits reports whether that is within the limit, with what the slots of a single table take.
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
