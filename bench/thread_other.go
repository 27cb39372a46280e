//go:build !linux

package main

import "time"

var started = time.Now()

// threadTime is wall time on systems without a clock per thread; no sample counts as preempted there.
func threadTime() time.Duration { return time.Since(started) }

// processTime is nothing on systems without such a clock.
func processTime() time.Duration { return 0 }
