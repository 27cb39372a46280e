package eval

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestJoint: the process itself is 0 behind itself, and its independent predictions as far as the report's Diagonal says.
func TestJoint(t *testing.T) {
	src := task.BenchmarkSource[float32]{Process: "matern", Dx: 1}
	opt := Options{Tasks: 40, Seed: 2}
	process := func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
		joint, _, err := src.Exact(b)
		for i := range joint {
			joint[i] *= float64(len(b.Y) / b.Curves.B)
		}
		return joint, err
	}
	r, err := Joint(context.Background(), process, src, opt)
	require.NoError(t, err)
	require.Equal(t, 40, r.Tasks)
	require.InDelta(t, 0, r.KL.Mean, 1e-12)
	require.InDelta(t, 0, r.KL.Error, 1e-6)

	alone := Independent(Oracle[float32](task.GP{Kernel: task.Matern52(0.25), Jitter: 0.05}))
	r, err = Joint(context.Background(), alone, src, opt)
	require.NoError(t, err)
	require.Greater(t, r.Diagonal.Mean, 0.2)
	require.InDelta(t, r.Diagonal.Mean, r.KL.Mean, 1e-5)
	require.InDelta(t, r.Diagonal.Error, r.KL.Error, 1e-5)

	r, err = Joint(context.Background(), Process[float32](task.GP{Kernel: task.Matern52(0.25), Jitter: 0.05}), src, opt)
	require.NoError(t, err)
	require.InDelta(t, 0, r.KL.Mean, 1e-9)

	// The chain rule over the process's own predictions is the process.
	chain := Autoregressive(matern{t}, cnp.Chain{Seed: 1})
	r, err = Joint(context.Background(), chain, src, Options{Tasks: 3, Batch: 3, Seed: 2})
	require.NoError(t, err)
	require.InDelta(t, 0, r.KL.Mean, 1e-5)

	bad := func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
		out := make([]float64, b.Curves.B)
		out[0], out[1] = math.NaN(), math.Inf(-1)
		return out, nil
	}
	r, err = Joint(context.Background(), bad, task.BenchmarkSource[float32]{Process: "sawtooth", Dx: 2}, opt)
	require.NoError(t, err)
	require.Nil(t, r.KL)
	require.Equal(t, 6, r.NotFinite)
	require.Equal(t, 34, r.Tasks)
	require.Zero(t, r.LogLikelihood.Mean)

	_, err = Joint(context.Background(), func(context.Context, *task.Tasks[float32]) ([]float64, error) { return nil, nil }, src, opt)
	require.ErrorContains(t, err, "0 densities of 16 tasks")
	_, err = Joint(context.Background(), func(context.Context, *task.Tasks[float32]) ([]float64, error) {
		return nil,
			errors.New("no")
	}, src, opt)
	require.ErrorContains(t, err, "no")
}

// matern is the process itself as a predictor.
type matern struct{ t *testing.T }

func (m matern) Predict(ctx context.Context, b *cnp.Batch[float32]) (*cnp.Prediction[float32], error) {
	return Oracle[float32](task.GP{Kernel: task.Matern52(0.25), Jitter: 0.05})(ctx, &task.Tasks[float32]{Curves: b})
}

// TestJointCounts: the chain rule passes over values that do not count, such as those of the context, and what they are does not matter.
func TestJointCounts(t *testing.T) {
	src := task.BenchmarkSource[float32]{Process: "matern", Dx: 1}
	b, err := src.Batch(2, 2, 0)
	require.NoError(t, err)
	chain := Autoregressive(matern{t}, cnp.Chain{Order: cnp.OrderGiven})
	nt := b.Curves.Nt
	shorter := *b.Curves // without every second target
	shorter.Nt, shorter.XTarget = nt/2, nil
	some := task.Tasks[float32]{Curves: &shorter}
	for i := range 2 * nt {
		known := i%nt%2 == 1 && i%nt/2 < nt/2
		b.Known = append(b.Known, known)
		if known {
			shorter.XTarget, some.Y = append(shorter.XTarget, b.Curves.XTarget[i]), append(some.Y, b.Y[i])
		}
	}
	want, err := chain(t.Context(), &some)
	require.NoError(t, err)
	for i, known := range b.Known {
		if !known {
			b.Y[i] = 1e6
		}
	}
	before := slices.Clone(b.Y)
	got, err := chain(t.Context(), b)
	require.NoError(t, err)
	require.InDeltaSlice(t, want, got, 1e-3)
	require.Equal(t, before, b.Y)
	alone, err := Independent(Oracle[float32](task.GP{Kernel: task.Matern52(0.25), Jitter: 0.05}))(t.Context(), b)
	require.NoError(t, err)
	require.Greater(t, got[0]+got[1], alone[0]+alone[1])
}

