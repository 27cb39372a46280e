package spectral

import "math"

// waves are the cosines and sines of all multiples of a full turn divided by the points of a transform.
type waves struct{ cos, sin []float64 }

var wavesOf = func() map[int]waves {
	m := map[int]waves{}
	for _, t := range transforms {
		w := waves{make([]float64, t.points), make([]float64, t.points)}
		for i := range t.points {
			w.sin[i], w.cos[i] = math.Sincos(2 * math.Pi * float64(i) / float64(t.points))
		}
		m[t.odd] = w
	}
	return m
}()

// forwardGeneric sets the slots dst to the transform of x, point by point at t.place:
//
//	real part  Σ x·cos(2πkx/points)        imaginary part  -Σ x·sin(2πkx/points)
func forwardGeneric(dst, x []float32, t *transform) {
	w := wavesOf[t.odd]
	for s, p := range t.parts {
		out := dst[s*lanes : (s+1)*lanes]
		if p.kind == bothParts {
			re, im := dst[(s-2)*lanes:(s-1)*lanes], dst[(s-1)*lanes:s*lanes]
			for i := range out {
				out[i] = re[i] + im[i]
			}
			continue
		}
		var sum [lanes]float64
		for at := range t.points {
			factor := w.cos[p.frequency*at%t.points]
			if p.kind == imaginaryPart {
				factor = -w.sin[p.frequency*at%t.points]
			}
			for i, v := range x[t.place[at]/4:][:lanes] {
				sum[i] += factor * float64(v)
			}
		}
		for i, v := range sum {
			out[i] = float32(v)
		}
	}
}

// inverseGeneric sets x, point by point at t.place, from slots that have been multiplied by part.weight and convolved:
//
//	x = Σ (im slot + both slot)·cos(2πkx/points) - (re slot + both slot)·sin(2πkx/points)
func inverseGeneric(x, src []float32, t *transform) {
	w := wavesOf[t.odd]
	for at := range t.points {
		var sum [lanes]float64
		for s, p := range t.parts {
			c, sin := w.cos[p.frequency*at%t.points], w.sin[p.frequency*at%t.points]
			factor := c // of this slot
			switch p.kind {
			case realPart:
				factor = -sin
			case bothParts:
				factor = c - sin
			}
			for i, v := range src[s*lanes:][:lanes] {
				sum[i] += factor * float64(v)
			}
		}
		for i, v := range sum {
			x[int(t.place[at]/4)+i] = float32(v)
		}
	}
}

// kernelOrder says how many lines apart taps and slots of a kernel stand.
type kernelOrder struct{ tap, slot int }

// convolveGeneric convolves each slot down the rows of x [rows + taps - 1, slots, lanes] with k [slots, taps, lanes],
// or in another order of k: row i of dst [rows, slots, lanes] becomes Σ over t of k[t]·x[i+t], or is added to. dst may
// be x.
func convolveGeneric(dst, x, k []float32, taps, rows, slots int, o kernelOrder, add bool) {
	for s := range slots {
		for i := range rows {
			var sum [lanes]float32
			out := dst[(i*slots+s)*lanes:][:lanes]
			if add {
				copy(sum[:], out)
			}
			for t := range taps {
				in, factor := x[((i+t)*slots+s)*lanes:][:lanes], k[(s*o.slot+t*o.tap)*lanes:][:lanes]
				for l := range sum {
					sum[l] += factor[l] * in[l]
				}
			}
			copy(out, sum[:])
		}
	}
}

// linesGeneric sets n lines of dst to those of src, or with add to max(0, dst + src): NaN for NaN, and never -0.
func linesGeneric(dst []float32, dstStride int, src []float32, srcStride, n int, add bool) {
	for i := range n {
		to, from := dst[i*dstStride:][:lanes], src[i*srcStride:][:lanes]
		if !add {
			copy(to, from)
			continue
		}
		for l, v := range from {
			to[l] = max(0, to[l]+v)
		}
	}
}

// spread sets the lines of x at the places of n points to rows of src, of which c channels count, stride apart.
func spread(x, src []float32, place []int32, n, c, stride int) {
	for i, at := range place[:n] {
		line := x[at/4:][:lanes]
		clear(line[copy(line, src[i*stride:][:c]):])
	}
}

// gather sets n rows of dst, of which c channels count, stride apart, to the lines of x at the places of points, each times scale. A number
// of check, if it was finite, becomes NaN where a result of its channel is not finite.
func gather(dst, x, scale, check []float32, place []int32, n, c, stride int) {
	for i, at := range place[:n] {
		line, row := x[at/4:][:lanes], dst[i*stride:][:c]
		for l := range row {
			v := line[l] * scale[i]
			row[l] = v
			check[l] += v * 0
		}
	}
}
