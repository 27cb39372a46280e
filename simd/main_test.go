package simd

import (
	"flag"
	"fmt"
	"testing"

	"github.com/equivcnp/equivcnp/internal/race"
)

// long makes the accuracy tests visit all 2^32 float32 numbers, some minutes per function.
var long = flag.Bool("long", false, "test float32 functions on every number")

// trial is how many arguments of every function TestAccuracy takes.
var trial = flag.Int("trial", 10_000, "compare functions with the reference at so many arguments")

// trials is how many arguments to take: few with -short, which runs under an emulator, too.
func trials() int {
	if testing.Short() {
		return min(*trial, 3000)
	}
	return *trial
}

// eachLevel runs a test at every level that exists here. The race detector makes level generic ten times as slow, which no goroutine and no
// announcement of memory is part of.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := CurrentLevel()
	defer func() {
		if err := SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	levels := Levels()
	if race.Enabled && len(levels) > 1 {
		levels = levels[1:]
	}
	for _, l := range levels {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			f(t)
		})
	}
}

// lengths are from nothing to past four of the widest vectors.
func lengths() []int {
	var n []int
	for i := range 4*16 + 4 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 1000)
}

// eps is the unit roundoff of T, twice: the distance from 1 to the next number.
func eps[T Float]() float64 {
	if T(1)+T(0x1p-40) == 1 {
		return 0x1p-23
	}
	return 0x1p-52
}
