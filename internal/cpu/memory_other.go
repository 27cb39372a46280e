//go:build !linux

package cpu

// Memory is the size of the machine's main memory in bytes; where the system has no common way to ask, a modest machine's.
func Memory() int64 { return unknownMemory }
