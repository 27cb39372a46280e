package main

import "syscall"

// peakMemory is the largest resident set of this process so far, in bytes.
func peakMemory() (float64, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return float64(u.Maxrss) * 1024, true
}
