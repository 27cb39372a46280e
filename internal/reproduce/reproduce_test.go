package reproduce

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
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

// TestExactTable: a table has the process's own numbers, differences on the same tasks, and says which models are missing.
func TestExactTable(t *testing.T) {
	p := &reproduction{Config: Config{Tasks: 6, Seed: 1}, ctx: t.Context(), part: "globe"}
	table := &exactTable{title: "A table", batch: 4}
	for _, place := range task.GlobePlaces["geodesic"][:2] {
		src := task.GlobeSource[float32]{Process: "geodesic", Place: place, Context: 40, Targets: 20}
		table.columns = append(table.columns, exactColumn{name: place, known: src.Known, krige: "universal-globe", trained: "none"})
	}
	require.NoError(t, p.exactly(table))
	_, exact, err := task.GlobeSource[float32]{Process: "geodesic", Context: 40, Targets: 20}.Known(2, 1, 1)
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(p.Files[0].Content)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+2*2)
	require.Equal(t, []string{"the process, with its length", "unturned", "6"}, rows[1][:3])
	require.NotEqual(t, exact[0], exact[1])
	require.Equal(t, rows[1][3], rows[2][3], "turned tasks are as likely")
	for _, row := range rows[3:] {
		behind, err := strconv.ParseFloat(row[5], 64)
		require.NoError(t, err)
		require.Greater(t, behind, 0.0, "nothing beats the process on many targets")
		require.Less(t, behind, 1.0)
	}
	require.Contains(t, p.report.String(), "Models of unturned: not trained yet.")

	some := &reproduction{Config: Config{Tasks: 6, Seed: 1, Columns: []string{"unturned"}}, ctx: t.Context(), part: "globe"}
	require.NoError(t, some.exactly(table))
	without, err := csv.NewReader(bytes.NewReader(some.Files[0].Content)).ReadAll()
	require.NoError(t, err)
	require.Len(t, without, 1+2)
	require.Equal(t, rows[1][:9], without[1][:9])
	some.Columns = []string{"upside down"}
	require.ErrorContains(t, some.exactly(table), `no column has "upside down"`)
	require.Equal(t, eval.Estimate{Mean: 2, Error: math.Sqrt(1.0 / 3)}, taskEstimate([]float64{1, 2, 3}))
}

// TestGrowingBlocks: the methods of growing blocks take fewer predictions, and without growth are the chain rule itself.
func TestGrowingBlocks(t *testing.T) {
	c := cnp.DefaultLevels(2, 1, 1)
	c.Channels, c.PointsPerUnit, c.EncoderLength = []int{4, 4}, 4, 0.5
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	tasks, err := task.JointSource[float32]{Process: "gp", Context: 8, Targets: 8}.Batch(2, 1, 1)
	require.NoError(t, err)
	found := map[string][]float64{}
	for _, method := range (&livingTable{growths: []float64{0, 1}}).methods(&Model{Config: c}) {
		density, err := benchmarkDensity(method, m, 1)
		require.NoError(t, err)
		found[method], err = density(t.Context(), tasks)
		require.NoError(t, err)
	}
	require.Len(t, found, 4)
	require.Equal(t, found["autoregressive"], found["blocks of 0 times the known points, autoregressive"])
	// As many targets as there are context points: one block, which is independent.
	require.InDeltaSlice(t, found["independent"], found["blocks of 1 times the known points, autoregressive"], 1e-3)
	require.NotEqual(t, found["autoregressive"], found["independent"])
}

// A network that says what interpolation says is as far behind the true covariance.
func TestScoreUniversalNetwork(t *testing.T) {
	row, err := ScoreUniversal(t.Context(), 1, 4, 3, krige.Named("universal-1"))
	require.NoError(t, err)
	require.NotNil(t, row.Network)
	require.InDelta(t, float64(row.Behind), float64(*row.Network), 1e-3)
	require.Contains(t, UniversalReport([]UniversalRow{row}), "A network (`--model`) on the same tables of 1 input: ")
	row, err = ScoreUniversal(t.Context(), 1, 2, 3, krige.Named("universal-2"))
	require.NoError(t, err)
	require.Nil(t, row.Network, "a model of other inputs")
}
