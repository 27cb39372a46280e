package bands

import (
	"context"
	encoding "encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// fuzzed returns n numbers whose bits are those given, from one of them on and again and again; no bits repeat as zeros.
func fuzzed(bits []byte, n, from int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if k := len(bits) / 4; k > 0 {
			x[i] = math.Float32frombits(encoding.LittleEndian.Uint32(bits[(i+from)%k*4:]))
		}
	}
	return x
}

// fuzzedGrid is a grid whose steps come and go as the bytes say, in a rectangle around the middle or beside it. It has a step.
func fuzzedGrid(high, wide, up, left uint8, holes []byte) *spectral.Grid {
	g := &spectral.Grid{H: 1 + int(high)%70, W: 1 + int(wide)%20, Lifts: 1}
	if g.H > 20 {
		g.W = min(g.W, 9) // for the twin a larger one takes long
	}
	for dy := -int(up % 6); dy <= int(up/6%6); dy++ {
		for dx := -int(left % 8); dx <= int(left/8%8); dx++ {
			if i := len(g.Steps); len(holes) == 0 || holes[(7*dy&0xff+dx&0xff)%len(holes)]%3 != 1 {
				g.Steps = append(g.Steps, spectral.Step{DY: dy, DX: dx, Pose: int32(i)})
			}
		}
	}
	if len(g.Steps) == 0 {
		g.Steps = []spectral.Step{{DY: -int(up % 6), DX: int(left / 8 % 8)}}
	}
	return g
}

