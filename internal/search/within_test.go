package search

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// withinCase is one of the kernels: how to draw a point, how to call it at the current level and its twin.
type withinCase struct {
	name string
	d    int
	draw func(rng *rand.Rand, c int) float64
	call func(index, label []int32, bits []uint64, x, u []float64, r float64) int
	twin func(index, label []int32, bits []uint64, x, u []float64, r float64) int
}

const (
	testAlpha = 0.3
	testFloor = 0.0005
	testTurn  = -0.7
)

func withinCases() []withinCase {
	normal := func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }
	angleAt := func(axis int, other func(*rand.Rand) float64) func(*rand.Rand, int) float64 {
		return func(rng *rand.Rand, c int) float64 {
			if c != axis {
				return other(rng)
			}
			if rng.IntN(4) == 0 { // multiples of an eighth of a turn make half turns
				return math.Pi * float64(rng.IntN(9)-4) / 4
			}
			return math.Pi * (2*rng.Float64() - 1)
		}
	}
	m := []float64{1.2, -0.4}
	cases := []withinCase{
		{"Rigid", 2, normal,
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return WithinRigid(index, label, bits, x, u, m, testTurn, testAlpha, r)
			},
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				const alpha = float64(testAlpha)
				return withinRigidGeneric(index, label, bits, x, u, m, squareLimit(alpha*-testTurn, 1-alpha, r))
			}},
		{"Polar", 2, angleAt(0, (*rand.Rand).Float64),
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return WithinPolar(index, label, bits, x, u, testFloor, testAlpha, r)
			},
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return withinPolarGeneric(index, label, bits, x, u, testFloor, testAlpha, r)
			}},
		{"LogPolar", 2, angleAt(1, (*rand.Rand).NormFloat64),
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return WithinLogPolar(index, label, bits, x, u, testAlpha, r)
			},
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return withinLogPolarGeneric(index, label, bits, x, u, testAlpha, r)
			}},
	}
	for d := 1; d <= 3; d++ {
		cases = append(cases, withinCase{fmt.Sprintf("Euclid%d", d), d, normal,
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return WithinEuclid(index, label, bits, x, u, testAlpha, r)
			},
			func(index, label []int32, bits []uint64, x, u []float64, r float64) int {
				return withinEuclidGeneric(index, label, bits, x, u, squareLimit(0, testAlpha, r))
			}})
	}
	return cases
}

// Every level keeps the same points, at every length, with slices that end or start at unreadable pages.
func TestWithinEqualsTheTwin(t *testing.T) {
	sizes := []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 200, 4095, 4097}
	if testing.Short() {
		sizes = sizes[:len(sizes)-2]
	}
	for _, c := range withinCases() {
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				rng := testkit.Rand(71)
				for round, n := range append(sizes, 130, 130, 130) {
					place := func(x []float64) []float64 {
						if round%2 == 0 {
							return testkit.CopyAtEnd(t, x)
						}
						return testkit.CopyAtStart(t, x)
					}
					x, u := make([]float64, c.d*n), make([]float64, c.d)
					label, bits := make([]int32, n), make([]uint64, (n+63)/64)
					for i := range x {
						x[i] = c.draw(rng, i/max(n, 1))
					}
					for i := range u {
						u[i] = c.draw(rng, i)
					}
					for j := range label {
						label[j] = int32(7*j + 3)
						if n > 100 && rng.IntN(30) == 0 { // numbers that no radius holds
							x[rng.IntN(c.d)*n+j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
						}
					}
					for w := range bits {
						// Bits beyond the last point are set as well, and must not count.
						bits[w] = []uint64{0, rng.Uint64(), ^uint64(0), rng.Uint64() & rng.Uint64() & rng.Uint64()}[rng.IntN(4)]
						if w == n/64 {
							bits[w] |= ^uint64(0) << (n & 63)
						}
					}
					if n > 0 { // a point at the query itself
						j := rng.IntN(n)
						for k := range u {
							x[k*n+j] = u[k]
						}
					}
					x, u, label, bits = place(x), place(u), testkit.CopyAtEnd(t, label), unsignedAtEnd(t, bits)
					for _, r := range []float64{0, 0.05, 0.4, 1.5, math.Inf(1), math.NaN(), -1} {
						for _, b := range [][]uint64{bits, nil} {
							index, wantIndex := testkit.AtEnd[int32](t, n), make([]int32, n)
							want := c.twin(wantIndex, label, b, x, u, r)
							require.Equal(t, want, c.call(index, label, b, x, u, r), "n=%d r=%v", n, r)
							require.Equal(t, wantIndex[:want], append([]int32{}, index[:want]...), "n=%d r=%v", n, r)
						}
					}
				}
			})
		})
	}
}

