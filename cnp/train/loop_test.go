package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// smallCurve is an EquivCNP with everything that training changes: moments, running statistics, radii.
func smallCurve() cnp.Config {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid = 6, []int{4, 5, 3}, 5, 3
	return c
}

func smallCurves() task.Source[float32] {
	return task.CurveSource[float32]{Name: "rbf", Curves: task.Curves{
		GP: task.GP{Kernel: task.RBF(1), Jitter: 1e-6}, Lo: -2, Hi: 2, Targets: 12, MinContext: 2, MaxContext: 8}}
}

// stripes are images of stripes, a quarter of whose pixels are seen.
type stripes struct{}

func (stripes) String() string { return "stripes" }

func (stripes) Batch(n int, seed uint64, step int) (*task.Tasks[float32], error) {
	const side = 7
	rng := task.StepRand(seed, step)
	im := &cnp.Images[float32]{B: n, C: 1, H: side, W: side}
	for range n {
		phase := 6 * rng.Float64()
		for p := range side * side {
			im.Pixels = append(im.Pixels, float32(0.5+0.5*math.Sin(float64(p%side)+phase)))
			im.Mask = append(im.Mask, rng.Float64() < 0.25)
		}
	}
	return &task.Tasks[float32]{Images: im, Y: im.Pixels}, nil
}

func smallImage() cnp.Config {
	c := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.BlockBatchNorm = []int{6}, 1, 5, 3, true
	return c
}

func smallConfig(steps int) Config {
	c := DefaultConfig(steps)
	c.Batch, c.Passes, c.LogEvery, c.CheckpointEvery, c.EvalEvery, c.EvalTasks = 3, 2, 2, 3, 4, 5
	c.Noise = Noise{From: 0.2, To: 0.05, Steps: 5}
	return c
}

func newRun(t testing.TB, m cnp.Config, src task.Source[float32], c Config, opt Options[float32]) *Run[float32] {
	t.Helper()
	model, err := cnp.New[float32](m, 3)
	require.NoError(t, err)
	r, err := NewRun(model, src, c, opt)
	require.NoError(t, err)
	return r
}

// bits is everything that training changes.
func bits(r *Run[float32]) map[string][]float32 {
	out := map[string][]float32{}
	r.arrays(func(name string, _ []int, v []float32) { out[name] = append([]float32(nil), v...) })
	return out
}

// TestSameBits: the goroutines' number changes nothing, nor does an interruption after any step.
func TestSameBits(t *testing.T) {
	for name, k := range map[string]struct {
		model cnp.Config
		src   task.Source[float32]
	}{
		"curve": {smallCurve(), smallCurves()},
		"image": {smallImage(), stripes{}},
		"cnp":   {cnp.Default(cnp.CNPCurve, "", 1), smallCurves()},
	} {
		t.Run(name, func(t *testing.T) {
			const steps = 7
			c := smallConfig(steps)
			c.Patience = 5
			whole := newRun(t, k.model, k.src, c, Options[float32]{Log: filepath.Join(t.TempDir(), "log")})
			require.NoError(t, whole.Train(context.Background()))
			require.Equal(t, steps, whole.Step())
			want := bits(whole)

			before := runtime.GOMAXPROCS(3)
			other := newRun(t, k.model, k.src, c, Options[float32]{})
			require.NoError(t, other.Train(context.Background()))
			runtime.GOMAXPROCS(before)
			require.Equal(t, want, bits(other), "another GOMAXPROCS")

			for _, stop := range []int{1, 4, 6} {
				dir := t.TempDir()
				opt := Options[float32]{Checkpoint: filepath.Join(dir, "ckpt"), Log: filepath.Join(dir, "log")}
				ctx, cancel := context.WithCancel(context.Background())
				opt.Report = func(r Record) {
					if r.Step == stop {
						cancel()
					}
				}
				first := newRun(t, k.model, k.src, c, opt)
				err := first.Train(ctx)
				require.ErrorIs(t, err, ErrInterrupted)
				require.ErrorContains(t, err, fmt.Sprintf("after step %d of 7", stop))
				opt.Report = nil
				second := newRun(t, k.model, k.src, c, opt)
				require.NoError(t, second.Resume())
				require.Equal(t, stop, second.Step())
				require.NoError(t, second.Train(context.Background()))
				require.Equal(t, want, bits(second), "interrupted after step %d", stop)
				require.Equal(t, records(t, whole.opt.Log), records(t, opt.Log))

				third := newRun(t, k.model, k.src, c, opt) // a finished run stays finished
				require.NoError(t, third.Resume())
				require.NoError(t, third.Train(context.Background()))
				require.Equal(t, want, bits(third))
			}
		})
	}
}

