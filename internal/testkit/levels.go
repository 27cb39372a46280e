package testkit

import (
	"fmt"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// EachLevel runs a test at every level that exists here, as level=avx2, and goes back to the level before.
func EachLevel(t *testing.T, f func(t *testing.T)) {
	restoreLevel(t)
	for _, l := range cpu.Levels() {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			if err := cpu.SetLevel(l); err != nil {
				t.Fatal(err)
			}
			f(t)
		})
	}
}

// BenchLevels runs a benchmark at every level, as n=1024/impl=generic.
func BenchLevels(b *testing.B, shape string, bytes int, f func()) {
	restoreLevel(b)
	for _, l := range cpu.Levels() {
		b.Run(fmt.Sprintf("%s/impl=%v", shape, l), func(b *testing.B) {
			if err := cpu.SetLevel(l); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(bytes))
			for b.Loop() {
				f()
			}
		})
	}
}

// restoreLevel sets the current level again when the test ends.
func restoreLevel(t testing.TB) {
	before := cpu.CurrentLevel()
	t.Cleanup(func() {
		if err := cpu.SetLevel(before); err != nil {
			t.Fatal(err)
		}
	})
}
