package chain

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// lostByBlocks returns what blocks of targets lose of the joint entropy of a Gaussian process with a squared exponential kernel
// and noise of variance 0.05, in nats: the sum over blocks of how much the targets tell each other, given all before.
func lostByBlocks(t *testing.T, context, x []float64, order []int32, ends []int, length float64) float64 {
	t.Helper()
	at := append([]float64{}, context...)
	for _, i := range order {
		at = append(at, x[i])
	}
	cov := mat.NewSymDense(len(at), nil)
	for i := range at {
		for j := i; j < len(at); j++ {
			d := (at[i] - at[j]) / length
			cov.SetSym(i, j, math.Exp(-d*d/2))
		}
		cov.SetSym(i, i, 1.05)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	var l mat.TriDense
	chol.LTo(&l)
	lost := 0.0
	for k := range ends {
		lo, hi := Block(ends, k)
		for i := len(context) + lo; i < len(context)+hi; i++ {
			alone := 0.0 // variance given what is known before the block
			for j := len(context) + lo; j <= i; j++ {
				alone += l.At(i, j) * l.At(i, j)
			}
			lost += math.Log(alone)/2 - math.Log(l.At(i, i))
		}
	}
	return lost
}

// TestSpreadLoses: growing blocks of targets that are far apart lose less than half of what blocks in random order lose, in
// fewer predictions, on the tasks of docs/benchmarks.md. Targets that go one by one lose nothing.
func TestSpreadLoses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lost [2]float64
	var predictions [2]int
	const tasks, targets, length = 100, 50, 0.25
	uniform := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 4*rng.Float64() - 2
		}
		return x
	}
	for k := range uint64(tasks) {
		context, x := uniform(rng.IntN(31)), uniform(targets)
		random, spread := Chain{Growth: 0.25}, Chain{Order: OrderSpread, Growth: 0.25}
		order, ends := random.Arrange(targets, k, nil), random.Blocks(len(context), targets)
		lost[0] += lostByBlocks(t, context, x, order, ends, length) / (tasks * targets)
		predictions[0] += len(ends)
		order, ends = spread.Spread(context, x, 1, k)
		lost[1] += lostByBlocks(t, context, x, order, ends, length) / (tasks * targets)
		predictions[1] += len(ends)
		one := Chain{Order: OrderSpread}
		order, ends = one.Spread(context, x, 1, k)
		require.InDelta(t, 0, lostByBlocks(t, context, x, order, ends, length), 1e-9)
	}
	t.Logf("random blocks: %.4f nats a target in %.2f predictions; spread: %.4f in %.2f", lost[0], float64(predictions[0])/tasks, lost[1],
		float64(predictions[1])/tasks)
	require.Less(t, lost[1], lost[0]/2)
	require.Less(t, predictions[1], predictions[0]*2/3)
	require.Less(t, lost[1], 0.015)
}
