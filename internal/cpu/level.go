package cpu

import (
	"fmt"
	"os"
	"strings"
)

// Level names a set of machine instructions that kernels are written for. Package simd exports it, and messages carry that name.
type Level uint8

const (
	// Generic is portable Go, available everywhere. It defines what every other level computes.
	Generic Level = iota
	// AVX2 means AVX2 with FMA3, BMI1 and BMI2, on amd64.
	AVX2
	// AVX512 means AVX-512 F, DQ, BW and VL, on amd64.
	AVX512
	// NEON means Advanced SIMD, on arm64.
	NEON
	// AMX means AVX512, and products of matrices in bfloat16 by tiles (AMX-BF16), on amd64 under Linux. What has no
	// kernel for tiles runs at AVX512.
	AMX
	// WASM128 means the vectors of 128 bits of WebAssembly, in programs built by Go 1.27 or later with GOEXPERIMENT=simd.
	WASM128
)

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon", AMX: "amx", WASM128: "wasm128"}

// String returns the level's name in the form that EQUIVCNP_SIMD takes.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel returns the level of that name, in upper or lower case.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if strings.EqualFold(name, n) {
			return Level(l), nil
		}
	}
	return Generic, fmt.Errorf("simd: unknown level %q, want one of %s", name, strings.Join(levelNames[:], ", "))
}

var (
	// available lists what this program offers on this machine, slowest first. An architecture's own detection
	// (level_amd64.go) adds to Generic.
	available = append([]Level{Generic}, detect()...)
	// level is the current level.
	level = available[len(available)-1]
	// followers are the variables that the packages with kernels switch on.
	followers []*Level
	// levelErr is what became of EQUIVCNP_SIMD.
	levelErr error
)

// Vectors returns the level whose kernels work on vectors at this level: AVX512 at AMX, and otherwise the level itself.
func (l Level) Vectors() Level {
	if l == AMX {
		return AVX512
	}
	return l
}

// Follow keeps a variable equal to the current level's Vectors, from now on and for good. Every package with kernels
// has such a variable and calls Follow once, in an init function: a variable of its own is what its dispatchers read
// fastest and shortest.
func Follow(l *Level) {
	followers = append(followers, l)
	*l = level.Vectors()
}

// Tiles reports whether the current level has kernels for tiles.
func Tiles() bool { return level == AMX }

// Dots reports whether the CPU adds up products of pairs of bfloat16 numbers, and the current level has AVX-512: such
// functions belong to no level of their own, as they are few.
func Dots() bool { return level.Vectors() == AVX512 && dots }

// FastDots reports whether such products are faster than those of float32, as on AMD's. Intel's Xeons (an Emerald Rapids) begin such an
// instruction every other cycle, and two multiply-adds of float32 in each: they add up half as many products.
func FastDots() bool { return Dots() && AMD }

// Bytes reports whether the CPU adds up four products of bytes at a time, and the current level has AVX-512.
func Bytes() bool { return level.Vectors() == AVX512 && vnni }

// HaveBytes reports whether the CPU does so at some level.
func HaveBytes() bool { return vnni }

var dots = len(Missing("AVX512BF16")) == 0

var vnni = len(Missing("AVX512VNNI")) == 0

// envLevel is the environment variable that overrides the choice of level at start-up.
const envLevel = "EQUIVCNP_SIMD"

func init() { levelErr = setLevelName(os.Getenv(envLevel)) }

// setLevelName sets the level of that name; no name leaves everything as it is.
func setLevelName(name string) error {
	if name == "" {
		return nil
	}
	l, err := ParseLevel(name)
	if err == nil {
		err = SetLevel(l)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", envLevel, name, err)
	}
	return nil
}

// Levels returns the levels that this program offers on this machine, slowest first. Generic is always among them.
func Levels() []Level { return append([]Level(nil), available...) }

// CurrentLevel returns the level that kernels of all packages run at: the best of Levels, unless SetLevel or the environment variable
// EQUIVCNP_SIMD (generic, avx2, avx512, amx, neon or wasm128, read once at start-up) chose another.
func CurrentLevel() Level { return level }

// SetLevel makes all kernels run at that level from now on. It fails, and changes nothing, if the level is not among
// Levels. It is meant for tests and tools and must not be called while kernels run.
func SetLevel(l Level) error {
	for _, have := range available {
		if l == have {
			level = l
			for _, f := range followers {
				*f = l.Vectors()
			}
			return nil
		}
	}
	names := make([]string, len(available))
	for i, have := range available {
		names[i] = have.String()
	}
	return fmt.Errorf("simd: level %v is not available here, have %s", l, strings.Join(names, ", "))
}

// LevelError returns what was wrong with the environment variable EQUIVCNP_SIMD at start-up, nil if nothing was. After an
// error the level is the best available one, as if the variable were not set. Programs should report it.
func LevelError() error { return levelErr }
