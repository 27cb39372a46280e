package simd

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
)

func TestPanics(t *testing.T) {
	x := make([]float32, 100)
	ix := make([]int32, 10)
	for want, f := range map[string]func(){
		"simd: ExpF32: len(dst) = 3, need 4":     func() { ExpF32(x[:3], x[:4]) },
		"simd: SinCosF32: len(c) = 3, need 4":    func() { SinCosF32(x[:4], x[10:13], x[20:24]) },
		"simd: Atan2F32: len(y) = 3, need 4":     func() { Atan2F32(x[:4], x[:3], x[:4]) },
		"simd: AxpyF32: len(dst) = 1, need 2":    func() { AxpyF32(x[:1], 1, x[:2]) },
		"simd: RotateF32: len(y) = 1, need 2":    func() { RotateF32(x[:2], x[:1], 1, 0) },
		"simd: SwapF32: len(y) = 1, need 2":      func() { SwapF32(x[:2], x[:1]) },
		"simd: DotSingleF32: len(y) = 1, need 2": func() { DotSingleF32(x[:2], x[:1]) },
		"simd: DotF32: len(y) = 1, need 2":       func() { DotF32(x[:2], x[:1]) },
		"simd: GemmF32: len(a) = 11, need 12": func() {
			GemmF32(x[:6], 2, x[:11], 4, x[:8], 2, 1, 0,
				3, 2, 4)
		},
		"simd: GemmF32: m = -1, need at least 0":  func() { GemmF32(x, 2, x, 4, x, 2, 1, 0, -1, 2, 4) },
		"simd: GemmF32: ldb = 1, need at least 2": func() { GemmF32(x, 2, x, 4, x, 1, 1, 0, 3, 2, 4) },
		"simd: GemmTNF32: len(a) = 11, need 12": func() {
			GemmTNF32(x[:6], 2, x[:11], 3, x[:8], 2, 1,
				0, 3, 2, 4)
		},
		"simd: GemmNTF32: len(b) = 7, need 8": func() {
			GemmNTF32(x[:6], 2, x[:12], 4, x[:7], 4, 1,
				0, 3, 2, 4)
		},
		"simd: Pack: len(b) = 5, need 6":                 func() { Pack(x[:5], 3, 2, 3) },
		"simd: PackTransposed: ldb = 1, need at least 2": func() { PackTransposed(x, 1, 2, 3) },
		"simd: GemmPackedF32: len(bias) = 2, need 3": func() {
			GemmPackedF32(x, 3, x, 2, Pack(x, 3, 2, 3),
				x[:2], 0, 1)
		},
		"simd: GemmPackedF32: act = 6, need 0 to 5": func() {
			GemmPackedF32(x, 3, x, 2, Pack(x, 3, 2, 3),
				nil, 6, 1)
		},
		"simd: GemmPackedF32: len(c) = 5, need 6": func() {
			GemmPackedF32(x[:5], 3, x, 2,
				Pack(x, 3, 2, 3), nil, 0, 2)
		},
		"simd: DepthwiseF32: len(offsets) = 0, need at least 1": func() { DepthwiseF32(nil, nil, nil, nil, nil, nil, 1, true) },
		"simd: DepthwiseF32: len(index) = 1, need 2": func() {
			DepthwiseF32(x[:2], x, x, []int{3, 5},
				ix[:1], ix[:2], 2, true)
		},
		"simd: DepthwiseF32: len(out) = 1, need 2": func() {
			DepthwiseF32(x[:1], x, x, []int{3, 5},
				ix[:2], ix[:2], 2, true)
		},
		"simd: DepthwiseF32: len(f) = 9, need a multiple of 2": func() {
			DepthwiseF32(x[:2], x[:9], x, []int{3, 5},
				ix[:2], ix[:2], 2, true)
		},
		"simd: DepthwiseF32: offsets[1] = 2, need at least offsets[0] = 3": func() {
			DepthwiseF32(x[:4], x, x, []int{3, 2, 3},
				nil, nil, 2, true)
		},
		"simd: PointConvF32: len(p) = 5, need 6": func() {
			PointConvF32(x[:5], x[:4], x[:9],
				[]int{0, 1}, ix[:1], ix[:1], 2, 3)
		},
		"simd: SetConvF32: d = 0, need at least 1": func() { SetConvF32(nil, nil, nil, nil, 0, 1, 1, 1) },
		"simd: SetConvF32: len(phi) = 3, need 4": func() {
			SetConvF32(x[:2], []float64{1},
				[]float64{1, 2}, x[:3], 1, 2, 1, 1)
		},
		"simd: WeightedMomentsF32: len(mean) = 1, need 2": func() {
			WeightedMomentsF32(make([]float64, 1), nil,
				nil, nil, 2)
		},
		"simd: WeightedMomentsF32: weight[1] = -1, need at least 0": func() {
			WeightedMomentsF32([]float64{0},
				[]float64{0}, x[:2], []int32{1, -1}, 1)
		},
	} {
		require.PanicsWithValue(t, want, f, want)
	}
}

