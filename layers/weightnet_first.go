package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// The first layer of a WeightNet reads poses of a few numbers each. Its results are many times as large and take less time to
// compute than to fetch, so they are never kept. They are also linear in the pose, so sums over all poses follow from the moments
// of the poses by closed formulas, which saves two passes over the data.

// firstLayer is the first layer's linear map combined with the normalisation behind it, as one linear map.
type firstLayer[T Float] struct {
	packed  *simd.Packed[T]
	bias    []T
	moments *poseMoments // of the rows that the statistics were taken over; nil if there were none
}

// poseMoments are the weighted mean [e] and covariance [e, e] of poses.
type poseMoments struct {
	mean, covariance []float64
	total            float64
}

// momentGrain is the number of poses that a goroutine adds up at a time.
const momentGrain = 1 << 12

// momentsOfPoses returns the moments of pose [rows, e], where row i counts count[i] times (nil: once). Rows that do not count are
// not read. With d a row's difference from the first counted row, they are mean(d) and mean(d·dᵀ) - mean(d)·mean(d)ᵀ.
func momentsOfPoses[T Float](pose []T, count []int32, e int) *poseMoments {
	rows := len(pose) / e
	m := &poseMoments{mean: make([]float64, e), covariance: make([]float64, e*e)}
	first := 0
	for count != nil && first < rows && count[first] == 0 {
		first++
	}
	if first == rows {
		return m
	}
	start := make([]float64, e)
	for k, v := range pose[first*e : (first+1)*e] {
		start[k] = float64(v)
	}
	sums := reduce.Rows(rows, momentGrain, 1+e+e*e, func(sum []float64, lo, hi int) {
		if e == 1 && count != nil {
			var w, first, second float64
			for i, v := range pose[lo:hi] {
				if n := float64(count[lo+i]); n != 0 {
					d := float64(v) - start[0]
					w += n
					first += n * d
					second += n * d * d
				}
			}
			sum[0], sum[1], sum[2] = w, first, second
			return
		}
		d := make([]float64, e)
		for i := lo; i < hi; i++ {
			w := 1.0
			if count != nil {
				if w = float64(count[i]); w == 0 {
					continue
				}
			}
			for k, v := range pose[i*e : (i+1)*e] {
				d[k] = float64(v) - start[k]
			}
			sum[0] += w
			for k, v := range d {
				v *= w
				sum[1+k] += v
				for l, u := range d[:k+1] {
					sum[1+e+k*e+l] += v * u
				}
			}
		}
	})
	m.total = sums[0]
	for k := range e {
		m.mean[k] = sums[1+k] / m.total
	}
	for k := range e {
		for l := range k + 1 {
			v := sums[1+e+k*e+l]/m.total - m.mean[k]*m.mean[l]
			if k == l {
				v = max(v, 0)
			}
			m.covariance[k*e+l], m.covariance[l*e+k] = v, v
		}
	}
	for k := range e {
		m.mean[k] += start[k]
	}
	return m
}

// through returns the moments of W·pose + b: the mean W·mean + b and, for every channel with weights w, the variance
// w·covariance·w.
func (p *poseMoments) through(weight, bias []float64) *moments {
	e, c := len(p.mean), len(bias)
	m := &moments{mean: make([]float64, c), variance: make([]float64, c), total: p.total}
	for j := range c {
		w := weight[j*e : (j+1)*e]
		m.mean[j] = bias[j]
		for k, v := range w {
			m.mean[j] += v * p.mean[k]
		}
		m.variance[j] = max(0, dotFloat(w, p.spread(w)))
	}
	return m
}

// spread returns covariance·w.
func (p *poseMoments) spread(w []float64) []float64 {
	e := len(p.mean)
	out := make([]float64, e)
	for k := range out {
		out[k] = dotFloat(p.covariance[k*e:(k+1)*e], w)
	}
	return out
}

func dotFloat(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += v * b[k]
	}
	return sum
}

