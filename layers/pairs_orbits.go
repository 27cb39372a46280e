package layers

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/simd"
)

// Where rows come in fours with the same poses, as pixels and their copies under quarter turns do, training goes by tiles of fours
// (simd.DepthwiseOrbits), image by image and in slices of 16 channels. What is read of a point then serves six fours.
//
// Tiles of points serve both gradients. They gather the gradient to the sums: weighted, it adds up to the gradient to the points' features,
// and its products with these features add up to the gradient to the weights. So a tile's weights are computed once on the way back, and the
// network's own backward pass follows while they are in the cache.

// orbitTiles says where tiles end: at a group of six fours. What the network computes of a tile's poses then stays in the second-level cache.
var orbitTiles = schedule.Options{Poses: 1 << 12, Rows: schedule.OrbitRows * schedule.OrbitCopies, Orbits: true}

// orbitAlone says that one row of so many may be in no four: its products with each pose take as long as those of some twenty others.
const orbitAlone = 64

// orbitPairs is a neighbourhood whose rows come in fours, and whose points, which are the rows, do so as well.
type orbitPairs[T Float] struct {
	order        []int32 // of rows, in tiles and in packed features
	query, point []tile[T]
}

// orbits returns the pairs in tiles of fours, for a layer of c channels, or nil where others are better.
func (p *Pairs[T]) orbits(w *WeightNet[T], c int) *orbitPairs[T] {
	if !p.tiled() || sizeof[T]() != 4 || c == 0 || c%simd.OrbitChannels != 0 || w.Norm[1] != nil || w.Norm[2] != nil {
		return nil
	}
	p.sorted.orbitOnce.Do(func() { p.orbiting = p.newOrbits() })
	return p.orbiting
}

func (p *Pairs[T]) newOrbits() *orbitPairs[T] {
	rows := rowsOf(p.Neighborhood, nil)
	back := reversed(rows)
	if back == nil || !rows.Quarters() {
		return nil
	}
	o := &orbitPairs[T]{order: p.order(rows)}
	opt := orbitTiles
	opt.Number = schedule.Inverse(o.order)
	s := rows.Tile(o.order, opt)
	o.query, o.point = newTiles[T](s, p.Table, p.PoseDim, nil), make([]tile[T], len(s.Tiles))
	same := make([]bool, rows.Len())
	var alone, unlike atomic.Int64
	parallel.For(len(o.query), 1, func(k, _ int) {
		from := &s.Tiles[k]
		offsets, index, pose, alike := s.Of(from)
		t := &o.query[k]
		t.orbits = simd.NewDepthwiseOrbits(t.code, offsets, index, pose, alike, rows.Len(), len(t.poses), true)
		alone.Add(int64(t.orbits.Alone()))
		r := &backwards{rows: rows, pose: back, order: o.order, tiles: s, tile: from}
		poses, pose := r.poses()
		if poses == nil {
			unlike.Add(1)
			return
		}
		t = &o.point[k]
		*t = tile[T]{lo: from.Lo, hi: from.Hi, poses: poses, table: make([]T, 0, len(poses)*p.PoseDim)}
		for _, q := range poses {
			t.table = append(t.table, p.Table[int(q)*p.PoseDim:(int(q)+1)*p.PoseDim]...)
		}
		t.orbits = simd.NewDepthwiseOrbits(from.Orbits, offsets, index, pose, same[from.Lo:from.Hi], rows.Len(), len(poses), false)
	})
	if unlike.Load() > 0 || int(alone.Load())*orbitAlone > rows.Len() {
		return nil
	}
	return o
}

// reversed returns of every pair of rows (i, j) the pose of (j, i), or nil if some have no such pair. Rows list their points in ascending order.
func reversed(r *schedule.Rows) []int32 {
	next, pose := slices.Clone(r.Offsets[:r.Len()]), make([]int32, len(r.Pose))
	for i := range r.Len() {
		for k := r.Offsets[i]; k < r.Offsets[i+1]; k++ {
			j := r.Index[k]
			at := next[j]
			if at == r.Offsets[j+1] || r.Index[at] != int32(i) {
				return nil
			}
			pose[at] = r.Pose[k]
			next[j]++
		}
	}
	return pose
}

// backwards finds the poses of a tile of points. A point is seen by the rows that it sees, and so the groups of the tile of rows serve. Copies that share their poses
// are seen with the same ones, too.
type backwards struct {
	rows  *schedule.Rows
	pose  []int32 // as reversed returns it
	order []int32
	tiles *schedule.Tiles
	tile  *schedule.Tile
	of    []int32 // of each row that the current one sees, the pose that it is seen with
}

// row makes of that of the tile's i-th row.
func (b *backwards) row(i int) {
	row := b.order[b.tile.Lo+i]
	for k := b.rows.Offsets[row]; k < b.rows.Offsets[row+1]; k++ {
		b.of[b.rows.Index[k]] = b.pose[k]
	}
}