// TestDocumentedFunctions: the table that package documentation begins with names every exported function, and nothing else; the one of
// assembly names all that compute.
func TestDocumentedFunctions(t *testing.T) {
	if _, err := os.Stat(filepath.Join("..", "go.mod")); os.IsNotExist(err) {
		t.Skip("skipped: the repository is not here, only the program and testdata, as in the emulator of asm/emulate")
	}
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "# What there is")
	there, rest, _ := strings.Cut(rest, "# What is in assembly")
	assembly, _, _ := strings.Cut(rest, "# Contract")
	api, err := os.ReadFile(filepath.Join("..", "api", "simd.txt")) // missing in a repository, it is an error
	require.NoError(t, err)
	types, exported := regexp.MustCompile(`(F32|F64|BF16|I8)+$`), map[string]bool{}
	family := func(name string) string {
		for _, f := range []string{"Depthwise", "PointConv", "SetConv"} {
			if strings.HasPrefix(name, f) {
				return f
			}
		}
		return strings.TrimSuffix(name, "Grad")
	}
	for _, m := range regexp.MustCompile(`(?m)^func (\w+)`).FindAllStringSubmatch(string(api), -1) {
		name := m[1]
		exported[name], exported[types.ReplaceAllString(name, "")] = true, true
		switch name {
		case "Levels", "SetLevel", "CurrentLevel", "LevelError", "ParseLevel", "NewDepthwisePlan", "NewDepthwisePlanUntil",
			"NewDepthwiseRows", "WeightNetScratch":
			continue // which instructions are used, and what prepares a call
		case "BF16FromF32", "F32FromBF16", "DotSingleF32", "NormGrad":
		default:
			name = family(types.ReplaceAllString(name, ""))
		}
		require.Regexp(t, `\b`+name+`(\.\.\.|\b|F32\b)`, there, "%s is not in the first table of doc.go", m[1])
		if name != "Pack" && name != "PackTransposed" {
			activation := regexp.MustCompile(`^(ReLU|Swish|Sigmoid|Softplus|Tanh)$`).MatchString(name)
			require.True(t, activation || regexp.MustCompile(`\b`+name+`\b`).MatchString(assembly),
				"%s is not in the second table of doc.go", m[1])
		}
	}
	for _, line := range strings.Split(there, "\n") {
		if len(line) < 4 || line[:3] != "//\t" || line[3] == ' ' {
			continue // its second line, or no line of the table
		}
		for _, name := range strings.Fields(line[3:min(len(line), 43)]) {
			name = strings.TrimSuffix(name, "...")
			require.True(t, name == "" || exported[name], "doc.go names %q, which is not exported", name)
		}
	}
}

// TestHugeWithoutElements gives sizes near the largest int where another size is 0: nothing is stored and nothing computed, so nothing may
// loop over them.
func TestHugeWithoutElements(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testHugeWithoutElements[float32])
		t.Run("F64", testHugeWithoutElements[float64])
	})
}

func testHugeWithoutElements[T Float](t *testing.T) {
	const huge = math.MaxInt
	for name, f := range map[string]gemmFunc[T]{"Gemm": Gemm[T], "GemmNT": GemmNT[T], "GemmTN": GemmTN[T]} {
		for _, s := range [][3]int{{huge, 0, 0}, {0, huge, 0}, {0, 0, huge}, {huge, 0, huge}, {0, huge, huge}} {
			m, n, k := s[0], s[1], s[2]
			if name == "Gemm" && m == 0 && n > 0 && k > 0 || name == "GemmNT" && n > 0 && k > 0 || name == "GemmTN" && m+n > 0 && k > 0 ||
				m > 0 && k > 0 {
				continue // a factor has elements
			}
			f(nil, huge, nil, huge, nil, huge, 1, 0, m, n, k)
		}
	}
	none := Pack[T](nil, 0, 0, 0)
	GemmPacked[T](nil, 0, nil, 0, none, nil, ActSwish, huge)
	DenseSwish[T](nil, nil, &Dense[T]{B: none}, huge)
	net := [3]Dense[T]{{B: none}, {B: none}, {B: none}}
	WeightNet[T](nil, nil, &net, huge, make([]T, WeightNetScratch(&net)))
	GemmRuns[T](nil, nil, nil, []Run{{N: huge}}, 0, 0, 0)
	Gemv[T](nil, nil, huge, make([]T, 0), 1, 0, 0, 0)
	Softmax[T](nil, nil, huge)
	NormSums[T](nil, nil, nil, nil, nil, nil, 0)
	ScaleRows[T](nil, nil, huge)
}

