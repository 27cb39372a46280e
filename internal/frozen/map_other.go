//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package frozen

import "os"

// mapFile reads a file.
func mapFile(f *os.File, size int) ([]byte, error) { return read(f, size) }

func unmap([]byte) {}
