package linalg_test

import (
	"flag"
	"testing"
)

// long makes the accuracy tests take more arguments, which are compared with arithmetic of 300 bits: some minutes.
var long = flag.Bool("long", false, "compare functions with the slow reference at more arguments")

// trial is how many matrices of every function TestTrial takes.
var trial = flag.Int("trial", 1000, "compare functions with the fast reference at so many matrices")

// sample returns how many arguments a test takes: with -long, usually, and with -short.
func sample(most, usual, least int) int {
	switch {
	case *long:
		return most
	case testing.Short():
		return least
	}
	return usual
}
