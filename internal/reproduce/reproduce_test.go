package reproduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestFigureTasks: the contexts lie where their scenes say, and differ from the truth in the one outlier.
func TestFigureTasks(t *testing.T) {
	src, err := curveSource("matern", figureLo, figureHi)
	require.NoError(t, err)
	drawn, err := figureTasks(src.Curves, 1)
	require.NoError(t, err)
	require.Len(t, drawn, len(scenes))
	for i, tasks := range drawn {
		c := drawnCurve(tasks, &cnp.Prediction[float32]{Mean: tasks.Y, Std: tasks.Y}, 0)
		truth := map[float64]float64{}
		for k, x := range c[0].X {
			truth[x] = c[0].Truth[k]
		}
		off := 0
		require.Len(t, c[0].ContextX, figureContext)
		for k, x := range c[0].ContextX {
			require.True(t, x >= scenes[i].lo && x <= scenes[i].hi)
			if d := c[0].ContextY[k] - truth[x]; d != 0 {
				require.InDelta(t, scenes[i].outlier, d, 1e-6)
				off++
			}
		}
		require.Equal(t, scenes[i].outlier != 0, off == 1)
	}
	_, err = curveSource("linear", 0, 1)
	require.Error(t, err)
}

// A model that ended with expected targets stands in the table of its tasks.
func TestTaskNames(t *testing.T) {
	for tasks, want := range map[string]int{
		"eq of the neuralprocesses benchmark, dx = 2, int":                                                     0,
		"matern of the neuralprocesses benchmark, dx = 2, int, contexts as in the chain rule":                  1,
		"eq of the neuralprocesses benchmark, dx = 2, int, contexts as in the chain rule, targets as expected": 0,
		"eq of the neuralprocesses benchmark, dx = 1, int":                                                     -1, "eq": -1,
	} {
		require.Equal(t, want, (&Model{Config: cnp.Config{DimX: 2}, Tasks: tasks}).benchmark(), tasks)
	}
}

// A model file of another name says its group by a word of it.
func TestGroupInName(t *testing.T) {
	for name, want := range map[string]string{"RxSO2": "R>0xSO(2)", "digits-SE2": "SE(2)", "my_T2-v3": "T(2)", "model": ""} {
		require.Equal(t, want, groupInName((&Model{Name: name}).words()))
	}
}