// poses returns the poses of the tile in the order of their use, and the pose of every pair of a row in no group as its place among them; nil if copies have different ones.
func (b *backwards) poses() (poses, pose []int32) {
	b.of = make([]int32, b.rows.Len())
	offsets, index, _, _ := b.tiles.Of(b.tile)
	pose = make([]int32, len(index))
	grouped := make([]bool, b.tile.Hi-b.tile.Lo)
	poses = make([]int32, 0, len(b.tile.Poses))
	var first []int // of each step, where its uses begin
	for code := b.tile.Orbits; len(code) > 0; {
		fours := int(code[1])
		numbers := code[schedule.OrbitHead:][:fours*schedule.OrbitCopies]
		steps := code[schedule.OrbitHead+len(numbers):][:int(code[0])*schedule.OrbitStep]
		code = code[schedule.OrbitHead+len(numbers)+len(steps):]
		first = first[:0]
		n := len(poses)
		for at := 0; at < len(steps); at += schedule.OrbitStep {
			first = append(first, n)
			n += bits.OnesCount32(uint32(steps[at]))
		}
		poses = append(poses, make([]int32, n-len(poses))...)
		for i, number := range numbers {
			grouped[number] = true
			b.row(int(number))
			r, c := i/schedule.OrbitCopies, i%schedule.OrbitCopies
			for s, at := range first {
				step := steps[s*schedule.OrbitStep:][:schedule.OrbitStep]
				if step[0]>>r&1 == 0 {
					continue
				}
				at += bits.OnesCount32(uint32(step[0]) & (1<<r - 1))
				switch q := b.of[b.order[step[1+c]]]; {
				case c == 0:
					poses[at] = q
				case poses[at] != q:
					return nil, nil
				}
			}
		}
	}
	for i, in := range grouped {
		if in {
			continue
		}
		b.row(i)
		for k := offsets[i] - offsets[0]; k < offsets[i+1]-offsets[0]; k++ {
			pose[k] = int32(len(poses))
			poses = append(poses, b.of[b.order[index[k]]])
		}
	}
	return poses, pose
}

// packed returns x [batch, rows, c] as [slices, batch, rows, 16], from rent.
func (o *orbitPairs[T]) packed(x []T, batch, c int) []T {
	const n = simd.OrbitChannels
	rows := len(o.order)
	dst := rent[T](len(x))
	parallel.For(batch*rows, packRows, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			from := x[(k-k%rows+int(o.order[k%rows]))*c:][:c]
			for j := 0; j < c; j += n {
				copySlice(dst[j*batch*rows+k*n:], from[j:])
			}
		}
	})
	return dst
}

// imageSlice is slice k of image b of what packed returns.
func (o *orbitPairs[T]) imageSlice(packed []T, b, batch, k int) []float32 {
	size := len(o.order) * simd.OrbitChannels
	return any(packed).([]float32)[(k*batch+b)*size:][:size]
}

// put sets a slice of channels of the rows of a tile in dst [rows, c].
func (o *orbitPairs[T]) put(dst []T, tile *tile[T], from []T, k, c int) {
	const n = simd.OrbitChannels
	for i, row := range o.order[tile.lo:tile.hi] {
		copySlice(dst[int(row)*c+k*n:], from[i*n:])
	}
}

// take is put the other way.
func (o *orbitPairs[T]) take(to []T, tile *tile[T], src []T, k, c int) {
	const n = simd.OrbitChannels
	for i, row := range o.order[tile.lo:tile.hi] {
		copySlice(to[i*n:], src[int(row)*c+k*n:])
	}
}

// convolve sets dst [batch, rows, c] to the mean, over the pairs of every row, of w[pose] ⊙ f[index], for f [batch, rows, c]. window, if not
// nil, multiplies the weights of every pose.
func (o *orbitPairs[T]) convolve(dst, f []T, w poseSlices[T], window []T, batch, c int) {
	const n = simd.OrbitChannels
	packed, image := o.packed(f, batch, c), len(o.order)*c
	parallel.For(len(o.query), 1, func(at, _ int) {
		tile := &o.query[at]
		hidden, weights, out := w.hidden(tile), rent[T](len(tile.poses)*n), rent[T]((tile.hi-tile.lo)*n)
		for k := range c / n {
			w.slice(weights, hidden, k)
			scalePoses(weights, window, tile.poses, n)
			for b := range batch {
				simd.DepthwiseOrbitsF32(f32(out), o.imageSlice(packed, b, batch, k), f32(weights), tile.orbits)
				o.put(dst[b*image:(b+1)*image], tile, out, k, c)
			}
		}
		giveBack(hidden, weights, out)
	})
	giveBack(packed)
}

// convolveBack sets df [batch, rows, c], unless that is nil, to the gradient to the features f of convolve, and adds the gradients of the weights' network to g, given d,
// the gradient to the sums.
func (o *orbitPairs[T]) convolveBack(df, d, f []T, net *WeightNetTape[T], batch, c int, g *Grads[T]) {
	const n = simd.OrbitChannels
	packed, image := o.packed(d, batch, c), len(o.order)*c
	net.backwardTiles(o.point, func(at, k int, dw, w []T) {
		tile := &o.point[at]
		x := rent[T]((tile.hi - tile.lo) * n)
		for b := range batch {
			from := o.imageSlice(packed, b, batch, k)
			if df != nil {
				simd.DepthwiseOrbitsF32(f32(x), from, f32(w), tile.orbits)
				o.put(df[b*image:(b+1)*image], tile, x, k, c)
			}
			o.take(x, tile, f[b*image:(b+1)*image], k, c)
			simd.DepthwiseOrbitsGradWF32(f32(dw), f32(x), from, tile.orbits, b > 0)
		}
		giveBack(x)
	}, g)
	giveBack(packed)
}
