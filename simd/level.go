package simd

import "github.com/equivcnp/equivcnp/internal/cpu"

// Level names a set of machine instructions that kernels are written for.
type Level = cpu.Level

const (
	// Generic is portable Go, available everywhere. It defines what every other level computes.
	Generic = cpu.Generic
	// AVX2 means AVX2 with FMA3, BMI1 and BMI2, on amd64.
	AVX2 = cpu.AVX2
	// AVX512 means AVX-512 F, DQ, BW and VL, on amd64.
	AVX512 = cpu.AVX512
	// NEON means Advanced SIMD, on arm64.
	NEON = cpu.NEON
	// AMX means AVX512, and products of matrices in bfloat16 by tiles (AMX-BF16), on amd64 under Linux.
	AMX = cpu.AMX
	// WASM128 means the vectors of 128 bits of WebAssembly, in programs built by Go 1.27 or later with GOEXPERIMENT=simd.
	WASM128 = cpu.WASM128
)

// level is what the dispatchers switch on.
var level Level

func init() { cpu.Follow(&level) }

// ParseLevel returns the level of that name, in upper or lower case.
func ParseLevel(name string) (Level, error) { return cpu.ParseLevel(name) }

// Levels returns the levels that this program offers on this machine, slowest first. Generic is always among them.
func Levels() []Level { return cpu.Levels() }

// CurrentLevel returns the level that kernels of all packages run at: the best of Levels, unless SetLevel or the environment
// variable EQUIVCNP_SIMD (generic, avx2, avx512, amx, neon or wasm128, read once at start-up) chose another.
func CurrentLevel() Level { return cpu.CurrentLevel() }

// SetLevel makes all kernels run at that level from now on, those of searching and of small matrices as well. It fails, and changes
// nothing, if the level is not among Levels. It is meant for tests and tools and must not be called while kernels run.
func SetLevel(l Level) error { return cpu.SetLevel(l) }

// LevelError returns what was wrong with the environment variable EQUIVCNP_SIMD at start-up, nil if nothing was. After an
// error the level is the best available one, as if the variable were not set. Programs should report it.
func LevelError() error { return cpu.LevelError() }
