// Package x86 helps to write kernels with avo: a kernel's arithmetic is recorded once, as operations on values, and then
// emitted for AVX2 and AVX-512, for whole vectors and for the tail, so that all of them compute the same. What is recorded for AVX2
// can be written for NEON too, with package neon.
package x86

import "fmt"

// Level is the set of instructions that a function is written for.
type Level int

const (
	AVX2 Level = iota
	AVX512
	AMX
	// Dots is AVX512 and sums of two products of bfloat16 numbers a lane (AVX512_BF16). It is no level by itself: level
	// AVX512 has such functions where the machine does (cpu.Dots).
	Dots
	// VNNI is AVX512 and sums of four products of bytes a lane (AVX512_VNNI). Like Dots it is no level by itself (cpu.Bytes).
	VNNI
)

// String returns the level's name as it stands in function names: expF32AVX512.
func (l Level) String() string { return [...]string{"AVX2", "AVX512", "AMX", "Dots", "VNNI"}[l] }

// Bytes returns the size of the level's vectors.
func (l Level) Bytes() int { return [...]int{32, 64, 64, 64, 64}[l] }

// Features returns the instruction set extensions, as avo names them, that the level's functions may use. The lists
// become internal/cpu/zlevels_amd64.go, by which a program decides whether the machine has a level; every function is held to
// its level's list by a test.
func (l Level) Features() []string {
	if l == AVX2 {
		return []string{"AVX", "AVX2", "FMA3", "POPCNT", "BMI", "BMI2"}
	}
	wide := []string{"AVX", "AVX2", "FMA3", "POPCNT", "BMI", "BMI2", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL"}
	switch l {
	case AMX:
		return append(wide, tileFeatures...)
	case Dots:
		return append(wide, "AVX512BF16")
	case VNNI:
		return append(wide, "AVX512VNNI")
	}
	return wide
}

// Elem is the type of a vector's lanes.
type Elem int

const (
	F32 Elem = iota
	F64
)

// String returns the type's name as it stands in function names.
func (e Elem) String() string { return [...]string{"F32", "F64"}[e] }

// Bytes returns the size of one element.
func (e Elem) Bytes() int { return [...]int{4, 8}[e] }

// GoType returns the element type in Go.
func (e Elem) GoType() string { return [...]string{"float32", "float64"}[e] }

// floats ends the name of a floating-point instruction: VADDPS, VADDPD.
func (e Elem) floats() string { return [...]string{"PS", "PD"}[e] }

// ints ends the name of an instruction on integer lanes: VPADDD, VPADDQ.
func (e Elem) ints() string { return [...]string{"D", "Q"}[e] }

// check panics with the message if the condition does not hold: an error in a generator is a mistake of its author.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic("x86: " + fmt.Sprintf(format, args...))
	}
}
