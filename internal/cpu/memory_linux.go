package cpu

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Memory is the size of the main memory in bytes: the machine's, or less where the program runs in a container, in a control group such as
// that of a service or of a job of a cluster, or under a limit of its address space.
func Memory() int64 {
	var s syscall.Sysinfo_t
	if err := syscall.Sysinfo(&s); err != nil {
		return unknownMemory
	}
	return limited("/", int64(uint64(s.Totalram)*uint64(s.Unit)))
}

// limited returns memory or, if one is less, the limit of the address space or of a control group, version 1 or 2, that the program is in.
// A group is bounded by those that it is in, too. A container sees its own group as the outermost one, whatever the kernel calls it.
func limited(root string, memory int64) int64 {
	least := func(elem ...string) {
		text, err := os.ReadFile(filepath.Join(append([]string{root}, elem...)...))
		if err != nil { // such as that of the outermost group, which has none
			return
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 { // not the word max
			memory = min(memory, limit)
		}
	}
	folders := [][]string{{"sys/fs/cgroup", "memory.max"}, {"sys/fs/cgroup/memory", "memory.limit_in_bytes"}}
	for _, f := range folders {
		least(f...)
	}
	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) // without it there are the outermost ones
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // a number, controllers, and the group
		if len(parts) < 3 {
			continue
		}
		f := folders[0]
		if parts[1] != "" {
			if f = folders[1]; !slices.Contains(strings.Split(parts[1], ","), "memory") {
				continue
			}
		}
		for group := path.Clean("/" + parts[2]); group != "/"; group = path.Dir(group) {
			least(f[0], group, f[1])
		}
	}
	limits, _ := os.ReadFile(filepath.Join(root, "proc/self/limits"))
	for line := range strings.Lines(string(limits)) {
		text, found := strings.CutPrefix(line, "Max address space")
		if f := strings.Fields(text); found && len(f) > 0 {
			if limit, err := strconv.ParseInt(f[0], 10, 64); err == nil && limit > 0 { // not the word unlimited
				memory = min(memory, limit)
			}
		}
	}
	return memory
}
