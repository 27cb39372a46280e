package neighbor

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// The ways in which fuzzed bytes become coordinates.
const (
	anyBits = iota // four bytes are those of a float32: any number, infinities and NaN too
	eighths        // a byte is a multiple of 1/8: duplicates, lines, and distances that tie
	decades        // two bytes are a number and its power of ten: clusters over 12 decades
	waysToPlace
)

// fuzzedCoordinates turns bytes into at most that many coordinates.
func fuzzedCoordinates(way uint8, data []byte, most int) (x []float32) {
	for len(x) < most {
		switch way % waysToPlace {
		case anyBits:
			if len(data) < 4 {
				return x
			}
			x, data = append(x, math.Float32frombits(binary.LittleEndian.Uint32(data))), data[4:]
		case eighths:
			if len(data) < 1 {
				return x
			}
			x, data = append(x, float32(int8(data[0]))/8), data[1:]
		case decades:
			if len(data) < 2 {
				return x
			}
			x, data = append(x, float32(float64(int8(data[0]))*math.Pow10(-int(data[1]%13)))), data[2:]
		}
	}
	return x
}

// seedClouds adds seeds of every way to place points; add calls Add with what else the target takes.
func seedClouds(add func(way uint8, data []byte)) {
	bits := func(x ...float32) (b []byte) {
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	add(anyBits, nil)
	add(anyBits, bits(0, 0, 1, 1, 0.5, 2, -3, 1e-7))
	add(anyBits, bits(3.1, -3.1, 0, 7, 1e9, 2))
	add(anyBits, bits(1, 1, 1, 1, 1, 1, 1e30, -1e30, 0))
	add(anyBits, bits(float32(math.NaN()), 0))
	add(anyBits, bits(1, 2, float32(math.Inf(1)), 0))
	add(eighths, []byte{0, 0, 8, 8, 16, 16, 24, 24, 0, 0, 8, 0, 0xf8, 8, 0, 0})
	add(eighths, make([]byte, 150))
	add(decades, []byte{1, 0, 1, 12, 1, 6, 0xff, 3, 2, 0, 2, 12, 3, 1, 1, 11})
}

// FuzzClouds compares all searches among points with brute force, on one to eight axes, in float32 and float64. What is not
// finite must be refused.
func FuzzClouds(f *testing.F) {
	for dim := range uint8(maxTreeDim) {
		seedClouds(func(way uint8, data []byte) { f.Add(way, dim, dim%2 == 1, data) })
	}
	f.Fuzz(func(t *testing.T, way, d uint8, periodic bool, data []byte) {
		dim := 1 + int(d)%maxTreeDim
		x := fuzzedCoordinates(way, data, 64*dim)
		x = x[:len(x)/dim*dim]
		periods := make([]float32, dim)
		if periodic {
			periods[0] = 6.25
		}
		finite := true
		for _, v := range x {
			finite = finite && v-v == 0
		}
		if _, err := NewTree(x, dim, periods); !finite {
			require.ErrorIs(t, err, ErrValue)
			_, err = Arrange(x, dim, 0.5, periods)
			require.ErrorIs(t, err, ErrValue)
			return
		}
		cloud := flatCloud[float32]{x, dim, periods}
		checkBulk(t, "float32", cloud, cloud, rand.New(rand.NewPCG(1, 2)))
		wide := flatCloud[float64]{make([]float64, len(x)), dim, make([]float64, dim)}
		for i, v := range x {
			wide.x[i] = float64(v)
		}
		checkBulk(t, "float64", wide, wide, rand.New(rand.NewPCG(1, 2)))
	})
}

// FuzzBalls compares balls and k nearest of every group with brute force, by every method. What is not finite must be
// refused.
func FuzzBalls(f *testing.F) {
	// ring's bounds allow for angles of some turns only, not for any number.
	groups := slices.DeleteFunc(testGroups(f), func(g group.Group) bool { return g == group.Group(ring{}) })
	for g := range groups {
		seedClouds(func(way uint8, data []byte) { f.Add(way, uint8(g), uint8(3), data) })
	}
	f.Fuzz(func(t *testing.T, way, name, radius uint8, data []byte) {
		g := groups[int(name)%len(groups)]
		coordinates := fuzzedCoordinates(way, data, 20*g.PointDim())
		x := make([]float64, len(coordinates)/g.PointDim()*g.PointDim())
		for i := range x {
			x[i] = float64(coordinates[i])
		}
		l := group.LiftPoints(g, x, min(2, max(g.MaxLifts(), 1)), 1)
		opt := Options{Radius: []float64{0, 1e-6, 0.01, 0.3, 2, 1e3, math.Inf(1)}[radius%7]}
		p, err := newProblem("oracle", l, l, opt)
		if err != nil {
			require.ErrorIs(t, err, ErrValue)
			_, err = Ball(l, l, opt)
			require.ErrorIs(t, err, ErrValue)
			return
		}
		if n := l.Rows(); radius >= 128 && n > 0 { // exactly the distance of a pair
			pose := make([]float64, group.PoseDim(g))
			p.relativePose(pose, int(radius)%n, n/2)
			if d := g.Distance(pose); !math.IsNaN(d) {
				opt.Radius, p.Radius = d, d
			}
		}
		want := bruteBall(p)
		k := int(radius % 5)
		wantIndex, wantDist := nearestOracle(t, l, l, k, opt)
		for _, m := range []Method{Auto, Brute, Tree} {
			opt.Method = m
			requireSame(t, want, ball(t, l, l, opt), g.Name(), " ", m)
			index, dist, err := KNearest(l, l, k, opt)
			require.NoError(t, err)
			same(t, wantIndex, index, "index", []any{g.Name(), " k=", k, " ", m})
			for i, d := range dist {
				require.Equal(t, wantDist[i], d, "%s k=%d %v", g.Name(), k, m)
			}
		}
	})
}
