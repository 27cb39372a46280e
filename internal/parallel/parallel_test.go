package parallel

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForCoversOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000} {
		for _, grain := range []int{-1, 0, 1, 3, 64, 5000} {
			for _, workers := range []int{-1, 1, 2, 9} {
				t.Run(fmt.Sprintf("n=%d/grain=%d/workers=%d", n, grain, workers), func(t *testing.T) {
					var mu sync.Mutex
					seen, chunks := make([]int, n), map[[2]int]bool{}
					ForWorkers(n, grain, workers, func(w, lo, hi int) {
						mu.Lock()
						defer mu.Unlock()
						require.True(t, w >= 0 && w < max(1, workers), "worker %d", w)
						chunks[[2]int{lo, hi}] = true
						for i := lo; i < hi; i++ {
							seen[i]++
						}
					})
					for i, k := range seen {
						require.Equal(t, 1, k, "index %d", i)
					}
					for c := range chunks { // chunks depend on the grain alone
						require.Zero(t, c[0]%max(1, grain))
						require.LessOrEqual(t, c[1]-c[0], max(1, grain))
					}
				})
			}
		}
	}
}

// TestPanic: a fault in a goroutine reaches the caller, who may recover, and no goroutine is left.
func TestPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, workers := range []int{1, 4} {
		require.PanicsWithValue(t, "index 37", func() {
			ForWorkers(100, 1, workers, func(_, lo, _ int) {
				if lo == 37 {
					panic("index 37")
				}
			})
		})
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
