package spectral

import (
	encoding "encoding/binary"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

const eps = 0x1p-23

// fuzzed returns n numbers whose bits are those given, again and again; no bits repeat as zeros.
func fuzzed(t *testing.T, bits []byte, n int) []float32 {
	x := testkit.AtEnd[float32](t, n)
	for i := range x {
		if k := len(bits) / 4; k > 0 {
			x[i] = math.Float32frombits(encoding.LittleEndian.Uint32(bits[i%k*4:]))
		}
	}
	return x
}

// addEdges adds seeds whose numbers are ordinary, large, tiny and not finite.
func addEdges(add func(bits []byte)) {
	for _, x := range [][]float32{nil, {1}, {1, -2, 0.5, 3, 7, -0.25, 1e-3}, {1e30, -1e-30, 1}, {1e-40, 1, -1e-45},
		{1, 2, float32(math.Inf(1)), 3}, {float32(math.NaN()), 1}, {math.MaxFloat32, math.MaxFloat32, 1}} {
		var b []byte
		for _, v := range x {
			b = encoding.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		add(b)
	}
}

// fuzzLevels runs f at every level of the machine.
func fuzzLevels(t *testing.T, f func(l cpu.Level)) {
	before := cpu.CurrentLevel()
	defer func() {
		if err := cpu.SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	for _, l := range cpu.Levels() {
		if err := cpu.SetLevel(l); err != nil {
			t.Fatal(err)
		}
		f(l)
	}
}

// FuzzTransform compares transforms of rows of any length, stride and number of channels, from any place on, and the
// way back, with sums in float64. The way back tells of each channel whether a result is not finite, and nothing
// between rows is written to.
func FuzzTransform(f *testing.F) {
	i := 0
	addEdges(func(b []byte) {
		f.Add(b, uint8(11*i), uint8(7*i), uint8(16-i), uint8(i), i%2 == 0)
		f.Add(b, uint8(79+i), uint8(0), uint8(16), uint8(0), i%2 == 1)
		i++
	})
	f.Fuzz(func(t *testing.T, bits []byte, length, start, channels, apart uint8, large bool) {
		tr := transforms[0]
		if large {
			tr = transforms[1+int(start)%(len(transforms)-1)]
		}
		n, from, c := 1+int(length)%tr.points, int(start)%tr.points, 1+int(channels+lanes-1)%lanes
		stride := c + int(apart)%40
		room := max(0, (n-1)*stride+c)
		src, slots, scale := fuzzed(t, bits, room), fuzzed(t, bits, tr.slots*lanes), fuzzed(t, bits, tr.points)
		cos := func(k int) float64 { return math.Cos(2 * math.Pi * float64(k%tr.points) / float64(tr.points)) }
		sin := func(k int) float64 { return math.Sin(2 * math.Pi * float64(k%tr.points) / float64(tr.points)) }
		channel := int(apart) % c // of whose results all are checked
		fuzzLevels(t, func(l cpu.Level) {
			// Kernels sum in some 8 steps, the portable twin number by number.
			factor := 32 * eps
			if l == cpu.Generic {
				factor = float64(tr.slots+8) * eps
			}
			in, between, out := aligned(tr.points*lanes), aligned(tr.points*lanes), aligned(tr.slots*lanes)
			spreadForward(out, between, in, src, tr.place[from:], tr, n, c, stride)
			sum := 0.0
			for i := range n {
				sum += math.Abs(float64(src[i*stride+channel]))
			}
			if sum < math.MaxFloat32/4 {
				for s, p := range tr.parts {
					want := 0.0
					for i := range n {
						k := p.frequency * (from + i)
						factor := map[partKind]float64{alone: cos(k), realPart: cos(k), imaginaryPart: -sin(k),
							bothParts: cos(k) - sin(k)}[p.kind]
						want += factor * float64(src[i*stride+channel])
					}
					if diff := math.Abs(float64(out[s*lanes+channel]) - want); !(diff <= 2*factor*sum+0x1p-140) {
						t.Fatalf("level=%v: %d of %d points from %d, %d channels: slot %d of channel %d is %g, want %g within %g",
							l, n, tr.points, from, c, s, channel, out[s*lanes+channel], want, 2*factor*sum)
					}
				}
			}

			back, check, dst := aligned(tr.points*lanes), aligned(lanes), testkit.AtEnd[float32](t, room)
			for i := range dst {
				dst[i] = 42
			}
			memory := aligned(len(slots)) // the kernel may spoil them
			copy(memory, slots)
			inverseGather(dst, between, back, memory, scale, check, tr, n, c, stride)
			for i, v := range dst {
				if i%stride >= c && v != 42 {
					t.Fatalf("level=%v: %d points of %d channels, %d apart: number %d, between two of them, is set to %g", l, n,
						c, stride, i, v)
				}
			}
			for ch := range c {
				finite := true
				for i := range n {
					v := dst[i*stride+ch]
					finite = finite && v-v == 0
				}
				if finite != (check[ch] == 0) {
					t.Fatalf("level=%v: %d points of %d channels: results of channel %d are finite: %v, and the check says %g", l,
						n, c, ch, finite, check[ch])
				}
			}
			sum = 0
			for s := range tr.parts {
				sum += 2 * math.Abs(float64(slots[s*lanes+channel]))
			}
			if !(sum < math.MaxFloat32/4) {
				return
			}
			for i := range n {
				want := 0.0
				for s, p := range tr.parts {
					k := p.frequency * i
					factor := map[partKind]float64{alone: cos(k), realPart: -sin(k), imaginaryPart: cos(k),
						bothParts: cos(k) - sin(k)}[p.kind]
					want += factor * float64(slots[s*lanes+channel])
				}
				by := float64(scale[i])
				want *= by
				bound := (2*factor*sum+0x1p-140)*math.Abs(by) + 0x1p-140
				if !(bound < math.MaxFloat32 && math.Abs(want)+bound < math.MaxFloat32) {
					continue
				}
				if diff := math.Abs(float64(dst[i*stride+channel]) - want); !(diff <= bound) {
					t.Fatalf("level=%v: %d of %d points, %d channels: point %d of channel %d is %g, want %g within %g", l, n,
						tr.points, c, i, channel, dst[i*stride+channel], want, bound)
				}
			}
		})
	})
}

// FuzzLifted compares convolutions over grids of points in several lifts, with steps that come and go as the bytes say,
// and their gradients with sums in float64. An input is for one level and one of the three, so that it takes
// milliseconds.
func FuzzLifted(f *testing.F) {
	i := 0
	addEdges(func(b []byte) {
		for what := range uint8(3) {
			for l := range cpu.Levels() {
				f.Add(b, []byte{1, 0, 7}, uint8(i), uint8(17*i), uint8(i), uint8(i/2), uint8(3*i), uint8(l), what)
				f.Add(b, []byte{}, uint8(2), uint8(90), uint8(i%3), uint8(1), uint8(14+i), uint8(l), what)
			}
		}
		i++
	})
	f.Fuzz(func(t *testing.T, bits, holes []byte, high, wide, lift, reach, channels, l, what uint8) {
		h, w, lifts, r, c := 1+int(high)%6, 2+int(wide)%100, 1+int(lift)%3, int(reach)%4, 1+int(channels)%19
		h, w = max(1, h/lifts), max(2, w/lifts)
		offsets, index, pose, poses := lifted(h, w, lifts, r)
		if len(holes) > 0 {
			at := 0
			for i := range len(offsets) - 1 {
				lo := at
				for k := offsets[i]; k < offsets[i+1]; k++ {
					if holes[int(pose[k])%len(holes)]%5 != 1 {
						index[at], pose[at] = index[k], pose[k]
						at++
					}
				}
				offsets[i] = lo
			}
			offsets[len(offsets)-1] = at
			index, pose = index[:at], pose[:at]
		}
		g := FindLifted(offsets, index, pose, w, lifts)
		if (g == nil) != (len(index) == 0) {
			t.Fatalf("%d pairs of %dx%dx%d points: found %v", len(index), h, w, lifts, g != nil)
		}
		if g == nil {
			return
		}
		n, channel := h*w*lifts, int(high)%c
		features, d, weights, scale := fuzzed(t, bits, n*c), fuzzed(t, bits, n*c), fuzzed(t, bits, poses*c), fuzzed(t, bits, n)
		slices.Reverse(d)
		for i := range scale {
			if !(math.Abs(float64(scale[i])) < 1e3) {
				scale[i] = 2
			}
		}
		at := func(x []float32, i int) float64 { return float64(x[i*c+channel]) }
		out, df, dw := make([]float64, n), make([]float64, n), make([]float64, poses)
		for i := range n {
			for k := offsets[i]; k < offsets[i+1]; k++ {
				j, q := int(index[k]), int(pose[k])
				out[i] += at(features, j) * at(weights, q)
				df[j] += at(d, i) * at(weights, q)
				dw[q] += at(d, i) * at(features, j)
			}
			out[i] *= float64(scale[i%lifts*h*w+i/lifts])
		}
		ones := slices.Repeat([]float32{1}, n)
		before := cpu.CurrentLevel()
		defer func() {
			if err := cpu.SetLevel(before); err != nil {
				t.Fatal(err)
			}
		}()
		level := cpu.Levels()[int(l)%len(cpu.Levels())]
		if err := cpu.SetLevel(level); err != nil {
			t.Fatal(err)
		}
		switch what % 3 {
		case 0, 1:
			sums := func(name string, g *Grid, x, scale []float32, want []float64) {
				tiling := g.Tiling()
				got, broken := compute(New(tiling, weights, c), x, scale, c, max(1, int(reach)/4%(g.H+1)))
				bounds := boundsOf(g, x, weights, c, channel)
				for i, want := range want {
					tile, _, _ := tiling.Segment(i / lifts)
					if broken[i/lifts/g.W*tiling.Tiles()+tile].Load() {
						continue
					}
					by := math.Abs(float64(scale[i%lifts*h*w+i/lifts]))
					// What sums lose where they are subnormal is multiplied, too.
					bound := (bounds[i/lifts/g.W*lifts+i%lifts]+0x1p-140)*by + 0x1p-140
					if v := got[i*c+channel]; !(math.Abs(float64(v)-want) <= bound) {
						t.Fatalf("level=%v: %s of %dx%dx%d points, reach %d, c=%d: [%d, %d] = %g, want %g within %g", level, name,
							h, w, lifts, r, c, i, channel, v, want, bound)
					}
				}
			}
			if what%3 == 0 {
				sums("sums", g, features, scale, out)
			} else {
				sums("gradient to the features", g.Transposed(), d, ones, df)
			}
		case 2:
			got, tiling := make([]float32, poses*c), g.Tiling()
			var ws Workspace
			for slab := range Slabs(c) {
				for tile := range tiling.Tiles() {
					tiling.Correlate(&ws, got, d, features, c, slab, tile)
				}
			}
			if back := g.Transposed().Tiling(); tiling.Once() {
				df, dw, plan := make([]float32, n*c), make([]float32, poses*c), New(back, weights, c)
				for slab := range Slabs(c) {
					plan.Gradients(&ws, df, dw, d, features, ones, make([]atomic.Bool, g.H), tiling, slab)
				}
				whole, _ := compute(plan, d, ones, c, g.H)
				same := func(a, b float32) bool { return a == b || a != a && b != b }
				if !slices.EqualFunc(df, whole, same) || !slices.EqualFunc(dw, got, same) {
					t.Fatalf("level=%v: gradients of %dx%dx%d points, reach %d, c=%d, differ where they are computed together",
						level, h, w, lifts, r, c)
				}
			}
			a, b := rowNorms(g, d, c, channel), rowNorms(g, features, c, channel)
			bounds := make([]float64, poses)
			for _, s := range g.Steps {
				for y := range g.H {
					if v := y + s.DY; v >= 0 && v < g.H {
						p, q := a[y*lifts+s.To], b[v*lifts+s.From]
						bounds[s.Pose] += 32*eps*p*q + 0x1p-140*(p+q) + 0x1p-140
					}
				}
			}
			// What overflows on its way, as the transform of large numbers does, is not finite. Callers see that, and sum over pairs.
			overflows := !(slices.Max(a) < 1e34 && slices.Max(b) < 1e34)
			for q, bound := range bounds {
				v := got[q*c+channel]
				if v-v != 0 && (overflows || !(bound < 1e28)) {
					continue
				}
				if !(math.Abs(float64(v)-dw[q]) <= bound) {
					t.Fatalf("level=%v: gradient to the weights of %dx%dx%d points, reach %d, c=%d: [%d, %d] = %g, want %g within %g",
						level, h, w, lifts, r, c, q, channel, v, dw[q], bound)
				}
			}
		}
	})
}

// rowNorms are the Euclidean norms of a channel of x [h, w, lifts, c] by rows and lifts, [h, lifts].
func rowNorms(g *Grid, x []float32, c, channel int) []float64 {
	norms := make([]float64, g.H*g.Lifts)
	for i := range g.H * g.W * g.Lifts {
		norms[i/g.Lifts/g.W*g.Lifts+i%g.Lifts] += math.Pow(float64(x[i*c+channel]), 2)
	}
	for i, v := range norms {
		norms[i] = math.Sqrt(v)
	}
	return norms
}

// boundsOf are those of the package's comment, with a factor of 8, by rows and lifts of the results, and what underflow may add.
func boundsOf(g *Grid, x, weights []float32, c, channel int) []float64 {
	norms := rowNorms(g, x, c, channel)
	squares := map[[3]int]float64{} // of the weights, by rows of steps from lift to lift
	for _, s := range g.Steps {
		squares[[3]int{s.DY, s.To, s.From}] += math.Pow(float64(weights[int(s.Pose)*c+channel]), 2)
	}
	bounds := make([]float64, g.H*g.Lifts)
	for k, square := range squares {
		for y := range g.H {
			if v := y + k[0]; v >= 0 && v < g.H {
				f, w := norms[v*g.Lifts+k[2]], math.Sqrt(square)
				bounds[y*g.Lifts+k[1]] += 8*eps*w*f + 0x1p-140*(w+f)
			}
		}
	}
	return bounds
}
