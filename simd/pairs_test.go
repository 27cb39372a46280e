package simd

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

// pairCase is one kind of pair kernel: how to draw a point, how to call it at the current level and its twin.
type pairCase[T Float] struct {
	name  string
	d, e  int
	draw  func(rng *rand.Rand, c int) T
	call  func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int
	twin  func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int
	angle int // the coordinate that is an angle, or -1
}

const (
	testAlpha = 0.3
	testFloor = 0.0005
	testTurn  = -0.7
)

func pairCases[T Float]() []pairCase[T] {
	normal := func(rng *rand.Rand, _ int) T { return T(rng.NormFloat64()) }
	angleAt := func(axis int, other func(*rand.Rand) T) func(*rand.Rand, int) T {
		return func(rng *rand.Rand, c int) T {
			if c != axis {
				return other(rng)
			}
			if rng.IntN(4) == 0 { // multiples of an eighth of a turn make half turns
				return T(math.Pi) * T(rng.IntN(9)-4) / 4
			}
			return T(math.Pi) * T(2*rng.Float64()-1)
		}
	}
	m := []T{1.2, -0.4}
	cases := []pairCase[T]{
		{"Rigid", 2, 3, normal,
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsRigidOf("", index, pose, label, bits, x, u, m, testTurn, testAlpha, r)
			},
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsRigidGeneric(index, pose, label, bits, x, u, m, testTurn, squareLimit(T(T(testAlpha)*T(-testTurn)), 1-T(testAlpha), r))
			}, -1},
		{"Polar", 2, 3, angleAt(0, func(rng *rand.Rand) T { return T(rng.Float64()) }),
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsPolarOf("", index, pose, label, bits, x, u, testFloor, testAlpha, r)
			},
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsPolarGeneric(index, pose, label, bits, x, u, testFloor, testAlpha, r)
			}, 0},
		{"LogPolar", 2, 2, angleAt(1, func(rng *rand.Rand) T { return T(rng.NormFloat64()) }),
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsLogPolarOf("", index, pose, label, bits, x, u, testAlpha, r)
			},
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsLogPolarGeneric(index, pose, label, bits, x, u, testAlpha, r)
			}, 1},
	}
	for d := 1; d <= 3; d++ {
		cases = append(cases, pairCase[T]{fmt.Sprintf("Euclid%d", d), d, d, normal,
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsEuclidOf("", index, pose, label, bits, x, u, testAlpha, r)
			},
			func(index []int32, pose []T, label []int32, bits []uint64, x, u []T, r T) int {
				return pairsEuclidGeneric(index, pose, label, bits, x, u, squareLimit(0, T(testAlpha), r))
			}, -1})
	}
	return cases
}

// Every level keeps the same points, with the same poses to the last bit, at every length, with slices that end or start at
// unreadable pages.
func TestPairsEqualTheTwin(t *testing.T) {
	t.Run("F32", testPairsEqualTheTwin[float32])
	t.Run("F64", testPairsEqualTheTwin[float64])
}