// unsignedAtEnd is CopyAtEnd for words.
func unsignedAtEnd(t *testing.T, x []uint64) []uint64 {
	y := testkit.AtEnd[float64](t, len(x))
	return castWords(y, x)
}

// Distances of the twins against 200 bits, for points on both sides of the radius.
func TestWithinAgainstBig(t *testing.T) {
	const n, prec = 300, 200
	big64 := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	abs := func(x *big.Float) *big.Float { return new(big.Float).Abs(x) }
	sub := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Sub(x, y) }
	add := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Add(x, y) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(x, y) }
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803", 10,
		prec, big.ToNearestEven)
	require.NoError(t, err)
	turn := func(d *big.Float) *big.Float {
		if d = abs(d); d.Cmp(pi) > 0 {
			d = abs(sub(mul(big64(2), pi), d))
		}
		return d
	}
	exact := map[string]func(u, x []float64) *big.Float{
		"LogPolar": func(u, x []float64) *big.Float {
			return add(mul(big64(testAlpha), turn(sub(big64(u[1]), big64(x[1])))),
				mul(big64(1-testAlpha), abs(sub(big64(u[0]), big64(x[0])))))
		},
		"Polar": func(u, x []float64) *big.Float {
			part := abs(sub(big64(u[1]), big64(x[1])))
			part.Quo(part, add(add(big64(u[1]), big64(x[1])), big64(2*testFloor)))
			return add(mul(big64(testAlpha), turn(sub(big64(u[0]), big64(x[0])))), mul(big64(1-testAlpha), part))
		},
	}
	euclid := func(u, x []float64) *big.Float {
		sum := big64(0)
		for c := range u {
			d := sub(big64(u[c]), big64(x[c]))
			sum = add(sum, mul(d, d))
		}
		return mul(big64(testAlpha), sum.Sqrt(sum))
	}
	exact["Euclid1"], exact["Euclid2"], exact["Euclid3"] = euclid, euclid, euclid
	rng := testkit.Rand(72)
	for _, c := range withinCases() {
		f := exact[c.name]
		if f == nil {
			continue // Rigid: TestWithinRigid
		}
		x, u, label := make([]float64, c.d*n), make([]float64, c.d), make([]int32, n)
		for i := range x {
			x[i] = c.draw(rng, i/n)
		}
		for i := range u {
			u[i] = c.draw(rng, i)
		}
		for j := range label {
			label[j] = int32(j)
		}
		index := make([]int32, n)
		for j := range n {
			at := make([]float64, c.d)
			for k := range at {
				at[k] = x[k*n+j]
			}
			d, _ := f(u, at).Float64()
			for _, side := range []float64{-1, 1} {
				r := d + side*(4e-15+1e-15*d)
				m := c.call(index, label, nil, x, u, r)
				kept := false
				for _, i := range index[:m] {
					kept = kept || int(i) == j
				}
				require.Equal(t, side > 0, kept, "%s: distance %v, radius %v", c.name, d, r)
			}
		}
	}
}

