package main

import (
	"fmt"
	"sort"

	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/simd"
)

// The peers' neighbourhood: 4096 points with 273 neighbours, and 128 channels for depthwise sums.
const (
	gatherPoints, gatherNeighbours, gatherChannels = 4096, 273, 128
	gatherPairs                                    = gatherPoints * gatherNeighbours
)

// gathered is a neighbourhood of gatherPoints outputs in CSR form.
type gathered struct {
	offsets     []int
	index, pose []int32
}

// newGathered lists random neighbours, or the nearest points of a periodic grid if local is set. If own is set every pair has a pose
// of its own; otherwise the k-th neighbours of all outputs share pose k.
func newGathered(rng *splitmix, local, own bool) gathered {
	const n, j = gatherPoints, gatherNeighbours
	g := gathered{make([]int, n+1), make([]int32, n*j), make([]int32, n*j)}
	for i := range g.index {
		g.index[i] = int32(rng.next() % n)
	}
	if local {
		nearestOnGrid(g.index, j)
	}
	for i := range n {
		g.offsets[i+1] = (i + 1) * j
	}
	for k := range g.pose {
		g.pose[k] = int32(k % j)
		if own {
			g.pose[k] = int32(k)
		}
	}
	return g
}

// byPose lists the pairs of each of the shared poses: first the outputs, then the points.
func (g gathered) byPose() (offsets []int, row, index []int32) {
	const n, j = gatherPoints, gatherNeighbours
	offsets = make([]int, j+1)
	for p := range j {
		for i := range n {
			row, index = append(row, int32(i)), append(index, g.index[i*j+p])
		}
		offsets[p+1] = len(row)
	}
	return offsets, row, index
}

// depthwiseWork is the work of a sum with shared weights or of one of its gradients: features, results and weights. Lists of neighbours are
// left out, because plans keep them in a form of their own.
var depthwiseWork = once(2*gatherPairs*gatherChannels, (2*gatherPoints+gatherNeighbours)*gatherChannels)

// depthwiseCases are sums over the peers' neighbourhood: one weight row per neighbour, shared by all points (the weights stay in
// L2), or each pair's own (573 MB streamed); neighbours at random, or the nearest of a periodic grid.
func depthwiseCases() []kernelCase {
	const n, j, c = gatherPoints, gatherNeighbours, gatherChannels
	const flop = 2 * gatherPairs * c
	var cases []kernelCase
	for _, own := range []bool{false, true} {
		for _, where := range []string{"local", "rand"} {
			name, metrics, w := "depthwise/shared_w/ours/"+where, []metric{gflops(flop)}, depthwiseWork
			if own {
				name, metrics = "depthwise/own_w/ours/"+where, append(metrics, gbps(4*gatherPairs*c))
				w.bytes, w.footprint = 4*gatherPairs*c, 4*gatherPairs*c
			}
			cases = append(cases, kernelCase{name, metrics, w, func() timed {
				rng := peerSeed
				f, w := rng.floats(n*c, 1), rng.floats(j*c, 1)
				g := newGathered(&rng, where == "local", own)
				if own {
					w = rng.floats(gatherPairs*c, 1)
				}
				out := onHugePages[float32](n * c)
				return timed{ours: func() { simd.Depthwise(out, f, w, g.offsets, g.index, g.pose, c, false) }}
			}})
		}
	}
	return append(cases, depthwiseRowsCase("local"), depthwiseRowsCase("rand"),
		kernelCase{"depthwise/shared_w/ours_plan/local", []metric{gflops(flop)}, depthwiseWork, func() timed {
			rng := peerSeed
			f, w := rng.floats(n*c, 1), rng.floats(j*c, 1)
			g := newGathered(&rng, true, false)
			plan, out := simd.NewDepthwisePlan(g.offsets, g.index, g.pose, n, j), onHugePages[float32](n*c)
			return timed{ours: func() { simd.DepthwisePlanF32(out, f, w, plan, 0, n, c, false) }}
		}},
		kernelCase{"depthwise/own_w/ours_bf16/local", []metric{gflops(flop), gbps(2 * gatherPairs * c)},
			work{flop: flop, bytes: 2 * gatherPairs * c, footprint: 2 * gatherPairs * c}, func() timed {
				rng := peerSeed
				f, w := rng.floats(n*c, 1), onHugePages[simd.BF16](gatherPairs*c)
				g := newGathered(&rng, true, true)
				row := make([]float32, c)
				for k := 0; k < len(w); k += c {
					for i := range row {
						row[i] = rng.float()
					}
					simd.BF16FromF32(w[k:k+c], row)
				}
				out := onHugePages[float32](n * c)
				return timed{ours: func() { simd.DepthwiseBF16F32(out, f, w, g.offsets, g.index, g.pose, c, false) }}
			}},
		kernelCase{"depthwise_grad_f/shared_w/ours/local", []metric{gflops(flop)}, depthwiseWork, func() timed {
			rng := peerSeed
			dout, w := rng.floats(n*c, 1), rng.floats(j*c, 1)
			g := newGathered(&rng, true, false) // the transpose of a periodic grid is another one
			df := onHugePages[float32](n * c)
			return timed{ours: func() { simd.DepthwiseF32(df, dout, w, g.offsets, g.index, g.pose, c, false) }}
		}},
		kernelCase{"depthwise_grad_w/shared_w/ours/local", []metric{gflops(flop)}, depthwiseWork, func() timed {
			rng := peerSeed
			dout, f := rng.floats(n*c, 1), rng.floats(n*c, 1)
			g := newGathered(&rng, true, false)
			offsets, row, index := g.byPose()
			dw := onHugePages[float32](j * c)
			return timed{ours: func() { simd.DepthwiseF32(dw, f, dout, offsets, index, row, c, false) }}
		}},
		kernelCase{"depthwise_grad_w/shared_w/ours_plan/local", []metric{gflops(flop)}, depthwiseWork, func() timed {
			rng := peerSeed
			dout, f := rng.floats(n*c, 1), rng.floats(n*c, 1)
			g := newGathered(&rng, true, false)
			plan, dw := simd.NewDepthwisePlan(g.offsets, g.index, g.pose, n, j), onHugePages[float32](j*c)
			return timed{ours: func() { simd.DepthwisePlanGradWF32(dw, dout, f, plan, 0, n, 0, c, c, false) }}
		}},
		posePlanCase("local"), posePlanCase("rand"))
}