func testPairsEqualTheTwin[T Float](t *testing.T) {
	sizes := []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 200, 4095, 4097}
	if testing.Short() {
		sizes = sizes[:len(sizes)-2]
	}
	for _, c := range pairCases[T]() {
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				rng := testkit.Rand(71)
				for round, n := range append(sizes, 130, 130, 130) {
					place := func(x []T) []T {
						if round%2 == 0 {
							return testkit.CopyAtEnd(t, x)
						}
						return testkit.CopyAtStart(t, x)
					}
					x, u := make([]T, c.d*n), make([]T, c.d)
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
							x[rng.IntN(c.d)*n+j] = []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1))}[rng.IntN(3)]
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
					for _, r := range []T{0, 0.05, 0.4, 1.5, T(math.Inf(1)), T(math.NaN()), -1} {
						for _, b := range [][]uint64{bits, nil} {
							index, pose := testkit.AtEnd[int32](t, n), testkit.AtEnd[T](t, c.e*n)
							wantIndex, wantPose := make([]int32, n), make([]T, c.e*n)
							want := c.twin(wantIndex, wantPose, label, b, x, u, r)
							got := c.call(index, pose, label, b, x, u, r)
							if got != want {
								t.Fatalf("n=%d r=%v: kept %d, want %d", n, r, got, want)
							}
							for k := range want {
								if index[k] != wantIndex[k] {
									t.Fatalf("n=%d r=%v: index[%d] = %d, want %d", n, r, k, index[k], wantIndex[k])
								}
								for e := range c.e {
									if floatBits(pose[e*n+k]) != floatBits(wantPose[e*n+k]) {
										t.Fatalf("n=%d r=%v: pose[%d] of %d = %v, want %v", n, r, e, k, pose[e*n+k], wantPose[e*n+k])
									}
								}
							}
							clear(index)
							require.Equal(t, want, c.call(index, nil, label, b, x, u, r))
							require.Equal(t, wantIndex[:want], index[:want])
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
func TestPairsAgainstBig(t *testing.T) {
	const n, prec = 300, 200
	big64 := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	abs := func(x *big.Float) *big.Float { return new(big.Float).Abs(x) }
	sub := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Sub(x, y) }
	add := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Add(x, y) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(x, y) }
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803", 10, prec, big.ToNearestEven)
	require.NoError(t, err)
	turn := func(d *big.Float) *big.Float {
		if d = abs(d); d.Cmp(pi) > 0 {
			d = abs(sub(mul(big64(2), pi), d))
		}
		return d
	}
	exact := map[string]func(u, x []float64) *big.Float{
		"LogPolar": func(u, x []float64) *big.Float {
			return add(mul(big64(testAlpha), turn(sub(big64(u[1]), big64(x[1])))), mul(big64(1-testAlpha), abs(sub(big64(u[0]), big64(x[0])))))
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
	for _, c := range pairCases[float64]() {
		f := exact[c.name]
		if f == nil {
			continue // Rigid: TestPairsRigid
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
				m := c.call(index, nil, label, nil, x, u, r)
				kept := false
				for _, i := range index[:m] {
					kept = kept || int(i) == j
				}
				require.Equal(t, side > 0, kept, "%s: distance %v, radius %v", c.name, d, r)
			}
		}
	}
}

// The pose of PairsRigid multiplies as complex numbers do.
func TestPairsRigid(t *testing.T) {
	rng := testkit.Rand(73)
	const n = 100
	x, label := testkit.Normal[float64](rng, 2*n), make([]int32, n)
	for j := range label {
		label[j] = int32(j)
	}
	m, u := complex(0.8, -1.3), complex(0.2, 0.4)
	index, pose := make([]int32, n), make([]float64, 3*n)
	const r = 0.9
	kept := PairsRigidF64(index, pose, label, nil, x, []float64{real(u), imag(u)}, []float64{real(m), imag(m)}, -1, 0.25, r)
	seen := map[int32]bool{}
	for k, j := range index[:kept] {
		want := m * (u - complex(x[j], x[n+j]))
		require.InDelta(t, real(want), pose[n+k], 1e-14)
		require.InDelta(t, imag(want), pose[2*n+k], 1e-14)
		require.Equal(t, -1.0, pose[k])
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
	t.Run("F32", testSquareLimit[float32])
	t.Run("F64", testSquareLimit[float64])
}

func testSquareLimit[T Float](t *testing.T) {
	rng := testkit.Rand(74)
	inf := T(math.Inf(1))
	require.Equal(t, T(0), squareLimit[T](0, 0.2, 0))
	require.Equal(t, T(0), squareLimit[T](0, 0.2, -1))
	require.Equal(t, T(0), squareLimit[T](0, 0.2, T(math.NaN())))
	require.Equal(t, T(0), squareLimit[T](1, 0.2, 1))
	require.Equal(t, inf, squareLimit[T](0, 0.2, inf))
	for range 2000 {
		base, scale := T(rng.Float64()*float64(rng.IntN(2))), T(rng.Float64()+1e-3)
		r := base + T(math.Exp(float64(rng.IntN(60)-30)))
		within := func(s T) bool { return base+T(scale*T(math.Sqrt(float64(s)))) < r }
		s := squareLimit(base, scale, r)
		if s == 0 { // nothing, not even distance 0
			require.False(t, within(0))
			continue
		}
		require.False(t, within(s), "base %v scale %v r %v", base, scale, r)
		require.True(t, within(nextDown(s)), "base %v scale %v r %v", base, scale, r)
	}
}

// The sieve against distances on the circle, with differences at every border.
func TestNear16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(75)
		edges := []uint16{0, 1, 100, 1<<14 - 1, 1 << 14, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1<<16 - 1}
		draw := func() uint16 {
			if rng.IntN(2) == 0 {
				return edges[rng.IntN(len(edges))]
			}
			return uint16(rng.Uint32())
		}
		for _, words := range []int{0, 1, 2, 3, 9} {
			for d := 1; d <= 4; d++ {
				x, u, r := testkit.AtEnd[uint16](t, 64*words*d), make([]uint16, d), make([]uint16, d)
				for i := range x {
					x[i] = draw()
				}
				for c := range u {
					u[c], r[c] = draw(), draw()
				}
				bits, want := castWords(testkit.AtEnd[float64](t, words), make([]uint64, words)), make([]uint64, words)
				Near16(bits, x, u, r)
				for j := range 64 * words {
					all := true
					for c := range d {
						gap := int(u[c]) - int(x[c*64*words+j])
						gap = max(gap, -gap)
						all = all && min(gap, 1<<16-gap) <= int(r[c])
					}
					if all {
						want[j/64] |= 1 << (j % 64)
					}
				}
				require.Equal(t, want, append([]uint64{}, bits...), "d=%d words=%d", d, words)
			}
		}
	})
}

func TestPairsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("skipped: race builds tell the detector what assembly touches, which allocates")
	}
	eachLevel(t, func(t *testing.T) {
		const n = 200
		index, label, bits := make([]int32, n), make([]int32, n), make([]uint64, 4)
		x, pose := make([]float64, 3*n), make([]float64, 3*n)
		x16 := make([]uint16, 3*256)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			Near16(bits, x16, []uint16{0, 0, 0}, []uint16{1, 1, 1})
			PairsEuclidF64(index, pose, label, bits, x, []float64{0, 0, 0}, 0.2, 1)
			PairsRigidF64(index, pose, label, bits, x[:2*n], []float64{0, 0}, []float64{1, 0}, 0, 0.2, 1)
			PairsPolarF64(index, pose, label, nil, x[:2*n], []float64{0, 0}, 1, 0.2, 1)
			PairsLogPolarF64(index, pose[:2*n], label, nil, x[:2*n], []float64{0, 0}, 0.2, 1)
		}))
	})
}

func TestPairsPanics(t *testing.T) {
	x, ix := make([]float64, 12), make([]int32, 4)
	for want, f := range map[string]func(){
		"simd: PairsEuclidF64: len(u) = 4, need 1 to 3":           func() { PairsEuclidF64(ix, nil, ix, nil, x, x[:4], 1, 1) },
		"simd: PairsLogPolarF64: len(index) = 3, need at least 4": func() { PairsLogPolarF64(ix[:3], nil, ix, nil, x[:8], x[:2], 1, 1) },
		"simd: PairsLogPolarF64: len(pose) = 7, need 8":           func() { PairsLogPolarF64(ix, x[:7], ix, nil, x[:8], x[:2], 1, 1) },
		"simd: PairsPolarF64: len(bits) = 2, need 1":              func() { PairsPolarF64(ix, nil, ix, make([]uint64, 2), x[:8], x[:2], 1, 1, 1) },
		"simd: PairsRigidF64: len(m) = 1, need 2":                 func() { PairsRigidF64(ix, nil, ix, nil, x[:8], x[:2], x[:1], 1, 1, 1) },
		"simd: Near16: len(u) = 0, need at least 1":               func() { Near16(nil, nil, nil, nil) },
		"simd: Near16: len(x) = 64, need 128":                     func() { Near16(make([]uint64, 1), make([]uint16, 64), make([]uint16, 2), make([]uint16, 2)) },
	} {
		require.PanicsWithValue(t, want, f, want)
	}
}
