package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// lineTile is the number of rows whose gradients to the sums of outer products are computed at a time. They are used at once, for
// all neighbours of a row, and never leave the cache.
const lineTile = 16

// linePad is what the number of channels is rounded up to a multiple of, so that products read a row's matrix in place.
const linePad = 16

// lineProducts are the matrix products of a tile's runs of neighbours.
type lineProducts struct {
	shared, own []simd.Run // gradients to the weights of poses that tasks share, and of poses of a single pair
	points      []simd.Run // gradients to the features
}

// collect lists the products of rows whose task's points begin at base. The first `lattice` rows are lattice points (none if it
// is negative). A row's matrix has the row's number in the tile.
func (l *lineProducts) collect(rows []neighbor.LineRow, base, lattice int) {
	l.shared, l.own, l.points = l.shared[:0], l.own[:0], l.points[:0]
	for i := range rows {
		for side := range rows[i] {
			run := &rows[i][side]
			n, point, pose := int(run.N), int(run.Point)-base, int(run.Pose)
			if n == 0 {
				continue
			}
			weights := simd.Run{C: pose, A: point, B: i, N: n}
			if side == 0 && i < lattice {
				l.shared = append(l.shared, weights)
			} else {
				l.own = append(l.own, weights)
			}
			l.points = append(l.points, simd.Run{C: point, A: pose, B: i, N: n})
		}
	}
}

// lineBackward sets df [rows, in], if it is not nil, to the gradient to the features, given d [rows, out], the gradient to the
// linear map's result. It returns the gradient to the weights [poses, mid], from rent. In a run of neighbours, points and poses
// are consecutive, so both gradients are matrix products: with D_i [in, mid] the gradient to row i's sums,
//
//	dw[run] = f[run]·D_i,  df[run] = w[run]·D_iᵀ
//
// added up over lattice points that share a pose, and over all rows that see a point. A goroutine takes whole tasks.
func (t *LieConvTape[T]) lineBackward(df, d []T) []T {
	l, p, tasks := t.layer, t.pairs, t.pairs.line.Tasks
	in, mid, out := l.In, l.WeightNet.Out(), l.Out
	c, wide := in*mid, (in+linePad-1)/linePad*linePad
	w := t.net.Weights()
	dw := buffers.Rent[T](p.NumPoses() * mid)
	lattice := p.line.Shared * mid
	parts := make([]T, len(tasks.Own)*lattice)

	// The rows of D_i follow from d by the linear map's weights [out, in, mid]; its transpose has them as [out, mid, in], with
	// the channels filled up with zeros.
	packed := simd.Pack(l.Linear.Weight, c, out, c)
	var transposed *simd.Packed[T]
	if df != nil {
		turned := make([]T, out*mid*wide)
		for o := range out {
			for a := range in {
				for m := range mid {
					turned[(o*mid+m)*wide+a] = l.Linear.Weight[(o*in+a)*mid+m]
				}
			}
		}
		transposed = simd.Pack(turned, mid*wide, out, mid*wide)
	}
	parallel.For(len(tasks.Own), 1, func(lo, hi int) {
		room := buffers.Rent[T](lineTile*(c+mid*wide) + tasks.Size*wide)
		defer buffers.GiveBack(room)
		plain, turned, sum := room[:lineTile*c], room[lineTile*c:lineTile*(c+mid*wide)], room[lineTile*(c+mid*wide):]
		var products lineProducts
		for task := lo; task < hi; task++ {
			base, end := task*tasks.Size, (task+1)*tasks.Size
			part, f := parts[task*lattice:(task+1)*lattice], t.f[base*in:end*in]
			if df != nil {
				clear(sum)
			}
			for at := base; at < end; at += lineTile {
				n := min(lineTile, end-at)
				products.collect(p.line.Runs[at:at+n], base, base+tasks.Lattice-at)
				if len(products.points) == 0 { // rows that see nothing, as a lattice that is only read
					continue
				}
				simd.GemmPacked(plain[:n*c], c, d[at*out:(at+n)*out], out, packed, nil, simd.ActNone, n)
				simd.GemmRuns(part, f, plain[:n*c], products.shared, 1, mid, in)
				simd.GemmRuns(dw, f, plain[:n*c], products.own, 0, mid, in)
				if df != nil {
					simd.GemmPacked(turned[:n*mid*wide], mid*wide, d[at*out:(at+n)*out], out, transposed, nil, simd.ActNone, n)
					simd.GemmRuns(sum, w, turned[:n*mid*wide], products.points, 1, wide, mid)
				}
			}
			if df != nil {
				for i := range tasks.Size {
					copy(df[(base+i)*in:(base+i+1)*in], sum[i*wide:])
				}
			}
		}
	})
	clear(dw[:lattice])
	for at := 0; at < len(parts); at += max(1, lattice) {
		simd.Add(dw[:lattice], dw[:lattice], parts[at:at+lattice])
	}
	return dw
}