// The factor of WithinRigid multiplies as complex numbers do.
func TestWithinRigid(t *testing.T) {
	rng := testkit.Rand(73)
	const n = 100
	x, label := testkit.Normal[float64](rng, 2*n), make([]int32, n)
	for j := range label {
		label[j] = int32(j)
	}
	m, u := complex(0.8, -1.3), complex(0.2, 0.4)
	index := make([]int32, n)
	const r = 0.9
	kept := WithinRigid(index, label, nil, x, []float64{real(u), imag(u)}, []float64{real(m), imag(m)}, -1, 0.25, r)
	seen := map[int32]bool{}
	for _, j := range index[:kept] {
		seen[j] = true
	}
	require.NotEmpty(t, seen)
	for j := range n {
		z := m * (u - complex(x[j], x[n+j]))
		require.Equal(t, 0.25+0.75*math.Hypot(real(z), imag(z)) < r, seen[int32(j)])
	}
}

// squareLimit is the border itself: the largest square within is below it, the limit is not within.
func TestSquareLimit(t *testing.T) {
	rng := testkit.Rand(74)
	inf := math.Inf(1)
	require.Equal(t, 0.0, squareLimit(0, 0.2, 0))
	require.Equal(t, 0.0, squareLimit(0, 0.2, -1))
	require.Equal(t, 0.0, squareLimit(0, 0.2, math.NaN()))
	require.Equal(t, 0.0, squareLimit(1, 0.2, 1))
	require.Equal(t, inf, squareLimit(0, 0.2, inf))
	for range 2000 {
		base, scale := rng.Float64()*float64(rng.IntN(2)), rng.Float64()+1e-3
		r := base + math.Exp(float64(rng.IntN(60)-30))
		within := func(s float64) bool { return base+float64(scale*math.Sqrt(s)) < r }
		s := squareLimit(base, scale, r)
		if s == 0 { // nothing, not even distance 0
			require.False(t, within(0))
			continue
		}
		require.False(t, within(s), "base %v scale %v r %v", base, scale, r)
		require.True(t, within(nextDown(s)), "base %v scale %v r %v", base, scale, r)
	}
}

func TestWithinAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("skipped: race builds tell the detector what assembly touches, which allocates")
	}
	eachLevel(t, func(t *testing.T) {
		const n = 200
		index, label, bits := make([]int32, n), make([]int32, n), make([]uint64, 4)
		x, x16 := make([]float64, 3*n), make([]uint16, 3*256)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			Candidates(bits, x16, []uint16{0, 0, 0}, []uint16{1, 1, 1})
			WithinEuclid(index, label, bits, x, []float64{0, 0, 0}, 0.2, 1)
			WithinRigid(index, label, bits, x[:2*n], []float64{0, 0}, []float64{1, 0}, 0, 0.2, 1)
			WithinPolar(index, label, nil, x[:2*n], []float64{0, 0}, 1, 0.2, 1)
			WithinLogPolar(index, label, nil, x[:2*n], []float64{0, 0}, 0.2, 1)
		}))
	})
}

func TestWithinPanics(t *testing.T) {
	x, ix := make([]float64, 12), make([]int32, 4)
	for want, f := range map[string]func(){
		"search: WithinEuclid: len(u) = 4, need 1 to 3":           func() { WithinEuclid(ix, ix, nil, x, x[:4], 1, 1) },
		"search: WithinLogPolar: len(index) = 3, need at least 4": func() { WithinLogPolar(ix[:3], ix, nil, x[:8], x[:2], 1, 1) },
		"search: WithinPolar: len(bits) = 2, need 1":              func() { WithinPolar(ix, ix, make([]uint64, 2), x[:8], x[:2], 1, 1, 1) },
		"search: WithinRigid: len(m) = 1, need 2":                 func() { WithinRigid(ix, ix, nil, x[:8], x[:2], x[:1], 1, 1, 1) },
		"search: WithinRigid: len(x) = 9, need 8":                 func() { WithinRigid(ix, ix, nil, x[:9], x[:2], x[:2], 1, 1, 1) },
		"search: Candidates: len(u) = 0, need at least 1":         func() { Candidates(nil, nil, nil, nil) },
		"search: Candidates: len(x) = 64, need 128": func() {
			Candidates(make([]uint64, 1), make([]uint16, 64),
				make([]uint16, 2), make([]uint16, 2))
		},
	} {
		require.PanicsWithValue(t, want, f, want)
	}
}
