package pretrained

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestModels: every shipped model loads, predicts, and says where it is from.
func TestModels(t *testing.T) {
	require.NotEmpty(t, Names())
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			i, err := About(name)
			require.NoError(t, err)
			for key, v := range map[string]string{KeyCommand: i.Command, KeySeed: i.Seed, KeySteps: i.Steps, KeyTasks: i.Tasks,
				KeyTest: i.Test, KeyLogLikelihood: i.LogLikelihood} {
				require.NotEmpty(t, v, "metadata %q", key)
			}
			file, err := files.ReadFile(folder + name + extension)
			require.NoError(t, err)
			require.LessOrEqual(t, len(file), 1<<20)
			m, err := Load(name)
			require.NoError(t, err)
			require.Equal(t, i.Config, m.Config())
			c := m.Config()
			written, err := json.Marshal(c)
			require.NoError(t, err)
			var read cnp.Config
			require.NoError(t, json.Unmarshal(written, &read))
			require.Equal(t, c, read, "%s", written)
			var p *cnp.Prediction[float32]
			var tasks cnp.Tasks[float32]
			shape := cnp.Interval(-1, 1)
			switch m := m.(type) {
			case cnp.Regressor[float32]:
				b := &cnp.Batch[float32]{B: 1, Nt: 2, XTarget: make([]float64, 2*c.DimX)}
				tasks = b
				p, err = m.Predict(context.Background(), b)
			case cnp.Completer[float32]:
				n := 16 * 16
				im := &cnp.Images[float32]{B: 1, C: c.DimY, H: 16, W: 16, Pixels: make([]float32, n*c.DimY), Mask: make([]bool, n)}
				tasks, shape = im, im.Shape()
				p, err = m.Complete(context.Background(), im)
			default:
				t.Fatalf("a %T predicts nothing", m)
			}
			require.NoError(t, err)
			plan, err := m.Plan(context.Background(), shape, cnp.PlanOptions{Memory: 160 << 20, Soft: true})
			if !errors.Is(err, cnp.ErrNoPlan) || c.Architecture.Image() {
				require.NoError(t, err)
				planned := plan.NewPrediction(tasks)
				require.NoError(t, plan.Predict(context.Background(), planned, tasks))
				if c.Architecture.Image() || c.Placement != cnp.PlacementBatch {
					require.Equal(t, p, planned)
				}
			}
			for _, s := range p.Std {
				require.True(t, s > 0 && s < 1e3)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{"", "nobody", "../models/" + Names()[0], strings.Repeat("x", 1000)} {
		_, err := Load(name)
		require.ErrorIs(t, err, ErrName)
		require.ErrorContains(t, err, Names()[0])
		require.Less(t, len(err.Error()), 400+100*len(Names()))
		_, err = About(name)
		require.ErrorIs(t, err, ErrName)
	}
}

// TestBenchmark: on a few tasks of the neuralprocesses benchmark, its models come as close to the best possible as the
// published table asks: the best independent prediction, or by the chain rule the process itself; in all regions.
func TestBenchmark(t *testing.T) {
	models := 0
	for _, name := range Names() {
		i, err := About(name)
		require.NoError(t, err)
		for _, process := range task.BenchmarkProcesses[:3] {
			src := task.BenchmarkSource[float32]{Process: process, Dx: i.Config.DimX}
			if !strings.HasPrefix(i.Tasks, src.String()) || i.Config.DimX != 1 {
				continue
			}
			models++
			t.Run(name, func(t *testing.T) {
				m, err := Load(name)
				require.NoError(t, err)
				for _, src.Region = range task.BenchmarkRegions {
					r, err := eval.Joint(context.Background(), eval.Independent(eval.Model(m)), src, eval.Options{Tasks: 64, Seed: 1000})
					require.NoError(t, err)
					if d := r.KL.Mean - r.Diagonal.Mean; !(d <= 0.025) {
						t.Errorf("%s: %.3f behind the best independent prediction", src.Region, d)
					}
					if l, err := cnp.ParseLikelihood(&i.Config); err == nil && isJoint(l) {
						r, err := eval.Joint(context.Background(), eval.Predicted(eval.Model(m)), src, eval.Options{Tasks: 64, Seed: 1000})
						require.NoError(t, err)
						if !(r.KL.Mean <= 0.015) {
							t.Errorf("%s: jointly %.3f behind the process", src.Region, r.KL.Mean)
						}
					}
					r, err = eval.Joint(context.Background(), eval.Autoregressive(m.(cnp.Regressor[float32]), cnp.Chain{Seed: 1}),
						src, eval.Options{Tasks: 16, Seed: 1000})
					require.NoError(t, err)
					if !(r.KL.Mean <= 0.05) {
						t.Errorf("%s: by the chain rule %.3f behind the process", src.Region, r.KL.Mean)
					}
				}
			})
		}
	}
	t.Logf("%d models", models)
}

// isJoint says whether the values of a task are not independent.
func isJoint(l cnp.Likelihood) bool {
	_, joint := l.(cnp.JointLikelihood)
	return joint
}

// TestSphere: models on the sphere predict the same tasks as well at the poles, across the date line and after any turn
// of the globe as they do at middle latitudes, and not much worse than the best independent prediction.
func TestSphere(t *testing.T) {
	models := 0
	for _, name := range Names() {
		i, err := About(name)
		require.NoError(t, err)
		if !i.Config.OnSphere() {
			continue
		}
		models++
		m, err := Load(name)
		require.NoError(t, err)
		ctx, density := context.Background(), eval.Independent(eval.Model(m))
		var at [4][]float64
		behind := 0.0
		for k, place := range task.SpherePlaces[:4] {
			src := task.SphereSource[float32]{Process: strings.Fields(i.Tasks)[0], Place: place, Dx: i.Config.DimX}
			require.NoError(t, eval.Tasks(ctx, src, eval.Options{Tasks: 64, Seed: 1000}, func(b *task.Tasks[float32], n int) error {
				found, err := density(ctx, b)
				require.NoError(t, err)
				_, best, err := src.Exact(b)
				require.NoError(t, err)
				for j, v := range found {
					at[k] = append(at[k], v/float64(b.Curves.Nt))
					behind += (best[j] - at[k][len(at[k])-1]) / 256
				}
				return nil
			}))
		}
		for k := range at {
			sum, squares := 0.0, 0.0
			for j, v := range at[k] {
				sum, squares = sum+v-at[0][j], squares+(v-at[0][j])*(v-at[0][j])
			}
			if mean, wrong := sum/64, math.Sqrt(squares)/64; !(math.Abs(mean) <= 4*wrong && wrong < 0.01) {
				t.Errorf("%s: at %q the log-likelihood changes by %.4f, with a standard error of %.4f", name,
					task.SpherePlaces[k], mean, wrong)
			}
		}
		t.Logf("%s: %.3f behind the best independent prediction", name, behind)
		require.Less(t, behind, 0.25)
	}
	require.Positive(t, models)
}

// TestVectors: models of vector fields come near the best independent prediction on tasks like the published ones, and
// they know what a whole field of context means: without that no chain rule would work.
func TestVectors(t *testing.T) {
	models := 0
	for _, name := range Names() {
		i, err := About(name)
		require.NoError(t, err)
		if !i.Config.Vectors() {
			continue
		}
		models++
		m, err := Load(name)
		require.NoError(t, err)
		for _, points := range []int{25, 200} {
			if testing.Short() && (models > 1 || points > 25) {
				continue // seconds on an emulated machine
			}
			src := task.VectorSource[float32]{Kernel: strings.Fields(i.Tasks)[0], MinContext: points, MaxContext: points, Targets: 100}
			behind := 0.0
			const tasks = 8
			ctx, density := context.Background(), eval.Independent(eval.Model(m))
			require.NoError(t, eval.Tasks(ctx, src, eval.Options{Tasks: tasks, Batch: tasks, Seed: 1000},
				func(b *task.Tasks[float32], n int) error {
					found, err := density(ctx, b)
					require.NoError(t, err)
					_, best, err := src.Exact(b)
					require.NoError(t, err)
					for j, v := range found {
						behind += (2*best[j] - v/float64(b.Curves.Nt)) / tasks
					}
					return nil
				}))
			t.Logf("%s: given %d points %.3f per target behind the best independent prediction", name, points, behind)
			if !(behind <= 0.1) { // .052 to .064
				t.Errorf("%s: given %d points %.3f per target behind the best independent prediction", name, points, behind)
			}
		}
	}
	require.Positive(t, models)
}

// TestDense: models of the paper's processes go by the chain rule over curves of so many targets that the context
// becomes denser than any that they were trained on: what they predict then is no nonsense.
func TestDense(t *testing.T) {
	for _, kernel := range []string{"rbf", "matern", "periodic"} {
		m, err := Load(kernel + "-levels")
		require.NoError(t, err)
		k, err := task.KernelByName(kernel)
		require.NoError(t, err)
		c := task.PaperTest(k)
		c.Lo, c.Hi, c.Targets = -1, 1, 200
		src := task.CurveSource[float32]{Name: kernel, Curves: c}
		r, err := eval.Joint(context.Background(), eval.Autoregressive(m.(cnp.Regressor[float32]), cnp.Chain{Seed: 1}), src,
			eval.Options{Tasks: 1, Batch: 1, Seed: 1000})
		require.NoError(t, err)
		if t.Logf("%s: %.2f", kernel, r.LogLikelihood.Mean); !(r.LogLikelihood.Mean > 1.5) {
			t.Errorf("%s: by the chain rule %.2f per target", kernel, r.LogLikelihood.Mean)
		}
	}
}
