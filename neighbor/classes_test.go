package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// copied is a neighbourhood with the same rows, whose classes have not been looked for; poses are to be found again.
func (n *Neighborhood) copied() *Neighborhood {
	return &Neighborhood{Queries: n.Queries, Points: n.Points, Offsets: n.Offsets, Index: n.Index, Pose: make([]int32, n.Pairs()),
		PoseDim: n.PoseDim}
}

// requireClasses compares the classes of rows with those that sorting their poses gives.
func requireClasses(t *testing.T, n *Neighborhood, c *RowClasses, msg ...any) {
	t.Helper()
	class := map[string]int32{}
	var lead []int32
	for i := range n.Queries {
		_, pose := n.Row(i)
		key := fmt.Sprint(slices.Sorted(slices.Values(pose)))
		k, ok := class[key]
		if !ok {
			k = int32(len(lead))
			class[key], lead = k, append(lead, int32(i))
		}
		require.Equal(t, k, c.Of[i], msg...)
		require.Equal(t, !ok, c.By[i] == First, msg...)
		if _, first := n.Row(int(lead[k])); c.By[i] == Shift {
			require.Equal(t, first, pose, msg...)
		}
	}
	require.Equal(t, lead, c.Lead, msg...)
}

// Classes are those that sorting every row's poses gives, however they were found: on images under every kind of group, with
// samples, masks and blocks, among the rows of a transpose, and where all hashes are the same.
func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	image := grid(linspace(-6, 6, 14))
	mask := make([]bool, 196)
	for i := range mask {
		mask[i] = rng.IntN(8) > 0
	}
	found := map[string][Value + 1]int{}
	for _, c := range []struct {
		name, group string
		lifts       int
		x           []float64
		opt         Options
	}{
		{"shifts", "T(2)", 1, image, Options{Radius: 0.3}},
		{"lifts", "SE(2)", 4, image, Options{Radius: 1}},
		{"turns", "SO(2)", 1, image, Options{Radius: 0.6}},
		{"turns", "R>0xSO(2)", 1, image, Options{Radius: 0.6}},
		{"lattice", "SO(2)", 1, testkit.Triangles(7), Options{Radius: 0.6}},
		{"twice", "SO(2)", 1, append(slices.Clone(image), image...), Options{Radius: 0.6}},
		{"blocks", "SO(2)", 1, append(slices.Clone(image), image...),
			Options{Radius: 0.6, PointBlocks: []int{0, 196, 392}, QueryBlocks: []int{0, 196, 392}}},
		{"mask", "SO(2)", 1, image, Options{Radius: 0.6, PointMask: mask, QueryMask: mask}},
		{"mask", "T(2)", 1, image, Options{Radius: 0.3, PointMask: mask, QueryMask: mask}},
		{"sample", "T(2)", 1, image, Options{Radius: 0.3, MaxNeighbors: 5}},
		{"one pair each", "T(2)", 1, image, Options{Radius: math.SmallestNonzeroFloat64}},
		{"no pairs", "T(2)", 1, image, Options{}},
		{"no rows", "T(2)", 1, nil, Options{Radius: 1}},
	} {
		name := c.group + " " + c.name
		l := group.LiftPoints(parse(t, c.group, 0), c.x, c.lifts, 0)
		n := ball(t, l, l, c.opt)
		requireClasses(t, n, n.Classes(), name)
		require.Same(t, n.Classes(), n.Classes())
		by := found[name]
		for _, r := range n.Classes().By {
			by[r]++
		}
		found[name] = by

		plain := n.copied()
		plain.Pose, plain.Count = n.Pose, n.Count
		requireClasses(t, plain, plain.findClasses(make([]uint64, n.Queries), make([]bool, n.Queries), nil), name)
		back := n.Transpose()
		requireClasses(t, back, back.Classes(), name)
	}
	require.Equal(t, [...]int{196 / 4, 0, 196 * 3 / 4, 0}, found["SO(2) turns"])
	require.Positive(t, found["T(2) shifts"][Shift])
	require.Zero(t, found["T(2) shifts"][Value])
	require.Positive(t, found["SE(2) lifts"][Value])

	// Random tables, where rows share some poses or all; every GOMAXPROCS and every caller gets the same.
	for range 200 {
		n := &Neighborhood{Queries: rng.IntN(300), Points: 5, Offsets: []int{0}, Count: make([]int32, 1+rng.IntN(3))}
		for range n.Queries {
			for range rng.IntN(4) {
				n.Index, n.Pose = append(n.Index, int32(rng.IntN(5))), append(n.Pose, int32(rng.IntN(len(n.Count))))
			}
			n.Offsets = append(n.Offsets, len(n.Index))
		}
		requireClasses(t, n, n.findClasses(make([]uint64, n.Queries), make([]bool, n.Queries), nil))
		var callers sync.WaitGroup
		var all [4]*RowClasses
		for k := range all {
			callers.Go(func() { all[k] = n.Classes() })
		}
		callers.Wait()
		requireClasses(t, n, all[0])
		for _, c := range all {
			require.Same(t, all[0], c)
		}
	}
}

// BenchmarkClasses is what the first call of Classes takes on an image.
func BenchmarkClasses(b *testing.B) {
	for _, name := range benchGroups {
		l, r := image(b, name, 64)
		n, err := Ball(l, l, Options{Radius: r})
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []*Neighborhood{n, n.Transpose()} {
			kind := "ball"
			if n.twins == nil && name[0] != 'T' && name != "SE(2)" {
				kind = "transpose"
			}
			b.Run("group="+name+"/of="+kind, func(b *testing.B) {
				for b.Loop() {
					hash, alike := n.rowHashes(nil)
					n.findClasses(hash, alike, nil)
				}
			})
		}
	}
}