// edges are bits of numbers that are ordinary, on both sides of 2^-126 with all that makes sums of such, and large or no numbers.
func edges() (all [][]byte) {
	tiny := float32(0x1p-126)
	for _, x := range [][]float32{
		nil, {1}, {1, -2, 0.5, 3, 7, -0.25, 1e-3}, {1e30, -1e-30, 1}, {1e-40, 1, -1e-45, tiny, -tiny, math.Nextafter32(tiny, 0)},
		{0x1p-63, -0x1p-63, 0x1.fep-64, 0x1.02p-63, 0x1p-75, -0x1p-75, 1, tiny}, {1, 2, float32(math.Inf(1)), 3, -1},
		{float32(math.NaN()), 1, 0},
		{math.MaxFloat32, -math.MaxFloat32, 1, float32(math.Copysign(0, -1)), 0x1.fep63, -0x1.fep63},
		{0x1.01p0, 0x1.03p0, 0x1.0100002p0, -0x1.03p-8},
	} {
		var b []byte
		for _, v := range x {
			b = encoding.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		all = append(all, b)
	}
	return all
}

// memory is what kernels write to, each part between pages that cannot be read on one side.
type memory struct {
	planes [2][]uint16
	pairs  []uint16
	h      []float32
}

// same tells where two memories differ in more than the bits of what is no number, or returns "".
func (m *memory) same(other *memory) string {
	for name, x := range map[string][2][]uint16{"the first planes": {m.planes[0], other.planes[0]},
		"the second planes": {m.planes[1], other.planes[1]}, "the pairs": {m.pairs, other.pairs}} {
		for i, v := range x[0] {
			if o := x[1][i]; v != o && !(float(v) != float(v) && float(o) != float(o)) {
				return fmt.Sprintf("[%d] of %s is %g, not %g", i, name, float(v), float(o))
			}
		}
	}
	for i, v := range m.h {
		if o := other.h[i]; math.Float32bits(v) != math.Float32bits(o) && (v == v || o == o) {
			return fmt.Sprintf("[%d] of the rows is %g, not %g", i, v, o)
		}
	}
	return ""
}

// FuzzBands runs each kernel on grids of any size and window, and on any bit patterns, between pages that cannot be
// read: tiles and portable Go leave the same bits in all of the memory, so that neither writes where the other does
// not, and no column writes to what is another's.
func FuzzBands(f *testing.F) {
	for i, b := range edges() {
		f.Add(b, []byte{0, 255, 3, 1, 0, 7}, uint8(9*i), uint8(7*i), uint8(11*i), uint8(29*i), uint8(37*i))
		f.Add(b, []byte(nil), uint8(63+i), uint8(15+i), uint8(5+i), uint8(63-i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, bits, holes []byte, high, wide, up, left, which uint8) {
		g := fuzzedGrid(high, wide, up, left, holes)
		c := Group * (1 + int(which>>7))
		layers := make([]Layer, 2)
		for i := range layers {
			layers[i] = Layer{fuzzed(bits, len(g.Steps)*c, i), fuzzed(bits, c*c, 1+i), fuzzed(bits, c, 2+i)}
		}
		n := New(g, fuzzed(bits, g.H*g.W, 3), c, layers)
		features, sums := fuzzed(bits, g.H*g.W*c, 4), make([]uint16, 2*c*n.plane+n.pairs())
		for i, v := range fuzzed(bits, len(sums), 5) {
			sums[i] = round(v) // kernels meet none below 2^-126
		}
		place16, place32 := testkit.CopyAtEnd[uint16], testkit.CopyAtEnd[float32]
		if which>>6&1 == 1 {
			place16, place32 = testkit.CopyAtStart[uint16], testkit.CopyAtStart[float32]
		}
		guarded := *n
		guarded.scale, guarded.layers = place32(t, n.scale), slices.Clone(n.layers)
		for i, l := range n.layers {
			guarded.layers[i] = layer{place16(t, l.strips), place16(t, l.dense), place32(t, l.bias)}
		}
		n = &guarded
		channels, column := int(which)%(c/2), int(which)%n.columns
		// run gives each kernel of three layers one unit of its work, at one level.
		run := func(level cpu.Level) *memory {
			if err := cpu.SetLevel(level); err != nil {
				t.Fatal(err)
			}
			var w Workspace
			w.room(n, 1, 1)
			w.images, w.ctx = 1, context.Background()
			w.own[0] = own{tiles: place16(t, w.own[0].tiles), sums: place32(t, w.own[0].sums), scratch: place32(t, w.own[0].scratch)}
			w.h, w.pairs = place32(t, features), place16(t, sums[:n.pairs()])
			for i := range w.planes {
				w.planes[i] = place16(t, sums[n.pairs()+i*c*n.plane:][:c*n.plane])
			}
			m := &memory{w.planes, w.pairs, w.h}
			w.enterColumn(0, min(column, (g.W-1)/side), 0)
			for w.layer = range n.layers {
				if w.layer > 0 {
					w.convolvePair(0, channels, 0)
				}
				before := memory{h: slices.Clone(w.h)}
				for i := range w.planes {
					before.planes[i] = slices.Clone(w.planes[i])
				}
				w.mapColumn(0, column, 0)
				for i := range w.planes {
					for at, v := range w.planes[i] {
						p := at%n.plane - n.place(column, 0)
						if own := i == w.layer%2 && w.layer < len(n.layers)-1 && p >= 0 && p < n.blocks*lanes; !own &&
							v != before.planes[i][at] {
							t.Fatalf("level=%v: layer %d, column %d: [%d] of planes %d is written", level, w.layer, column, at, i)
						}
					}
				}
				for at, v := range w.h {
					if own := w.layer == len(n.layers)-1 && at/c%g.W/side == column; !own &&
						math.Float32bits(v) != math.Float32bits(before.h[at]) {
						t.Fatalf("level=%v: layer %d, column %d: [%d] of the rows is written", level, w.layer, column, at)
					}
				}
			}
			return m
		}
		before := cpu.CurrentLevel()
		defer func() {
			if err := cpu.SetLevel(before); err != nil {
				t.Fatal(err)
			}
		}()
		want := run(cpu.Generic)
		if !slices.Contains(cpu.Levels(), cpu.AMX) {
			return
		}
		if part := run(cpu.AMX).same(want); part != "" {
			t.Fatalf("%d x %d, %d steps, c=%d, channels %d, column %d: by tiles %s", g.H, g.W, len(g.Steps), c, channels, column, part)
		}
	})
}
