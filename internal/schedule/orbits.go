package schedule

import "slices"

// Rows under rotations come in fours that have the same poses, a point and its copies under quarter turns, and the fours of points that
// lie side by side have most of their neighbours in common: where one takes a point and its copies, so do the others, with poses of their
// own. So up to six fours, a group, take steps together. In a step, four points go to those of the fours that have them as neighbours; what
// is read of each point serves all of these, and what is read of a pose serves four rows. Poses then get numbers in the order in which
// steps use them. A pose that two fours of a tile use gets a number for each; there are hardly any.

// OrbitRows is the number of fours that a group has at most, and OrbitCopies how many rows a four.
const (
	OrbitRows   = 6
	OrbitCopies = 4
)

// The groups of a tile are written one after the other as
//
//	{steps, fours, the rows of each four, then for each step a mask and four points}
//
// where rows count within the tile. Four r takes the points of a step, the c-th for its c-th row, if bit r of the mask
// is set. Poses are not named: in the order of steps, and within a step of fours, each bit uses the next one, from pose
// 0 on.
const (
	OrbitHead = 2               // numbers before the rows of a group
	OrbitStep = 1 + OrbitCopies // numbers of a step
)

// orbitSpare is how many poses by use a tile may have for every four poses that differ.
const orbitSpare = 5

// Quarters reports whether most rows come in fours.
func (r *Rows) Quarters() bool {
	size, fours := make([]int, len(r.Lead)), 0
	for _, c := range r.Class {
		size[c]++
	}
	for c, n := range size {
		if n >= OrbitCopies && n < 2*OrbitCopies && r.Offsets[r.Lead[c]] < r.Offsets[r.Lead[c]+1] {
			fours += OrbitCopies
		}
	}
	return 2*fours > r.Len()
}

// orbits is the scratch memory with which a goroutine arranges tiles in groups.
type orbits struct {
	step  []int32 // of each point the step of the current group that has it as its first point
	stamp []int32 // and the group for which that is so
	group int32
	masks []int32
	steps []orbitStep
	order []uint64
	index [OrbitRows][OrbitCopies][]int32 // a group's pairs in the order of its steps
	pose  [OrbitRows][]int32
	place []int32 // of each pose its new number, plus one; for rows that are in no four
}

// orbitStep is the points of a step, and which of its pairs each four has there.
type orbitStep struct {
	points [OrbitCopies]int32
	pair   [OrbitRows]int32
}

// four is rows with the same poses; index has the points of each.
type four struct {
	rows  [OrbitCopies]int32 // among those of all tiles
	index [OrbitCopies][]int32
	pose  []int32
}

// turned returns the four with its rows in another order.
func (f *four) turned(by [OrbitCopies]uint8) four {
	t := four{pose: f.pose}
	for c, from := range by {
		t.rows[c], t.index[c] = f.rows[from], f.index[from]
	}
	return t
}

// tile arranges the fours of a tile in groups, if there are any, and renumbers its poses.
func (o *orbits) tile(b *builder, tile *Tile) {
	t := b.tiles
	var fours []four
	uses, single := 0, make([]int32, 0)
	for k := tile.Lo; k < tile.Hi; {
		n := 1
		for k+n < tile.Hi && t.Same[k+n] {
			n++
		}
		pairs := t.Offsets[k+1] - t.Offsets[k]
		for ; n >= OrbitCopies && pairs > 0; n -= OrbitCopies {
			f := four{pose: t.Pose[t.Offsets[k]:t.Offsets[k+1]]}
			for c := range OrbitCopies {
				f.rows[c] = int32(k + c)
				f.index[c] = t.Index[t.Offsets[k+c]:t.Offsets[k+c+1]]
			}
			fours = append(fours, f)
			uses += pairs
			k += OrbitCopies
		}
		for range n {
			single = append(single, int32(k))
			k++
		}
	}
	if len(fours) == 0 || 4*uses > orbitSpare*len(tile.Poses) || uses >= 1<<orbitKeyBits {
		return
	}
	if n := int(slices.Max(t.Index[t.Offsets[tile.Lo]:t.Offsets[tile.Hi]])) + 1; n > len(o.stamp) {
		o.step, o.stamp = append(o.step, make([]int32, n-len(o.step))...), append(o.stamp, make([]int32, n-len(o.stamp))...)
	}
	poses := make([]int32, 0, uses)
	groups := (len(fours) + OrbitRows - 1) / OrbitRows
	for g := range groups {
		part := fours[g*len(fours)/groups : (g+1)*len(fours)/groups]
		o.collect(part)
		tile.Orbits = append(tile.Orbits, int32(len(o.steps)), int32(len(part)))
		for _, f := range part {
			for _, row := range f.rows {
				tile.Orbits = append(tile.Orbits, row-int32(tile.Lo))
			}
		}
		for _, key := range o.order {
			s := int32(key & (1<<orbitKeyBits - 1))
			tile.Orbits = append(append(tile.Orbits, o.masks[s]), o.steps[s].points[:]...)
		}
		poses = o.renumber(t, part, poses, tile.Poses)
	}
	poses = o.rest(b, single, poses, tile.Poses)
	tile.Poses = slices.Clip(poses)
}

