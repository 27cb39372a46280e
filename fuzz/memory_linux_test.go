package fuzz

import (
	"os"
	"syscall"
)

// peakMemory is the most memory, in bytes, that a process that has ended had at a time.
func peakMemory(s *os.ProcessState) int64 { return int64(s.SysUsage().(*syscall.Rusage).Maxrss) << 10 }
