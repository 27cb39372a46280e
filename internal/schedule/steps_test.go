package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// disks returns the rows of a grid's points, each with the points of a disk around it in any order, clipped at the border unless the
// grid is a torus.
func disks(rng *rand.Rand, height, width, reach int, torus bool) *Rows {
	r, side := &Rows{Offsets: []int{0}}, 2*reach+1
	for y := range height {
		for x := range width {
			for _, d := range rng.Perm(side * side) {
				dy, dx := d/side-reach, d%side-reach
				v, u := y+dy, x+dx
				if torus {
					v, u = (v+height)%height, (u+width)%width
				}
				if dx*dx+dy*dy <= reach*reach+1 && v >= 0 && u >= 0 && v < height && u < width {
					r.Index, r.Pose = append(r.Index, int32(v*width+u)), append(r.Pose, int32(d))
				}
			}
			r.Offsets = append(r.Offsets, len(r.Index))
		}
	}
	r.Poses = side * side
	return r
}

// crowd returns rows of random pairs of so few points and poses that many are steps, and many occur twice.
func crowd(rng *rand.Rand, rows, points, poses int) *Rows {
	r := &Rows{Offsets: []int{0}, Poses: poses}
	for range rows {
		for range rng.IntN(40) {
			r.Index, r.Pose = append(r.Index, int32(rng.IntN(points))), append(r.Pose, int32(rng.IntN(poses)))
		}
		r.Offsets = append(r.Offsets, len(r.Index))
	}
	return r
}

func (r *Rows) clone() *Rows {
	c := *r
	c.Index, c.Pose = slices.Clone(r.Index), slices.Clone(r.Pose)
	return &c
}

// list is the pairs of a row.
func (r *Rows) list(i int) []Step {
	index, pose := r.Row(i)
	pairs := make([]Step, len(index))
	for k := range index {
		pairs[k] = Step{index[k], pose[k]}
	}
	return pairs
}

func compareSteps(a, b Step) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Pose, b.Pose)) }

// TestGroup: sorting orders a row by point and pose; the steps of a group are its rows' pairs, each once, and the rows list them in the
// order of the steps. A group without steps keeps its order.
func TestGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	kinds := map[string]int{}
	for _, given := range []*Rows{
		disks(rng, 7, 24, 3, false), disks(rng, 7, 24, 3, true), disks(rng, 12, 40, 9, true), disks(rng, 5, 19, 2, false),
		crowd(rng, 400, 12, 1), crowd(rng, 400, 12, 2), crowd(rng, 400, 70000, 1000), crowd(rng, 7, 3, 3), {Offsets: []int{4, 4, 4}},
	} {
		r := given.clone()
		g := NewGrid(r)
		for i := range r.Len() {
			g.Sort(i)
			want := given.list(i)
			slices.SortFunc(want, compareSteps)
			require.Equal(t, want, r.list(i))
		}
		for i := 0; i+Together <= r.Len(); i += Together {
			sorted := r.clone()
			steps := g.Group(i)
			if steps == nil {
				kinds["none"]++
				require.Equal(t, sorted, r)
				continue
			}
			var rows [Together][]Step
			take := func(lo, hi int, x, pose int32) {
				for k := lo; k < hi; k++ {
					rows[k] = append(rows[k], Step{x + int32(k-lo), pose})
				}
			}
			for k, run := range steps.Runs {
				kinds["run"]++
				require.True(t, k == 0 || len(run) <= len(steps.Runs[k-1]))
				for s, step := range run {
					require.Equal(t, run[0].X+int32(s), step.X)
					take(0, Together, step.X, step.Pose)
				}
			}
			for _, p := range steps.Ramps[0] {
				kinds["up"]++
				for s, pose := range p.Poses {
					take(p.First+s, Together, p.X, pose)
				}
			}
			for _, p := range steps.Ramps[1] {
				kinds["down"]++
				for s, pose := range p.Poses {
					k := p.First + s
					take(0, Together-k, p.X+int32(k-1), pose)
				}
			}
			for k, span := range Spans {
				for _, s := range steps.Single[k] {
					kinds["single"]++
					take(span.Lo, span.Hi, s.X, s.Pose)
				}
			}
			for k := range rows {
				require.Equal(t, rows[k], append([]Step(nil), r.list(i+k)...))
				slices.SortFunc(rows[k], compareSteps)
				require.Equal(t, append([]Step(nil), sorted.list(i+k)...), rows[k])
			}
		}
	}
	for _, kind := range []string{"none", "run", "up", "down", "single"} {
		require.Positive(t, kinds[kind], kind)
	}
}

// TestGroupBorder: near the border of a grid, in the plane and on a torus, nearly all pairs are in runs and ramps.
func TestGroupBorder(t *testing.T) {
	for _, torus := range []bool{false, true} {
		r := disks(rand.New(rand.NewPCG(3, 2)), 12, 40, 9, torus)
		g := NewGrid(r)
		for i := range r.Len() {
			g.Sort(i)
		}
		for i := 0; i+Together <= r.Len(); i += Together {
			steps, alone := g.Group(i), 0
			require.NotNil(t, steps)
			for k, span := range Spans {
				alone += len(steps.Single[k]) * (span.Hi - span.Lo)
			}
			require.LessOrEqual(t, 100*alone, r.Offsets[i+Together]-r.Offsets[i], "torus=%v row %d", torus, i)
		}
	}
}
