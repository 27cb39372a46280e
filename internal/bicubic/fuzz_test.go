package bicubic

import (
	encoding "encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// FuzzBicubic wants from interpolation and its transpose, at every level, float64 sums within the documented error, on
// any bit patterns and between pages that cannot be read. What depends on a number that is not finite is not either.
func FuzzBicubic(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63}, []byte{1, 2, 3, 250, 7, 9}, uint8(3), uint8(9), uint8(32))
	f.Add([]byte{0, 0, 128, 127, 1, 2, 3, 4, 0, 0, 192, 255}, []byte{5, 4}, uint8(0), uint8(1), uint8(17))
	f.Add([]byte{}, []byte{}, uint8(8), uint8(2), uint8(0))
	before := cpu.CurrentLevel()
	f.Cleanup(func() {
		if err := cpu.SetLevel(before); err != nil {
			f.Fatal(err)
		}
	})
	f.Fuzz(func(t *testing.T, bits, places []byte, more, less, channels uint8) {
		rows, cols, c := 4+int(more)%9, 4+int(less)%9, int(channels)%70
		var at []float64
		for ; len(places) >= 2 && len(at) < 400; places = places[2:] {
			// Up to the last place that is allowed, also on nodes.
			at = append(at, 1+float64(places[0])/256*float64(rows-3), 1+float64(places[1])/256*float64(cols-3))
		}
		n := len(at) / 2
		plan := New(at, rows, cols)
		fill := func(n, from int) []float32 {
			x := testkit.AtEnd[float32](t, n)
			for i := range x {
				x[i] = float32((i+from)%13)/13 - 0.5
				if k := (i + from) % 97 * 4; k+4 <= len(bits) {
					x[i] = math.Float32frombits(encoding.LittleEndian.Uint32(bits[k:]))
				}
			}
			return x
		}
		nodes, d := fill(rows*cols*c, 0), fill(n*c, 7)
		dst, back := testkit.AtEnd[float32](t, n*c), testkit.AtEnd[float32](t, rows*cols*c)
		check := func(l cpu.Level, what string, i int, got float32, sum, size float64, terms int) {
			v := float64(got)
			if finite := size-size == 0; !finite && v-v == 0 || finite && size < math.MaxFloat32/4 &&
				!(math.Abs(v-sum) <= float64(terms+8)*(0x1p-23*size+0x1p-149)) {
				t.Fatalf("level=%v: %s[%d, %d] = %g, want %g", l, what, i/c, i%c, got, sum)
			}
		}
		for _, l := range cpu.Levels() {
			if err := cpu.SetLevel(l); err != nil {
				t.Fatal(err)
			}
			Interpolate(dst, nodes, plan, c)
			clear(back)
			Gradient(back, d, plan, 0, c, c)
			sums, sizes, terms := make([]float64, len(back)), make([]float64, len(back)), make([]int, len(back))
			for i := range n {
				fx, x := exactFactors(at[2*i])
				fy, y := exactFactors(at[2*i+1])
				for j := range c {
					sum, size := 0.0, 0.0
					for a := range fx {
						for b := range fy {
							k := ((x+a)*cols+y+b)*c + j
							sum += fx[a] * fy[b] * float64(nodes[k])
							size += math.Abs(float64(nodes[k]))
							sums[k] += fx[a] * fy[b] * float64(d[i*c+j])
							sizes[k] += math.Abs(float64(d[i*c+j]))
							terms[k]++
						}
					}
					check(l, "dst", i*c+j, dst[i*c+j], sum, size, 0)
				}
			}
			for k, v := range back {
				check(l, "dnodes", k, v, sums[k], sizes[k], terms[k])
			}
		}
	})
}
