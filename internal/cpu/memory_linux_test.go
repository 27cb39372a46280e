package cpu

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLimited: the limit of the program's own control group holds, that of a group around it, that of a container, and that of the address
// space.
func TestLimited(t *testing.T) {
	const service, slurm = "0::/system.slice/e.service\n", "9:cpu,cpuacct:/c\n4:hugetlb,memory:/slurm/uid_1/job_2/step_0\n0::/\n"
	for _, c := range []struct {
		name, groups string
		files        map[string]string
		want         int64
	}{
		{"none", "", nil, 8000},
		{"container 2", "0::/\n", map[string]string{"memory.max": "3000\n"}, 3000},
		{"container 1", "4:memory:/docker/abc\n", map[string]string{"memory/memory.limit_in_bytes": "3000\n"}, 3000},
		{"service", service, map[string]string{"system.slice/e.service/memory.max": "2000\n", "system.slice/memory.max": "max\n"}, 2000},
		{"slice", service, map[string]string{"system.slice/e.service/memory.max": "max\n", "system.slice/memory.max": "4000\n"}, 4000},
		{"job", slurm, map[string]string{"memory/slurm/uid_1/job_2/memory.limit_in_bytes": "1000\n",
			"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 1000},
		{"of other processes", "4:memory:/a\n", map[string]string{"memory/b/memory.limit_in_bytes": "1000\n", "a/memory.max": "1"}, 8000},
		{"outside", "0::/../../x\nnonsense\n", map[string]string{"memory.max": "0\n", "x/memory.max": "7000"}, 7000},
		{"address space", "", map[string]string{"../../../proc/self/limits": "Limit                Soft Limit Hard Limit Units\n" +
			"Max data size        5          6          bytes\nMax address space    6000       unlimited  bytes\n"}, 6000},
		{"no limit", "", map[string]string{"../../../proc/self/limits": "Max address space    unlimited  unlimited  bytes\n"}, 8000},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range c.files {
				path := filepath.Join(root, "sys/fs/cgroup", name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			if c.groups != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/self"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(root, "proc/self/cgroup"), []byte(c.groups), 0o600))
			}
			require.Equal(t, c.want, limited(root, 8000))
		})
	}
}