// orbitKeyBits is how many bits the number of a step takes in its key. Above it stand the point, then the mask; all
// bits that the mask lacks come first, so that steps of all fours are the first ones.
const orbitKeyBits = 24

// collect finds the steps of a group, and turns the rows of its fours so that they take the same points.
func (o *orbits) collect(fours []four) {
	o.group++
	o.masks, o.steps = o.masks[:0], o.steps[:0]
	for r := range fours {
		f := &fours[r]
		if r > 0 {
			*f = f.turned(o.turn(f))
		}
		for k := range f.pose {
			var points [OrbitCopies]int32
			for c := range points {
				points[c] = f.index[c][k]
			}
			first := points[0]
			s := o.step[first]
			if o.stamp[first] != o.group || o.steps[s].points != points || o.masks[s]>>r&1 != 0 {
				s = int32(len(o.steps))
				o.steps, o.masks = append(o.steps, orbitStep{points: points}), append(o.masks, 0)
				o.step[first], o.stamp[first] = s, o.group
			}
			o.masks[s] |= 1 << r
			o.steps[s].pair[r] = int32(k)
		}
	}
	o.order = o.order[:0]
	for s, m := range o.masks {
		lacks := uint64(^m & (1<<OrbitRows - 1))
		o.order = append(o.order, lacks<<(orbitKeyBits+32)|uint64(uint32(o.steps[s].points[0]))<<orbitKeyBits|uint64(s))
	}
	slices.Sort(o.order)
}

// turnVotes is how many pairs have to agree on how a four is turned.
const turnVotes = 24

// turn returns the order of a four's rows in which most of its pairs are steps of the group already.
func (o *orbits) turn(f *four) (best [OrbitCopies]uint8) {
	var votes [256]int
	best, most := [OrbitCopies]uint8{0, 1, 2, 3}, 0
	for k := range f.pose {
		for c := range OrbitCopies {
			first := f.index[c][k]
			if o.stamp[first] != o.group {
				continue
			}
			by, found, key := [OrbitCopies]uint8{}, 0, 0
			for d, x := range o.steps[o.step[first]].points {
				for e := range OrbitCopies {
					if f.index[e][k] == x {
						by[d] = uint8(e)
						found |= 1 << e
						break
					}
				}
				key = key<<2 | int(by[d])
			}
			if found != 1<<OrbitCopies-1 {
				continue
			}
			if votes[key]++; votes[key] > most {
				best, most = by, votes[key]
			}
		}
		if most >= turnVotes {
			break
		}
	}
	return best
}

// renumber puts the pairs of a group's rows into the order of its steps, and appends the pose of each use to poses; old has those
// that the rows name.
func (o *orbits) renumber(t *Tiles, fours []four, poses, old []int32) []int32 {
	index, pose := &o.index, &o.pose
	for r := range fours {
		for c := range index[r] {
			index[r][c] = index[r][c][:0]
		}
		pose[r] = pose[r][:0]
	}
	for _, key := range o.order {
		s := key & (1<<orbitKeyBits - 1)
		for r := range fours {
			if o.masks[s]>>r&1 == 0 {
				continue
			}
			k := o.steps[s].pair[r]
			for c, x := range o.steps[s].points {
				index[r][c] = append(index[r][c], x)
			}
			pose[r] = append(pose[r], int32(len(poses)))
			poses = append(poses, old[fours[r].pose[k]])
		}
	}
	for r := range fours {
		for c, row := range fours[r].rows {
			copy(t.Index[t.Offsets[row]:], index[r][c])
			copy(t.Pose[t.Offsets[row]:], pose[r])
			t.Same[row] = true
		}
		t.Same[slices.Min(fours[r].rows[:])] = false
	}
	return poses
}

// rest renumbers the poses of rows that are in no four, and puts their pairs into the order of the new numbers.
func (o *orbits) rest(b *builder, rows, poses, old []int32) []int32 {
	if len(rows) == 0 {
		return poses
	}
	t := b.tiles
	if len(o.place) < len(old) {
		o.place = make([]int32, len(old))
	}
	clear(o.place)
	for i, row := range rows {
		if i == 0 || rows[i-1] != row-1 {
			t.Same[row] = false // the rows before it have numbers of their own
		}
		for k := t.Offsets[row]; k < t.Offsets[row+1]; k++ {
			q := t.Pose[k]
			if o.place[q] == 0 {
				poses = append(poses, old[q])
				o.place[q] = int32(len(poses))
			}
			t.Pose[k] = o.place[q] - 1
		}
		b.sort(t.Index[t.Offsets[row]:t.Offsets[row+1]], t.Pose[t.Offsets[row]:t.Offsets[row+1]], len(poses))
	}
	return poses
}