// records reads a log without the speeds.
func records(t *testing.T, path string) []Record {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []Record
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var r Record
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		r.TasksPerSecond = 0
		out = append(out, r)
	}
	var steps []int
	for _, r := range out {
		steps = append(steps, r.Step)
	}
	require.Equal(t, []int{2, 4, 6, 7}, steps)
	return out
}

// TestCheckpointEvery: the file that a killed process leaves is that of the last full interval, and its log's later lines
// are written anew.
func TestCheckpointEvery(t *testing.T) {
	dir := t.TempDir()
	opt := Options[float32]{Checkpoint: filepath.Join(dir, "ckpt"), Log: filepath.Join(dir, "log")}
	c := smallConfig(8)
	var kept []byte
	opt.Report = func(r Record) {
		if r.Step == 5 {
			var err error
			kept, err = os.ReadFile(opt.Checkpoint)
			require.NoError(t, err)
		}
	}
	r := newRun(t, smallCurve(), smallCurves(), c, opt)
	require.NoError(t, r.Train(context.Background()))
	require.NoError(t, os.WriteFile(opt.Checkpoint, kept, 0o644))
	f, err := os.OpenFile(opt.Log, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"step":`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	want, err := os.ReadFile(opt.Log)
	require.NoError(t, err)

	opt.Report = nil
	again := newRun(t, smallCurve(), smallCurves(), c, opt)
	require.NoError(t, again.Resume())
	require.Equal(t, 3, again.Step())
	require.NoError(t, again.Train(context.Background()))
	require.Equal(t, bits(r), bits(again))
	got, err := os.ReadFile(opt.Log)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(want), "\n"), strings.Count(string(got), "\n"))
	left, err := filepath.Glob(filepath.Join(dir, "*tmp*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestCheckpointDefault: a run of image models has 1,000 steps, which may take an hour, and a crash must not cost all of it.
func TestCheckpointDefault(t *testing.T) {
	for steps, want := range map[int]int{0: 100, 20: 100, 1000: 100, 4000: 400, 25600: 1000} {
		require.Equal(t, want, DefaultConfig(steps).CheckpointEvery, steps)
	}
}

// TestLearns: a few steps make the training tasks likelier, and a run without noise and with one pass is the loop that the
// package's comment shows.
func TestLearns(t *testing.T) {
	c := smallConfig(60)
	c.Passes, c.Noise, c.Adam = 1, Noise{}, DefaultAdam(1e-2)
	c.LogEvery, c.EvalEvery = 20, 0
	path := filepath.Join(t.TempDir(), "log")
	r := newRun(t, cnp.Default(cnp.ConvCNPCurve, "", 1), smallCurves(), c, Options[float32]{Log: path})
	require.NoError(t, r.Train(context.Background()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var first, last Record
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 3)
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &last))
	require.Greater(t, last.LogLikelihood, first.LogLikelihood+0.2)
	require.InDelta(t, first.Loss, -12*first.LogLikelihood, 1e-6*math.Abs(first.Loss), "12 targets a task")
}

// TestPatience: the run ends after the scores stopped getting better, and the model is that of the best.
func TestPatience(t *testing.T) {
	c := smallConfig(40)
	c.EvalEvery, c.Patience, c.Adam = 1, 3, DefaultAdam(0.3) // a rate that cannot go well
	c.Adam.ClipNorm = 1
	var scores []float64
	opt := Options[float32]{Checkpoint: filepath.Join(t.TempDir(), "ckpt"),
		Report: func(r Record) { scores = append(scores, r.Score.LogLikelihood) }}
	r := newRun(t, cnp.Default(cnp.CNPCurve, "", 1), smallCurves(), c, opt)
	require.NoError(t, r.Train(context.Background()))
	best, step := r.Best()
	require.Less(t, r.Step(), c.Steps)
	require.Equal(t, r.Step(), step+3)
	for i, s := range scores {
		require.LessOrEqual(t, s, best.LogLikelihood, "step %d", i+1)
	}
	again, err := Evaluate(context.Background(), r.Model(), smallCurves(), testSeed, c.EvalTasks, c.Batch)
	require.NoError(t, err)
	require.Equal(t, *best, again)

	// The checkpoint has the last parameters, from which more steps would go on, also after another call.
	kept, err := os.ReadFile(opt.Checkpoint)
	require.NoError(t, err)
	require.NoError(t, r.Train(context.Background()))
	after, err := os.ReadFile(opt.Checkpoint)
	require.NoError(t, err)
	require.True(t, bytes.Equal(kept, after), "the checkpoint changed")
	model := bits(r)
	require.NoError(t, r.Resume())
	require.NotEqual(t, model, bits(r))
	require.NoError(t, r.Train(context.Background()))
	require.Equal(t, model, bits(r))
}

// TestDiverged: a loss or gradient that is no number stops the run, says where it began, and leaves the checkpoint alone.
func TestDiverged(t *testing.T) {
	for name, k := range map[string]struct {
		model cnp.Config
		src   task.Source[float32]
		param string // gets a NaN after the first step
		layer string
	}{
		"curve":   {smallCurve(), smallCurves(), "conv.2.linear.bias", "layer conv.2"},
		"psi":     {smallCurve(), smallCurves(), "psi.raw_outputscale", "layer psi"},
		"head":    {smallCurve(), smallCurves(), "var_linear.0.bias", "layer var_linear"},
		"convcnp": {cnp.Default(cnp.ConvCNPCurve, "", 1), smallCurves(), "cnn.4.bias", "layer cnn.4"},
		"cnp":     {cnp.Default(cnp.CNPCurve, "", 1), smallCurves(), "decoder.2.bias", "layer decoder.2"},
		"image":   {smallImage(), stripes{}, "cnn.1.conv.2.pointwise.bias", "layer cnn.1"},
	} {
		t.Run(name, func(t *testing.T) {
			var r *Run[float32]
			opt := Options[float32]{Checkpoint: filepath.Join(t.TempDir(), "ckpt"), Report: func(rec Record) {
				if rec.Step == 1 {
					for _, p := range r.params {
						if p.Name == k.param {
							p.Data[0] = float32(math.NaN())
						}
					}
				}
			}}
			r = newRun(t, k.model, k.src, smallConfig(9), opt)
			err := r.Train(context.Background())
			require.ErrorIs(t, err, ErrDiverged)
			require.ErrorContains(t, err, "step 2: ")
			require.ErrorContains(t, err, k.layer)
			require.NoFileExists(t, opt.Checkpoint)
		})
	}
}

// TestRefuses: a checkpoint that is not this run's is refused, says why, and changes nothing.
func TestRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ckpt")
	opt := Options[float32]{Checkpoint: path}
	c := smallConfig(2)
	fresh := newRun(t, smallCurve(), smallCurves(), c, opt)
	require.ErrorIs(t, fresh.Resume(), fs.ErrNotExist)
	run := newRun(t, smallCurve(), smallCurves(), c, opt)
	require.NoError(t, run.Train(context.Background()))
	good, err := os.ReadFile(path)
	require.NoError(t, err)

	edit := func(change func(f *safetensors.File)) []byte {
		f, err := safetensors.Decode(append([]byte(nil), good...))
		require.NoError(t, err)
		change(f)
		b, err := safetensors.Encode(f)
		require.NoError(t, err)
		return b
	}
	model := func(change func(c *cnp.Config)) *Run[float32] {
		m := smallCurve()
		change(&m)
		return newRun(t, m, smallCurves(), c, opt)
	}
	config := func(change func(c *Config)) *Run[float32] {
		c := c
		change(&c)
		return newRun(t, smallCurve(), smallCurves(), c, opt)
	}
	other := smallCurves().(task.CurveSource[float32])
	other.Curves.Targets = 13
	for name, k := range map[string]struct {
		file []byte
		run  *Run[float32]
		want string
	}{
		"architecture": {good, newRun(t, cnp.Default(cnp.CNPCurve, "", 1), smallCurves(), c, opt),
			"model.architecture = equivcnp, this run cnp"},
		"fill": {good, model(func(c *cnp.Config) { c.Fill = 0.5 }), "model.fill = 0.0625, this run 0.5"},
		"coordinate": {good, model(func(c *cnp.Config) { c.CoordinateFeature = true }),
			"model.coordinate_feature = not set, this run true"},
		"batch":  {good, config(func(c *Config) { c.Batch = 4 }), "batch = 3, this run 4"},
		"seed":   {good, config(func(c *Config) { c.Seed = 1<<53 + 1 }), "seed = 1, this run 9007199254740993"},
		"rate":   {good, config(func(c *Config) { c.Adam.Rate = 0.5 }), "adam.rate = 0.001, this run 0.5"},
		"source": {good, newRun(t, smallCurve(), other, c, opt), "13 uniform targets"},
		"test": {good, newRun(t, smallCurve(), smallCurves(), c, Options[float32]{Checkpoint: path, Test: other}),
			"it was tested on"},
		"empty":      {nil, fresh, "safetensors"},
		"garbage":    {[]byte(strings.Repeat("x", 400)), fresh, "safetensors"},
		"cut":        {good[:len(good)-5], fresh, "safetensors"},
		"model file": {edit(func(f *safetensors.File) { f.Metadata = nil }), fresh, "no training state"},
		"state":      {edit(func(f *safetensors.File) { f.Metadata[metaTraining] = "{" }), fresh, "its training state"},
		"version": {edit(func(f *safetensors.File) { f.Metadata[metaTraining] = `{"version": 7}` }), fresh,
			"version 7, this program reads 2"},
		"missing": {edit(func(f *safetensors.File) { f.Tensors = f.Tensors[1:] }), fresh, "is missing"},
		"shape": {edit(func(f *safetensors.File) { f.Get("adam.m.pre" + "linear.0.module.bias").Shape = []int{2, 2} }),
			fresh, "need F32[4]"},
		"nan": {edit(func(f *safetensors.File) {
			copy(f.Get("model.mean_linear.bias").Data, []byte{0, 0, 0xc0, 0x7f})
		}), fresh, "holds a number that is not finite"},
		"counter": {edit(func(f *safetensors.File) {
			f.Metadata[metaTraining] = strings.Replace(f.Metadata[metaTraining], `"adam_count":2`, `"adam_count":1`, 1)
		}), fresh, "counters are impossible"},
		"group": {edit(func(f *safetensors.File) {
			f.Metadata[metaTraining] = strings.Replace(f.Metadata[metaTraining], `"group":"`+group.Digest(group.NewT(1, 0)),
				`"group":"0`, 1)
		}), fresh, "group T(1) is another than here: its digest is 0, here " + group.Digest(group.NewT(1, 0))},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, k.file, 0o644))
			before := bits(k.run)
			err := k.run.Resume()
			require.ErrorIs(t, err, ErrCheckpoint)
			require.ErrorContains(t, err, k.want)
			require.Equal(t, before, bits(k.run))
			require.Zero(t, k.run.Step())
		})
	}
	require.NoError(t, os.WriteFile(path, good, 0o644))
	longer := config(func(c *Config) { c.Steps, c.LogEvery, c.CheckpointEvery = 3, 1, 1 })
	require.NoError(t, longer.Resume(), "more steps of the same")
}