// TestTally: the error is that of the mean over batches.
func TestTally(t *testing.T) {
	var x tally
	for _, b := range [][]float64{{1, 3}, {4, 4}, {0, 0}} {
		x.batch(0, 1)
		for _, v := range b {
			x.add(v)
		}
	}
	e := x.estimate() // of 2, 4 and 0
	require.InDelta(t, 2, e.Mean, 1e-12)
	require.InDelta(t, 2/math.Sqrt(3), e.Error, 1e-12)
	require.True(t, math.IsNaN(new(tally).estimate().Mean))

	// Batches of which no task has a finite density are no batches.
	x.batch(0, 1)
	require.Equal(t, e, x.estimate())
	// The error of a single batch is not known: 0, and not what rounding leaves.
	one := tally{}
	one.batch(0, 1)
	for _, v := range []float64{0.1, 0.2, 0.3, 0.1, 0.7, 0.9} {
		one.add(v)
	}
	require.Zero(t, one.estimate().Error)
	// Nor is it where a kind has a single batch: that of the others alone would be too small.
	kinds := tally{}
	for i, v := range []float64{1, 5, 3} {
		kinds.batch(i%2, 2)
		kinds.add(v)
	}
	require.Equal(t, Estimate{(2 + 5) / 2., 0}, kinds.estimate())
	kinds.batch(1, 2)
	kinds.add(9)
	require.InDelta(t, math.Sqrt(1+4)/2, kinds.estimate().Error, 1e-12) // of 1 and 3, and of 5 and 9
}

// TestEstimateJSON: an estimate of no tasks can be kept in a file.
func TestEstimateJSON(t *testing.T) {
	for text, e := range map[string]Estimate{`{"mean":null,"standard_error":null}`: new(tally).estimate(),
		`{"mean":-1.5,"standard_error":0}`: {-1.5, 0}, `{"mean":null,"standard_error":0.25}`: {math.Inf(-1), 0.25}} {
		b, err := json.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, text, string(b))
		var back Estimate
		require.NoError(t, json.Unmarshal(b, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, text, string(again))
	}
	require.Error(t, new(Estimate).UnmarshalJSON([]byte(`{"mean":"x"}`)))
}

// masked is a source of two tasks of three targets, of which a mask leaves out all but two of the first task's.
type masked struct{}

func (masked) String() string { return "masked" }

func (masked) Batch(int, uint64, int) (*task.Tasks[float64], error) {
	b := &cnp.Batch[float64]{B: 2, Nt: 3, XTarget: make([]float64, 6), TargetMask: []bool{true, false, true, false, false, false}}
	return &task.Tasks[float64]{Curves: b, Y: []float64{1, math.NaN(), 2, 0, 0, 0}}, nil
}

// TestJointMask: what the mask leaves out has no part in a task's density, nor in the number that it is divided by.
func TestJointMask(t *testing.T) {
	predict := func(context.Context, *task.Tasks[float64]) (*cnp.Prediction[float64], error) {
		return &cnp.Prediction[float64]{Mean: []float64{1, 0, 0, 0, 0, 0}, Std: []float64{1, 0, 1, 0, 0, 0}}, nil
	}
	r, err := Joint(context.Background(), Independent(predict), masked{}, Options{Tasks: 2, Batch: 2})
	require.NoError(t, err)
	require.Equal(t, 1, r.Tasks)
	require.InDelta(t, -1-0.5*math.Log(2*math.Pi), r.LogLikelihood.Mean, 1e-12)
}

// TestJointMixture: of the mixture every process counts alike, however many tasks it has among those that are measured.
func TestJointMixture(t *testing.T) {
	src := task.BenchmarkSource[float32]{Process: "mixture", Dx: 1}
	values, step := []float64{1, 2, 3, 100}, 5
	var seen [4]int
	density := func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
		kind, kinds := src.Kind(3, step)
		require.Equal(t, 4, kinds)
		require.Equal(t, kind == 3, b.Curves.Nt == 100, "sawtooth waves have more targets than the others")
		step++
		seen[kind]++
		out := make([]float64, b.Curves.B)
		for i := range out {
			out[i] = values[kind] * float64(b.Curves.Nt)
		}
		return out, nil
	}
	r, err := Joint(context.Background(), density, src, Options{Tasks: 24 * DefaultBatch, Seed: 3, First: 5})
	require.NoError(t, err)
	require.NotEqual(t, [4]int{6, 6, 6, 6}, seen, "chance")
	require.InDelta(t, 106.0/4, r.LogLikelihood.Mean, 1e-9)
	require.InDelta(t, 0, r.LogLikelihood.Error, 1e-9)

	step, seen = 5, [4]int{}
	r, err = Joint(context.Background(), density, src, Options{Tasks: DefaultBatch, Seed: 3, First: 5})
	require.NoError(t, err)
	kind, _ := src.Kind(3, 5)
	require.InDelta(t, values[kind], r.LogLikelihood.Mean, 1e-9, "one batch is of one process")
}
