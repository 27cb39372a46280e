package cpu

import "syscall"

// Memory is the size of the machine's main memory in bytes.
func Memory() int64 {
	var s syscall.Sysinfo_t
	if err := syscall.Sysinfo(&s); err != nil {
		return unknownMemory
	}
	return int64(uint64(s.Totalram) * uint64(s.Unit))
}
