package neighbor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/group"
)

// benchGroups have very different geometry: boxes that fit, periodic boxes, an orbit.
var benchGroups = []string{"T(2)", "SE(2)", "SO(2)", "R>0xSO(2)"}

// images are the pixel grids that the models run on, at the radius that fills 1/15.
func image(b *testing.B, name string, side int) (*group.Lifted, float64) {
	b.Helper()
	half := float64(side) / 2
	l := group.LiftPoints(parse(b, name, 0), grid(linspace(-half, half, side)), 1, 0)
	r, err := RadiusForFill(l, 1.0/15, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return l, r
}

// BenchmarkBall is the whole of Ball, pose table included; poses=none leaves the table's merging out.
func BenchmarkBall(b *testing.B) {
	for _, name := range benchGroups {
		for _, side := range []int{28, 64, 128} {
			l, r := image(b, name, side)
			for _, poses := range []string{"merged", "none"} {
				for _, m := range []Method{Auto, Brute} {
					b.Run(fmt.Sprintf("group=%s/n=%d/poses=%s/impl=%v", name, side*side, poses, m), func(b *testing.B) {
						opt := Options{Radius: r, Method: m}
						if poses == "none" {
							opt.MergeTolerance = -1
						}
						b.ReportAllocs()
						pairs := 0
						for b.Loop() {
							nb, err := Ball(l, l, opt)
							if err != nil {
								b.Fatal(err)
							}
							pairs = nb.Pairs()
						}
						b.SetBytes(int64(pairs) * 8)
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
					})
				}
			}
		}
	}
}

func BenchmarkKNearest(b *testing.B) {
	for _, name := range benchGroups {
		l, _ := image(b, name, 64)
		for _, k := range []int{8, 81} {
			for _, m := range []Method{Auto, Brute} {
				b.Run(fmt.Sprintf("group=%s/n=%d/k=%d/impl=%v", name, l.N, k, m), func(b *testing.B) {
					b.SetBytes(int64(l.N) * int64(k) * 12)
					for b.Loop() {
						if _, _, err := KNearest(l, l, k, Options{Method: m}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkRadiusForFill(b *testing.B) {
	for _, name := range benchGroups {
		l, _ := image(b, name, 64)
		b.Run(fmt.Sprintf("group=%s/n=%d", name, l.N), func(b *testing.B) {
			for b.Loop() {
				if _, err := RadiusForFill(l, 1.0/15, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTree builds, and asks for the 32 nearest of points inside.
func BenchmarkTree(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{1, 2, 3, 6} {
		for _, n := range []int{1 << 10, 1 << 14, 1 << 18} {
			x := make([]float64, n*dim)
			for i := range x {
				x[i] = rng.Float64()
			}
			b.Run(fmt.Sprintf("op=build/dim=%d/n=%d", dim, n), func(b *testing.B) {
				b.SetBytes(int64(len(x)) * 8)
				for b.Loop() {
					if _, err := NewTree(x, dim, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			tree, err := NewTree(x, dim, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("op=knearest/dim=%d/n=%d", dim, n), func(b *testing.B) {
				k := 0
				for b.Loop() {
					tree.KNearest(x[k*dim:(k+1)*dim], 32)
					k = (k + 101) % n
				}
			})
		}
	}
}

// BenchmarkCappedImage is a 256 x 256 image with the paper's cap of 81 neighbours.
func BenchmarkCappedImage(b *testing.B) {
	l := group.LiftPoints(parse(b, "R>0xSO(2)", 0), grid(linspace(-128, 128, 256)), 1, 0)
	for b.Loop() {
		if _, err := Ball(l, l, Options{Radius: 0.24, MaxNeighbors: 81, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
