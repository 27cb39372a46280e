package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLine: without an amount nothing tells where a task lies; with one the mean does, as many times as high, and nothing else. Values are
// as likely as the process says.
func TestLine(t *testing.T) {
	whole, err := ParseLine[float64]("stationary")
	require.NoError(t, err)
	one, half := LineSource[float64]{Amount: 1}, LineSource[float64]{Amount: 0.5}
	change := 0.0
	for x := -lineHalf; x <= lineHalf; x += 0.1 {
		require.Zero(t, whole.mean(x))
		require.InDelta(t, one.mean(x)/2, half.mean(x), 1e-15)
		change = max(change, math.Abs(one.mean(x+0.5)-one.mean(x)))
	}
	require.Greater(t, change, 1.0)
	a, err := whole.factor([]float64{-1, 0, 0.3})
	require.NoError(t, err)
	b, err := one.factor([]float64{0.5, 1.5, 1.8})
	require.NoError(t, err)
	require.InDeltaSlice(t, a.Data, b.Data, 1e-12)

	for _, text := range []string{"stationary", "stationary+0.3", "stationary+2"} {
		s, err := ParseLine[float64](text)
		require.NoError(t, err)
		require.Contains(t, s.String(), text+" values")
		sum, values := 0.0, 0
		for step := range 8 {
			tasks, err := s.Batch(8, 5, step)
			require.NoError(t, err)
			c := tasks.Curves
			mean, std, err := s.Predictive(tasks)
			require.NoError(t, err)
			_, alone, err := s.Exact(tasks)
			require.NoError(t, err)
			for i := range c.B {
				density := 0.0
				for k := i * c.Nt; k < (i+1)*c.Nt; k++ {
					e := (tasks.Y[k] - mean[k]) / std[k]
					density -= (0.5*e*e + math.Log(std[k]) + 0.5*math.Log(2*math.Pi)) / float64(c.Nt)
				}
				require.InDelta(t, alone[i], density, 1e-9)
				x := append(append([]float64{}, c.XContext[i*c.Nc:(i+1)*c.Nc]...), c.XTarget[i*c.Nt:(i+1)*c.Nt]...)
				y := append(append([]float64{}, c.YContext[i*c.Nc:(i+1)*c.Nc]...), tasks.Y[i*c.Nt:(i+1)*c.Nt]...)
				l, err := s.factor(x)
				require.NoError(t, err)
				for k := range y {
					require.LessOrEqual(t, math.Abs(x[k]), lineHalf)
					y[k] -= s.mean(x[k])
				}
				densityOf(l, y) // whitened, values are standard normal
				for _, z := range y {
					sum += z * z
				}
				values += len(y)
			}
		}
		require.InDelta(t, 1, sum/float64(values), 5*math.Sqrt(2/float64(values)), text)
	}
	for _, text := range []string{"", "cubic", "stationary+", "stationary+a", "stationary+NaN", "stationary+-1", "stationary+1e9"} {
		_, err := ParseLine[float64](text)
		require.Error(t, err, text)
	}
	_, err = LineSource[float32]{Amount: math.NaN()}.Batch(1, 1, 1)
	require.Error(t, err)
	_, _, err = one.Predictive(&Tasks[float64]{})
	require.Error(t, err)
}