// wide returns x in float64.
func wide[T Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// prepareFirst determines the first layer's map. norm makes its normalisation from the moments of the layer's results in Train
// mode.
func (t *WeightNetTape[T]) prepareFirst(count []int32, mode Mode, norm func(m *moments) *BatchNormTape[T]) {
	l := t.net.Linear[0]
	weight, bias := wide(l.Weight), wide(l.Bias)
	if n := t.net.Norm[0]; n != nil {
		m := &moments{}
		if mode == Train {
			t.first.moments = momentsOfPoses(t.pose, count, l.In)
			m = t.first.moments.through(weight, bias)
		}
		t.norm[0] = norm(m)
		// (w·x + b - mean)·s + β = (s·w)·x + (s·(b - mean) + β)
		for j := range l.Out {
			if t.norm[0].mean == nil {
				break
			}
			s := float64(n.Weight[j]) * t.norm[0].inv[j]
			for k := range l.In {
				weight[j*l.In+k] *= s
			}
			bias[j] = s*(bias[j]-t.norm[0].mean[j]) + float64(n.Bias[j])
		}
	}
	folded := make([]T, len(weight))
	for i, v := range weight {
		folded[i] = T(v)
	}
	t.first.packed, t.first.bias = simd.PackTransposed(folded, l.In, l.In, l.Out), make([]T, l.Out)
	for i, v := range bias {
		t.first.bias[i] = T(v)
	}
}

// firstNormalised sets z to rows lo to hi of the input of the first layer's swish.
func (t *WeightNetTape[T]) firstNormalised(z []T, lo, hi int) {
	in, out := t.net.Linear[0].In, t.net.Linear[0].Out
	simd.GemmPacked(z, out, t.pose[lo*in:hi*in], in, t.first.packed, t.first.bias, simd.ActNone, hi-lo)
}

// center returns what firstSums subtracts from the poses, in T.
func (t *WeightNetTape[T]) center() []T {
	c := make([]T, t.net.Linear[0].In)
	if m := t.first.moments; m != nil {
		for k, v := range m.mean {
			c[k] = T(v)
		}
	}
	return c
}

// firstSums adds to sum the sums of the columns of dz [rows, c], the gradient to the first layer's normalised values, followed by
// [e, c], the sums of dz's products with the poses of rows lo to hi minus their center.
func (t *WeightNetTape[T]) firstSums(sum []float64, dz, center []T, lo, hi int) {
	e, c := len(center), t.net.Linear[0].Out
	reduce.Columns(sum[:c], dz)
	rows := hi - lo
	room := buffers.Rent[T](rows*e + e*c)
	defer buffers.GiveBack(room)
	x, part := room[:rows*e], room[rows*e:]
	for i, v := range t.pose[lo*e : hi*e] {
		x[i] = v - center[i%e]
	}
	simd.GemmTN(part, c, x, e, dz, c, 1, 0, e, c, rows)
	for i, v := range part {
		sum[c+i] += float64(v)
	}
}

// firstGradient adds the gradients of the first layer's parameters to g, given the sums of firstSums over all rows. du, the
// gradient to the layer's results, is a·dz - m·(p + q·(u - mean)) (see BatchNorm.Backward). So with x a row's pose minus the
// mean, T = Σ dz·xᵀ and C the covariance, the gradient of channel j's weights is
//
//	Σ m·x = 0,  Σ m·(u_j - mean_j)·x = N·C·w_j  ⇒  Σ du_j·x = a_j·T_j - q_j·N·C·w_j
//
// If poses are single numbers, scaling w_j changes nothing behind the normalisation, and the two terms cancel up to rounding.
func (t *WeightNetTape[T]) firstGradient(sum []float64, center []T, g *Grads[T]) *normGradient[T] {
	l, n := t.net.Linear[0], t.norm[0]
	e, c := l.In, l.Out
	weight := wide(l.Weight)
	products := make([]float64, c*e) // Σ dz·x, of each channel
	for k := range e {
		// rest is what rounding the center to T has left.
		rest := 0.0
		if m := t.first.moments; m != nil {
			rest = m.mean[k] - float64(center[k])
		}
		for j := range c {
			products[j*e+k] = sum[c+k*c+j] - rest*sum[j]
		}
	}
	if n == nil || n.mean == nil {
		reduce.AddTo(g.Of(l.Bias), sum[:c])
		reduce.AddTo(g.Of(l.Weight), products)
		return nil
	}
	sums := make([]float64, 2*c) // of dz and of dz·(u - mean)
	copy(sums, sum[:c])
	for j := range c {
		w := weight[j*e : (j+1)*e]
		sums[c+j] = dotFloat(w, products[j*e:(j+1)*e])
		if t.first.moments == nil { // running statistics: x is the pose itself
			sums[c+j] += sum[j] * (float64(l.Bias[j]) - n.mean[j])
		}
	}
	k := t.net.Norm[0].gradient(n, sums, g)
	for j := range c {
		w, p := weight[j*e:(j+1)*e], products[j*e:(j+1)*e]
		a := float64(t.net.Norm[0].Weight[j]) * n.inv[j]
		var spread []float64
		if n.total > 0 && !n.clamped[j] {
			spread = t.first.moments.spread(w)
		}
		for i := range p {
			p[i] *= a
			if spread != nil {
				p[i] -= a * n.inv[j] * n.inv[j] * sums[c+j] * spread[i]
			}
		}
		if n.total == 0 {
			sum[j] *= a
		}
	}
	reduce.AddTo(g.Of(l.Weight), products)
	if n.total == 0 {
		reduce.AddTo(g.Of(l.Bias), sum[:c])
	}
	return &k
}

// poseGradient sets dpose to the gradient to the poses, given dz [rows, c], the gradient to the first layer's normalised values.
func (t *WeightNetTape[T]) poseGradient(dpose, dz []T, norm *normGradient[T]) {
	l := t.net.Linear[0]
	in, out := l.In, l.Out
	forward, back := simd.PackTransposed(l.Weight, in, in, out), simd.Pack(l.Weight, in, out, in)
	parallel.For(t.rows, rowGrain, func(lo, hi int) {
		du := dz[lo*out : hi*out]
		if norm != nil {
			u := buffers.Rent[T](len(du))
			simd.GemmPacked(u, out, t.pose[lo*in:hi*in], in, forward, l.Bias, simd.ActNone, hi-lo)
			norm.rows(du, du, u, t.norm[0], lo)
			buffers.GiveBack(u)
		}
		simd.GemmPacked(dpose[lo*in:hi*in], in, du, out, back, nil, simd.ActNone, hi-lo)
	})
}
