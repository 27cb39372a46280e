package buffers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClasses: every length has a class that holds it and wastes at most an eighth, and a class's size is of that class.
func TestClasses(t *testing.T) {
	last := -1
	for n := 1; n < 1<<16; n++ {
		class := classOf(n)
		size := capacityOf(class)
		if size < n || size-n > n/8 || classOf(size) != class || class < last || class > last+1 {
			t.Fatalf("n = %d: class %d of %d numbers after class %d", n, class, size, last)
		}
		last = class
	}
	require.Less(t, classOf(1<<30), classes)
	x := Rent[float32](1000)
	require.Len(t, x, 1000)
	require.Equal(t, 1024, cap(x))
	GiveBack(x, nil)
	GiveBack(make([]float32, 1025)) // not one of ours: left to the garbage collector
}
