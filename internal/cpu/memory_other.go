//go:build !linux

package cpu

// Memory is the size of the main memory in bytes. This system has no common way to ask for it, so the answer is that of a modest machine.
func Memory() int64 { return unknownMemory }
