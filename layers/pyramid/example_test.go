package pyramid_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/layers/pyramid"
)

// Features on a line pass through two levels and are read at a target. A shift of everything by a step of the coarsest lattice, here by
// 3 of them, changes nothing.
func Example() {
	p := pyramid.New[float64](pyramid.Config{Axes: 1, In: 1, Channels: []int{4, 8}, Reach: 2, Blocks: 1, Step: 0.5},
		rand.New(rand.NewPCG(1, 1)))
	net := p.Compile()
	at := func(shift float64) []float64 {
		var run pyramid.Run[float64]
		run.Lay(p, []float64{shift}, []float64{shift + 2}, []float64{shift + 0.8}, []float64{shift + 0.8})
		f := make([]float64, run.Layout.Rows()) // one feature a point, 0 where there are no data
		for i, x := range run.Layout.Points(nil) {
			if u := x - shift; u >= 0 && u <= 2 {
				f[i] = math.Sin(3 * u)
			}
		}
		return net.Forward(&run, f, []float64{shift + 0.8})
	}
	here, there := at(0), at(3)
	same := true
	for i := range here {
		same = same && math.Abs(here[i]-there[i]) < 1e-12
	}
	fmt.Println(len(here), "features, the same after a shift:", same)
	// Output: 4 features, the same after a shift: true
}
