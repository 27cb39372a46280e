//go:build !linux

package main

// peakMemory is not known here.
func peakMemory() (float64, bool) { return 0, false }
