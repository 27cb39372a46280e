//go:build !linux

package main

import "time"

var started = time.Now()

// threadTime is the wall clock where the thread's own is not at hand: no sample counts as preempted.
func threadTime() time.Duration { return time.Since(started) }