// depthwiseRowsCase is the sum over a neighbourhood that has been checked and put in order before, as for many layers or images.
func depthwiseRowsCase(where string) kernelCase {
	const n, j, c = gatherPoints, gatherNeighbours, gatherChannels
	const flop = 2 * gatherPairs * c
	return kernelCase{"depthwise/shared_w/ours_rows/" + where, []metric{gflops(flop)}, depthwiseWork, func() timed {
		rng := peerSeed
		f, w := rng.floats(n*c, 1), rng.floats(j*c, 1)
		g := newGathered(&rng, where == "local", false)
		rows, out := simd.NewDepthwiseRows(g.offsets, g.index, g.pose, nil, n, j), onHugePages[float32](n*c)
		return timed{ours: func() { simd.DepthwiseRowsF32(out, f, w, rows, c, false) }}
	}}
}

// posePlanCase is the gradient to the shared weights by a plan that lists pairs by pose, packing of both its inputs included.
func posePlanCase(where string) kernelCase {
	const n, j, c = gatherPoints, gatherNeighbours, gatherChannels
	const flop = 2 * gatherPairs * c
	return kernelCase{"depthwise_grad_w/shared_w/ours_poses/" + where, []metric{gflops(flop)}, depthwiseWork, func() timed {
		rng := peerSeed
		dout, f := rng.floats(n*c, 1), rng.floats(n*c, 1)
		g := newGathered(&rng, where == "local", false)
		plan, dw := depthwise.NewPoses(g.offsets, g.index, g.pose, n, j), onHugePages[float32](j*c)
		d, x := onHugePages[float32](depthwise.PackedLen(1, n, c)), onHugePages[float32](depthwise.PackedLen(1, n, c))
		return timed{ours: func() {
			depthwise.PackF32(d, dout, 1, n, c, 0, n)
			depthwise.PackF32(x, f, 1, n, c, 0, n)
			for part := range plan.Parts() {
				lo, hi := plan.Part(part)
				depthwise.PosesGradWF32(dw[lo*c:hi*c], d, x, plan, part, 0, c, 1, c)
			}
		}}
	}}
}

