//go:build linux || darwin || freebsd || netbsd || openbsd

package frozen

import (
	"os"
	"syscall"
)

// mapFile maps a file into memory that cannot be written to, or reads it where its file system cannot do that.
func mapFile(f *os.File, size int) ([]byte, error) {
	m, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return read(f, size)
	}
	return m, nil
}

// unmap ends a mapping; memory that is none is left alone.
func unmap(m []byte) { _ = syscall.Munmap(m) }