// TestSavedRefuses: Saved says of a file that is no checkpoint what Resume says.
func TestSavedRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ckpt")
	_, _, err := Saved(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for want, meta := range map[string]map[string]string{
		"no training state":               {},
		"its training state":              {metaTraining: "{"},
		"version 7, this program reads 2": {metaTraining: `{"version": 7}`},
	} {
		require.NoError(t, safetensors.Write(path, &safetensors.File{Metadata: meta}))
		_, _, err := Saved(path)
		require.ErrorIs(t, err, ErrCheckpoint)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
	_, _, err = Saved(path)
	require.ErrorIs(t, err, ErrCheckpoint)
}

// TestConfigs: what makes no run is named, and so are tasks of the wrong kind.
func TestConfigs(t *testing.T) {
	model, err := cnp.New[float32](smallCurve(), 1)
	require.NoError(t, err)
	for want, change := range map[string]func(c *Config){
		"steps = -1":                    func(c *Config) { c.Steps = -1 },
		"batch = 0":                     func(c *Config) { c.Batch = 0 },
		"passes = 0":                    func(c *Config) { c.Passes = 0 },
		"patience = 2 without":          func(c *Config) { c.Patience, c.EvalEvery = 2, 0 },
		"eval_every = 4 without":        func(c *Config) { c.EvalTasks = 0 },
		"noise from 0.1 to 0.2":         func(c *Config) { c.Noise = Noise{0.1, 0.2, 3} },
		"noise from NaN":                func(c *Config) { c.Noise = Noise{math.NaN(), 0.2, 3} },
		"beta = 1.5":                    func(c *Config) { c.Beta = 1.5 },
		"rate = -1":                     func(c *Config) { c.Adam.Rate = -1 },
		"checkpoint_every = 2147483648": func(c *Config) { n := int64(1) << 31; c.CheckpointEvery = int(n) },
	} {
		if math.MaxInt == math.MaxInt32 && strings.HasPrefix(want, "checkpoint") {
			continue
		}
		c := smallConfig(3)
		change(&c)
		_, err := NewRun(model, smallCurves(), c, Options[float32]{})
		require.ErrorContains(t, err, want)
	}
	r := newRun(t, smallCurve(), stripes{}, smallConfig(1), Options[float32]{})
	require.ErrorContains(t, r.Train(context.Background()), "not for models of architecture equivcnp")
	r = newRun(t, smallImage(), smallCurves(), smallConfig(1), Options[float32]{})
	require.ErrorContains(t, r.Train(context.Background()), "not for models of architecture equivcnp-image")
	bad := smallCurves().(task.CurveSource[float32])
	bad.Curves.Targets = 0
	r = newRun(t, smallCurve(), bad, smallConfig(1), Options[float32]{})
	require.ErrorContains(t, r.Train(context.Background()), "step 1: task: targets = 0")
	r = newRun(t, smallCurve(), smallCurves(), smallConfig(1), Options[float32]{Checkpoint: filepath.Join(t.TempDir(), "no", "ckpt")})
	require.Error(t, r.Train(context.Background()))
	r = newRun(t, smallCurve(), smallCurves(), smallConfig(1), Options[float32]{Log: t.TempDir()})
	require.ErrorContains(t, r.Train(context.Background()), "log")
}

func TestNoise(t *testing.T) {
	n := Noise{From: 0.4, To: 0.1, Steps: 4}
	require.InDelta(t, 0.4, n.At(0), 1e-15)
	require.InDelta(t, 0.2, n.At(2), 1e-15)
	require.Equal(t, 0.1, n.At(4))
	require.Equal(t, 0.1, n.At(5))
	require.Zero(t, Noise{}.At(0))
	require.Equal(t, Noise{0.3, 0.03, 66}, DefaultNoise(100))
}

// TestEvaluate compares with the definition, task by task; of the last batch not all tasks count.
func TestEvaluate(t *testing.T) {
	model, err := cnp.New[float32](cnp.Default(cnp.CNPCurve, "", 1), 1)
	require.NoError(t, err)
	src := smallCurves()
	got, err := Evaluate(context.Background(), model, src, 5, 7, 3)
	require.NoError(t, err)
	var ll []float64
	square := 0.0
	for step, n := range []int{3, 3, 1} {
		b, err := src.Batch(3, 5, step)
		require.NoError(t, err)
		p, err := model.(cnp.Regressor[float32]).Predict(context.Background(), b.Curves)
		require.NoError(t, err)
		for k := range n {
			sum := 0.0
			for i := 12 * k; i < 12*k+12; i++ {
				z := (float64(b.Y[i]) - float64(p.Mean[i])) / float64(p.Std[i])
				sum -= 0.5*z*z + math.Log(float64(p.Std[i])) + 0.5*math.Log(2*math.Pi)
				square += math.Pow(float64(b.Y[i])-float64(p.Mean[i]), 2)
			}
			ll = append(ll, sum/12)
		}
	}
	mean, variance := 0.0, 0.0
	for _, v := range ll {
		mean += v / 7
	}
	for _, v := range ll {
		variance += (v - mean) * (v - mean) / 6
	}
	require.Equal(t, 7, got.Tasks)
	require.InDelta(t, mean, got.LogLikelihood, 1e-12)
	require.InDelta(t, math.Sqrt(variance), got.Std, 1e-9)
	require.InDelta(t, math.Sqrt(square/84), got.RMSE, 1e-12)
	none, err := Evaluate(context.Background(), model, src, 5, 0, 3)
	require.NoError(t, err)
	require.Zero(t, none)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	curve, err := cnp.New[float32](smallCurve(), 1)
	require.NoError(t, err)
	_, err = Evaluate(ctx, curve, src, 5, 7, 3)
	require.True(t, errors.Is(err, context.Canceled))
}

// TestNewRunNil: a run needs a model and a source.
func TestNewRunNil(t *testing.T) {
	_, err := NewRun[float32](nil, nil, DefaultConfig(1), Options[float32]{})
	require.ErrorContains(t, err, "need a model")
}
