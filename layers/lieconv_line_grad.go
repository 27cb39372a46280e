package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// lineTile is the number of rows whose gradients to the sums of outer products are made at a time: they are used at once, for all
// of a row's neighbours, and never leave the cache.
const lineTile = 16

// linePad is a multiple of the channels for which products with a row's matrix read it where it lies.
const linePad = 16

// lineRunPoints bounds the points of one product, for the same reason.
const lineRunPoints = 48

// lineBackward sets df [rows, in], if it is not nil, to the gradient to the features, given d [rows, out], that to the linear map's
// result, and returns that to the weights [poses, mid], rented. As in a run of neighbours points and poses follow each other, both
// gradients are matrix products: with D_i [in, mid] the gradient to row i's sums,
//
//	dw[run] = f[run]·D_i,  df[run] = w[run]·D_iᵀ
//
// added up where lattice points share a pose, and over all rows that see a point. A goroutine takes whole tasks.
func (t *LieConvTape[T]) lineBackward(df, d []T) []T {
	l, p, tasks := t.layer, t.pairs, t.pairs.line.tasks
	in, mid, out := l.In, l.WeightNet.Out(), l.Out
	c, wide := in*mid, (in+linePad-1)/linePad*linePad
	w := t.net.Weights()
	dw := rent[T](p.NumPoses() * mid)
	lattice := p.line.shared * mid
	parts := make([]T, len(tasks.own)*lattice)

	// The rows of D_i follow from d by the linear map's weights [out, in, mid]; for its transpose they are [out, mid, in],
	// channels filled up with zeros.
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
	parallel.For(len(tasks.own), 1, func(lo, hi int) {
		room := rent[T](lineTile*(c+mid*wide) + tasks.size*wide)
		defer giveBack(room)
		plain, turned, sum := room[:lineTile*c], room[lineTile*c:lineTile*(c+mid*wide)], room[lineTile*(c+mid*wide):]
		for task := lo; task < hi; task++ {
			base, end := task*tasks.size, (task+1)*tasks.size
			part := parts[task*lattice : (task+1)*lattice]
			if df != nil {
				clear(sum)
			}
			for at := base; at < end; at += lineTile {
				n := min(lineTile, end-at)
				simd.GemmPacked(plain[:n*c], c, d[at*out:(at+n)*out], out, packed, nil, simd.ActNone, n)
				if df != nil {
					simd.GemmPacked(turned[:n*mid*wide], mid*wide, d[at*out:(at+n)*out], out, transposed, nil, simd.ActNone, n)
				}
				for i := range n {
					for side, run := range p.line.runs[at+i] {
						dst, add := dw, T(0)
						if side == 0 && at+i < base+tasks.lattice {
							dst, add = part, 1
						}
						for run.n > 0 {
							k := min(int(run.n), lineRunPoints)
							point, pose := int(run.point), int(run.pose)
							simd.Gemm(dst[pose*mid:(pose+k)*mid], mid, t.f[point*in:(point+k)*in], in, plain[i*c:(i+1)*c], mid,
								1, add, k, mid, in)
							if df != nil {
								to := sum[(point-base)*wide:][:k*wide]
								simd.Gemm(to, wide, w[pose*mid:(pose+k)*mid], mid, turned[i*mid*wide:(i+1)*mid*wide], wide,
									1, 1, k, wide, mid)
							}
							run.point, run.pose, run.n = run.point+int32(k), run.pose+int32(k), run.n-int32(k)
						}
					}
				}
			}
			if df != nil {
				for i := range tasks.size {
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