// TestAllocationFree calls everything, mostly through the generic adapters, and wants no allocation.
func TestAllocationFree(t *testing.T) {
	if race.Enabled {
		t.Skip("skipped: race builds tell the detector what assembly touches, which allocates")
	}
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testAllocationFree[float32])
		t.Run("F64", testAllocationFree[float64])
	})
}

func testAllocationFree[T Float](t *testing.T) {
	const n = 300
	x, y, z := make([]T, n), make([]T, n), make([]T, n)
	d, e := make([]float64, n), make([]float64, n)
	offsets, ix := []int{0, 5, 9}, make([]int32, 9)
	packed := Pack(x, 10, 10, 10)
	xs, ys := make([]float32, n), make([]float32, n)
	for name, f := range map[string]func(){
		"Exp": func() { Exp(x, y) }, "Log": func() { Log(x, y) }, "Sigmoid": func() { Sigmoid(x, y) }, "Swish": func() { Swish(x, y) },
		"Softplus": func() { Softplus(x, y) }, "ReLU": func() { ReLU(x, y) }, "Tanh": func() { Tanh(x, y) },
		"SinCos": func() { SinCos(x, y, z) }, "Atan2": func() { Atan2(x, y, z) }, "Hypot": func() { Hypot(x, y, z) },
		"Add": func() { Add(x, y, z) }, "Axpy": func() { Axpy(x, 2, y) }, "Scale": func() { Scale(x, 2, y) },
		"ScaleRows": func() { ScaleRows(x, y[:30], 10) },
		"Gemv":      func() { Gemv(x[:10], y, 10, z[:10], 1, 0, 10, 10) }, "GemvT": func() { GemvT(x[:10], y, 10, z[:10], 1, 1, 10, 10) },
		"Gemm":       func() { Gemm(x, 10, y, 10, z, 10, 1, 0, 10, 10, 10) },
		"GemmTN":     func() { GemmTN(x, 10, y, 10, z, 10, 1, 0, 10, 10, 10) },
		"GemmNT":     func() { GemmNT(x, 10, y, 10, z, 10, 1, 0, 10, 10, 10) },
		"GemmPacked": func() { GemmPacked(x, 10, y, 10, packed, z[:10], ActSwish, 10) },
		"Depthwise":  func() { Depthwise(x[:20], y, z, offsets, ix, ix, 10, true) },
		"PointConv":  func() { PointConv(x[:40], y, z, offsets, ix, ix, 10, 2) },
		"SetConv":    func() { SetConv(x, d[:150], e[:150], y, 1, 2, 1, 1) },
		"Sum":        func() { Sum(x) }, "Dot": func() { Dot(x, y) }, "SumSq": func() { SumSq(x) },
		"SumAbs": func() { SumAbs(x) }, "Rotate": func() { Rotate(x, y, 0.6, 0.8) }, "Swap": func() { Swap(x, y) },
		"DotSingle":       func() { DotSingleF32(xs, ys) },
		"MinMax":          func() { MinMax(x) },
		"WeightedMoments": func() { WeightedMoments(d[:10], e[:10], x, nil, 10) },
		"Norm":            func() { Norm(z, x, y[:10], y[:10], y[:10], y[:10], 10) },
		"NormSums":        func() { NormSums(d[:10], e[:10], z, x, y[:10], y[:10], 10) },
		"NormGrad":        func() { NormGrad(z, z, x, nil, y[:10], y[:10], y[:10], y[:10], y[:10], 10) },
	} {
		if got := testing.AllocsPerRun(10, f); got != 0 {
			t.Errorf("%s allocates %g times", name, got)
		}
	}
}

func TestLevels(t *testing.T) {
	require.Contains(t, Levels(), Generic)
	require.Contains(t, Levels(), CurrentLevel())
	before := CurrentLevel()
	for _, l := range []Level{Generic, AVX2, AVX512, NEON, AMX} {
		parsed, err := ParseLevel(l.String())
		require.NoError(t, err)
		require.Equal(t, l, parsed)
	}
	require.ErrorContains(t, SetLevel(Level(77)), "level Level(77) is not available here, have generic")
	require.Equal(t, before, CurrentLevel())

	Levels()[0] = NEON // the caller's own copy
	require.Equal(t, Generic, Levels()[0])
}

func TestActivationNames(t *testing.T) {
	require.Equal(t, "swish", ActSwish.String())
	require.Equal(t, "none", ActNone.String())
	require.Equal(t, "Activation(-1)", Activation(-1).String())
}
