//go:build linux || darwin || freebsd || netbsd || openbsd

package testkit

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Guarded reports whether AtEnd and AtStart protect the memory around their slices.
const Guarded = true

// guarded maps whole pages for at least size bytes between two unreadable ones.
func guarded(t testing.TB, size int) []byte {
	t.Helper()
	page := unix.Getpagesize()
	inner := max((size+page-1)/page, 1) * page
	m, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("testkit: mmap: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			t.Errorf("testkit: munmap: %v", err)
		}
	})
	for _, guard := range [][]byte{m[:page], m[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatalf("testkit: mprotect: %v", err)
		}
	}
	return m[page : page+inner : page+inner]
}
