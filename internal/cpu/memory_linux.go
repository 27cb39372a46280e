package cpu

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Memory is the size of the main memory in bytes: the machine's, or the limit of the container that the program runs in.
func Memory() int64 {
	var s syscall.Sysinfo_t
	if err := syscall.Sysinfo(&s); err != nil {
		return unknownMemory
	}
	memory := int64(uint64(s.Totalram) * uint64(s.Unit))
	// The limits of control groups, version 2 and 1, as a container sees its own.
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(path); err == nil {
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
				memory = min(memory, limit)
			}
		}
	}
	return memory
}