// gatherCases are the other sums over neighbourhoods: outer products, on an eighth of the outputs, and set convolutions.
func gatherCases() []kernelCase {
	const n, j = gatherPoints / 8, gatherNeighbours
	var cases []kernelCase
	for _, s := range [][2]int{{3, 16}, {8, 16}, {16, 16}, {32, 16}} {
		ci, cm := s[0], s[1]
		flop := 2 * n * j * ci * cm
		draw := func() (f, w, p []float32, g gathered) {
			rng := peerSeed
			f, w, p = rng.floats(gatherPoints*ci, 1), rng.floats(j*cm, 1), rng.floats(gatherPoints*ci*cm, 1)
			g = newGathered(&rng, true, false)
			g.offsets, g.index, g.pose = g.offsets[:n+1], g.index[:n*j], g.pose[:n*j]
			return f, w, p, g
		}
		shape := fmt.Sprintf("/ours/%dx%d", ci, cm)
		cases = append(cases,
			kernelCase{"pointconv" + shape, []metric{gflops(flop)}, once(flop, gatherPoints*ci+j*cm+n*ci*cm), func() timed {
				f, w, p, g := draw()
				return timed{ours: func() { simd.PointConvF32(p[:n*ci*cm], f, w, g.offsets, g.index, g.pose, ci, cm) }}
			}},
			kernelCase{"pointconv_grad_f" + shape, []metric{gflops(flop)}, once(flop, gatherPoints*ci+j*cm+n*ci*cm), func() timed {
				f, w, p, g := draw()
				return timed{ours: func() { simd.PointConvGradFF32(f[:n*ci], p, w, g.offsets, g.index, g.pose, ci, cm) }}
			}},
			kernelCase{"pointconv_grad_w" + shape, []metric{gflops(flop)}, once(flop, gatherPoints*ci+j*cm+n*ci*cm), func() timed {
				f, _, p, g := draw()
				dw := make([]float32, n*cm)
				return timed{ours: func() { simd.PointConvGradWF32(dw, p, f, g.offsets, g.index, g.index, ci, cm) }}
			}})
	}
	for _, s := range []struct{ targets, points, d, c int }{{256, 100, 1, 2}, {1024, 1024, 2, 4}} {
		pairs := s.targets * s.points
		draw := func() (t, x []float64, phi, h []float32) {
			rng := peerSeed
			wide := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(rng.float())
				}
				return x
			}
			return wide(s.targets * s.d), wide(s.points * s.d), rng.floats(s.points*s.c, 1), rng.floats(s.targets*s.c, 1)
		}
		shape := fmt.Sprintf("/ours/%dx%dx%dx%d", s.targets, s.points, s.d, s.c)
		cases = append(cases,
			kernelCase{"setconv" + shape, []metric{nsPer(pairs)}, work{}, func() timed {
				t, x, phi, h := draw()
				return timed{ours: func() { simd.SetConvF32(h, t, x, phi, s.d, s.c, 0.5, 1) }}
			}},
			kernelCase{"setconv_grad_phi" + shape, []metric{nsPer(pairs)}, work{}, func() timed {
				t, x, phi, h := draw()
				return timed{ours: func() { simd.SetConvGradPhiF32(phi, t, x, h, s.d, s.c, 0.5, 1) }}
			}},
			kernelCase{"setconv_grad_params" + shape, []metric{nsPer(pairs)}, work{}, func() timed {
				t, x, phi, h := draw()
				return timed{ours: func() { simd.SetConvGradParamsF32(t, x, phi, h, s.d, s.c, 0.5, 1) }}
			}})
	}
	return cases
}

// nearestOnGrid fills index [64·64, j] with the j nearest offsets of a periodic 64 x 64 grid.
func nearestOnGrid(index []int32, j int) {
	var off [][2]int
	for a := -12; a <= 12; a++ {
		for b := -12; b <= 12; b++ {
			off = append(off, [2]int{a, b})
		}
	}
	sort.SliceStable(off, func(p, q int) bool {
		return off[p][0]*off[p][0]+off[p][1]*off[p][1] < off[q][0]*off[q][0]+off[q][1]*off[q][1]
	})
	for i := range 64 * 64 {
		for k := range j {
			index[i*j+k] = int32((i/64+off[k][0])&63*64 + (i+off[k][1])&63)
		}
	}
}
