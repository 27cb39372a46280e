package posetable

import "github.com/equivcnp/equivcnp/group"

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

// pause calls Pause.
func (p *Pairs) pause() {
	if p.Pause != nil {
		p.Pause()
	}
}

// Bytes returns the number of bytes that are live at a time while a table is made of poses of e numbers and hashed of
// the pairs are looked up:
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

// counts reports whether row i counts under a mask.
func counts(mask []bool, i int) bool { return mask == nil || mask[i] }
