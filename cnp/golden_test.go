package cnp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// The authors' trained models on recorded tasks and images. The float64 instantiation must agree with their float64 run
// to 1e-9, which fixes the meaning; the float32 one within what the manifest says that float32 justifies.

func is32[T Float]() bool {
	var zero T
	_, ok := any(zero).(float32)
	return ok
}

// officialConfig is the configuration of the authors' models.
func officialConfig(arch Architecture, group string) Config {
	c := Default(arch, group, 1)
	c.Window = ""
	switch arch {
	case EquivCNPCurve, ConvCNPCurve:
		c.CoordinateFeature = true
		if arch == ConvCNPCurve {
			c.Floor = 0
		} else {
			c.Readout, c.Placement, c.FixedStep, c.RadiusRate, c.EncoderLength = ReadoutTargets, PlacementBatch, false, 0.3, 0
		}
	case EquivCNPImage:
		c.Floor = 0
	}
	return c
}

// loadState copies the tensors of a file, under prefix, into a model; both must hold the same names.
func loadState[T Float](t *testing.T, m Model[T], f *safetensors.File, rename func(name string, buffer bool) string) {
	t.Helper()
	for _, p := range m.State() {
		x := f.Get(rename(p.Name, p.Buffer))
		require.NotNil(t, x, p.Name)
		require.Equal(t, p.Shape, x.Shape, p.Name)
		v, err := x.Float64s()
		require.NoError(t, err)
		for i := range v {
			p.Data[i] = T(v[i])
		}
	}
}

func official[T Float](t *testing.T, c Config, file string) Model[T] {
	t.Helper()
	m, err := New[T](c, 1)
	require.NoError(t, err)
	f, err := safetensors.Read(testkit.Shared(t, "weights", file+".safetensors"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, p := range m.State() {
		names[p.Name] = true
	}
	for _, x := range f.Tensors {
		require.True(t, names[x.Name] || strings.HasSuffix(x.Name, "num_batches_tracked"), x.Name)
	}
	loadState(t, m, f, func(n string, _ bool) string { return n })
	return m
}

func asT[T Float](v []float64) []T {
	out := make([]T, len(v))
	for i := range v {
		out[i] = T(v[i])
	}
	return out
}

// curveTask reads a recorded task.
func curveTask[T Float](g *testkit.Golden, prefix string) *Batch[T] {
	xc, shape := g.F64(prefix + "x_context")
	yc, _ := g.F64(prefix + "y_context")
	xt, tshape := g.F64(prefix + "x_target")
	return &Batch[T]{B: shape[0], Nc: shape[1], Nt: tshape[1], XContext: xc, YContext: asT[T](yc), XTarget: xt}
}

type curveMeta struct {
	Points *float64 `json:"grid_points_per_unit"`
	Off    float64  `json:"cov_offdiag"`
}

func testCurves[T Float](t *testing.T, kernel, model string) {
	g := testkit.OpenGolden(t, "1d_"+kernel+"_"+model)
	var tol struct {
		Direct struct {
			Mean     float64 `json:"mean_abs"`
			Variance float64 `json:"variance_abs"`
		} `json:"f32_direct_sqdist"`
		F64     float64 `json:"f64"`
		LogProb float64 `json:"logprob_f64_rel"`
	}
	g.Tolerance(&tol)
	meanTol, varTol := tol.F64, tol.F64
	if is32[T]() {
		meanTol, varTol = tol.Direct.Mean, tol.Direct.Variance
	}
	var tasks []curveMeta
	g.Meta("tasks", &tasks)
	arch := map[string]Architecture{"equivcnp": EquivCNPCurve, "convcnp": ConvCNPCurve, "cnp": CNPCurve}[model]
	for i, meta := range tasks {
		t.Run(fmt.Sprintf("task%d", i), func(t *testing.T) {
			c := officialConfig(arch, map[bool]string{true: "T(1)"}[arch == EquivCNPCurve])
			if meta.Points != nil {
				c.PointsPerUnit = *meta.Points
			}
			m := official[T](t, c, filepath.Join("1d", kernel+"_"+model))
			prefix := fmt.Sprintf("task%d.", i)
			b := curveTask[T](g, prefix)
			if e, ok := m.(*EquivCNP[T]); ok && g.Has(prefix+"act_conv0_f64") {
				// What a backward pass goes back through are the recorded activations.
				pass, err := pointsOf(e).record(context.Background(), b, layers.Eval, e.engine.(surroundings[T]))
				require.NoError(t, err)
				seen := 0
				pass.stages(func(name string, v []T) bool {
					file := map[string]string{"psi": "act_grid_and_encoding", "prelinear": "act_prelinear"}[name]
					layer, conv := strings.CutPrefix(name, "conv.")
					if conv {
						file = "act_conv" + layer
					}
					if file == "" {
						return true
					}
					want, _ := g.F64(prefix + file + "_f64")
					want = slices.Clone(want)
					for i := range want {
						if conv { // recorded before its ReLU
							want[i] = max(want[i], 0)
						}
					}
					actTol := 1e-9
					if is32[T]() {
						actTol = 1e-5 * max(1, maxAbs(want))
					}
					testkit.Close(t, name, v, want, actTol)
					seen++
					return true
				})
				require.Equal(t, 2+len(pointsOf(e).conv), seen)
			}
			p, err := m.(Regressor[T]).Predict(context.Background(), b)
			require.NoError(t, err)
			mean, _ := g.F64(prefix + "mean_f64")
			variance, _ := g.F64(prefix + "variance_f64")
			testkit.Close(t, "mean", p.Mean, mean, meanTol)
			got := make([]float64, len(p.Std))
			for k, s := range p.Std {
				got[k] = float64(s) * float64(s)
			}
			testkit.Close(t, "variance", got, variance, varTol)

			if !is32[T]() {
				y, _ := g.F64(prefix + "y_target")
				want, _ := g.F64(prefix + "logprob_f64")
				for k := range want {
					ll := fullLogProb(t, p.Mean[k*b.Nt:(k+1)*b.Nt], got[k*b.Nt:(k+1)*b.Nt], y[k*b.Nt:(k+1)*b.Nt], meta.Off)
					if d := math.Abs(ll-want[k]) / math.Abs(want[k]); !(d <= tol.LogProb) {
						t.Errorf("log-likelihood %d is %v, recorded %v", k, ll, want[k])
					}
				}
			}
		})
	}
}

func maxAbs(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

// fullLogProb is the log-density of y under a normal with that diagonal covariance, plus off in every other entry: the
// authors clamp the whole matrix at 1e-8. Without off it is LogLikelihood.
func fullLogProb[T Float](t *testing.T, mean []T, variance, y []float64, off float64) float64 {
	n := len(y)
	cov, res := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	std := make([]float64, n)
	for i := range n {
		for j := range i {
			cov.SetSym(i, j, off)
		}
		cov.SetSym(i, i, variance[i])
		res.SetVec(i, y[i]-float64(mean[i]))
		std[i] = math.Sqrt(variance[i])
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	var z mat.VecDense
	require.NoError(t, chol.SolveVecTo(&z, res))
	ll := -0.5 * (mat.Dot(res, &z) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
	if off == 0 {
		w := make([]float64, n)
		for i := range n {
			w[i] = float64(mean[i])
		}
		own, _ := LogLikelihood(w, std, y, nil)
		require.InDelta(t, ll, own, 1e-9*math.Abs(ll)+1e-9)
	}
	return ll
}

func TestGoldenCurves(t *testing.T) {
	for _, kernel := range []string{"rbf", "matern", "periodic"} {
		for _, model := range []string{"equivcnp", "convcnp", "cnp"} {
			t.Run(kernel+"/"+model+"/F64", func(t *testing.T) { testCurves[float64](t, kernel, model) })
			t.Run(kernel+"/"+model+"/F32", func(t *testing.T) { testCurves[float32](t, kernel, model) })
		}
	}
}

func testImage[T Float](t *testing.T, set, grp string, n int) {
	g := testkit.OpenGolden(t, fmt.Sprintf("%s_%s_img%d", set, grp, n))
	var tol struct {
		F32 struct {
			Mean float64 `json:"mean_abs"`
			Std  float64 `json:"std_abs"`
		} `json:"f32"`
		F64 float64 `json:"f64"`
	}
	g.Tolerance(&tol)
	meanTol, stdTol := tol.F64, tol.F64
	if is32[T]() {
		meanTol, stdTol = tol.F32.Mean, tol.F32.Std
	}
	c := officialConfig(EquivCNPImage, grp)
	c.BlockBatchNorm = set == "2d_bn"
	g.Meta("alpha", &c.Alpha)
	m := official[T](t, c, filepath.Join(set, grp)).(*ImageEquivCNP[T])

	image, _ := g.F64("image")
	maskv, _ := g.F64("mask")
	im := &Images[T]{B: 1, C: 1, H: 64, W: 64, Pixels: asT[T](image), Mask: make([]bool, len(maskv))}
	for i, v := range maskv {
		im.Mask[i] = v != 0
		if !im.Mask[i] {
			im.Pixels[i] = T(math.NaN()) // never read
		}
	}
	if g.Has("act_pixel_index") {
		requireActivations(t, g, m, im)
	}
	p, err := m.Complete(context.Background(), im)
	require.NoError(t, err)
	mean, _ := g.F64("mean_f64")
	std, _ := g.F64("std_f64")
	testkit.Close(t, "mean", p.Mean, mean, meanTol)
	testkit.Close(t, "std", p.Std, std, stdTol)

	var logp float64
	g.Meta("logprob_per_pixel_f64", &logp)
	ll, count := LogLikelihood(p.Mean, p.Std, asT[T](image), nil)
	llTol := 1e-7
	if is32[T]() {
		llTol = 1e-3
	}
	require.InDelta(t, logp, ll/float64(count), llTol*max(1, math.Abs(logp)))
}

// requireActivations compares what the layers give at some pixels with what the authors' gave. A plan merges layers and keeps no
// activations, so this is the forward pass that training takes.
func requireActivations[T Float](t *testing.T, g *testkit.Golden, m *ImageEquivCNP[T], im *Images[T]) {
	t.Helper()
	pass, err := m.Differentiate(context.Background(), im, layers.Eval)
	require.NoError(t, err)
	index, _ := g.F64("act_pixel_index")
	compared := 0
	compare := func(name string, v []T, width, lo, hi int) { // columns lo to hi of v [pixels, width]
		want, shape := g.F64("act_" + name + "_f64")
		require.Equal(t, shape[1], hi-lo)
		got := make([]T, 0, len(want))
		for _, p := range index {
			got = append(got, v[int(p)*width+lo:int(p)*width+hi]...)
		}
		var drift float64
		g.Meta("act_"+name+"_max_abs_f32_f64_dumped", &drift)
		// The recorded float64 activations were stored as float32.
		actTol := 1.2e-7 * maxAbs(want)
		if is32[T]() {
			actTol = max(10*drift, 1e-5*maxAbs(want))
		}
		testkit.Close(t, name, got, want, actTol)
		compared++
	}
	pass.stages(func(name string, v []T) bool {
		switch width := len(v) / (im.H * im.W); {
		case name == "conv_theta": // density and signal side by side
			compare("theta_density", v, width, 0, width/2)
			compare("theta_signal", v, width, width/2, width)
		case name != "output":
			compare(strings.Replace(name, ".", "", 1), v, width, 0, width)
		}
		return true
	})
	require.Equal(t, len(g.Names("act_"))/2, compared, "activations compared")
}

// TestGoldenImages takes two recorded images of every model in float32, or one of the models with batch normalisation under groups with
// many poses; in float64, which is slow for such groups, one under translations, one with lifts, with and without batch normalisation, and
// one with many poses. With -long, it takes all of them.
func TestGoldenImages(t *testing.T) {
	for _, grp := range []string{"T2", "SE2", "SO2", "RxSO2"} {
		for _, set := range []string{"2d", "2d_bn"} {
			for n := range 4 {
				if set == "2d_bn" && n > 1 {
					continue
				}
				flat := grp == "T2" || grp == "SE2"
				if *long || flat || n == 0 || n == 1 && set == "2d" {
					t.Run(fmt.Sprintf("%s/%s/img%d/F32", set, grp, n), func(t *testing.T) { testImage[float32](t, set, grp, n) })
				}
				if *long || n == 1 && (set == "2d" && grp != "SO2" || grp == "SE2") {
					t.Run(fmt.Sprintf("%s/%s/img%d/F64", set, grp, n), func(t *testing.T) { testImage[float64](t, set, grp, n) })
				}
			}
		}
	}
}

// The training goldens: one forward pass in Train mode, with the loss and the buffers that it moves.

type trainTolerance struct {
	Loss32 float64 `json:"loss_f32_rel"`
	Loss64 float64 `json:"loss_f64_rel"`
	Buf32  float64 `json:"buffers_f32_rel"`
}

func requireBuffers[T Float](t *testing.T, g *testkit.Golden, m Model[T], tol float64) {
	t.Helper()
	n := 0
	for _, p := range m.State() {
		if p.Buffer {
			want, _ := g.F64("buffer_after_f64." + p.Name)
			testkit.Close(t, p.Name, p.Data, want, tol*max(1e-3, maxAbs(want)))
			n++
		}
	}
	require.Equal(t, len(g.Names("buffer_after_f64.")), n, "buffers compared")
}

func recordedState(name string, buffer bool) string {
	if buffer {
		return "buffer." + name
	}
	return "param." + name
}

func testTrainCurve[T Float](t *testing.T) {
	g := testkit.OpenGolden(t, "train_1d_rbf_equivcnp")
	var tol trainTolerance
	g.Tolerance(&tol)
	lossTol, bufTol := tol.Loss64, 1e-9
	if is32[T]() {
		lossTol, bufTol = tol.Loss32, tol.Buf32
	}
	c := officialConfig(EquivCNPCurve, "T(1)")
	g.Meta("fill_target", &c.Fill)
	g.Meta("coeff", &c.RadiusRate)
	model, err := New[T](c, 1)
	require.NoError(t, err)
	loadState(t, model, g.File, recordedState)
	b := curveTask[T](g, "")
	p, err := model.(TrainableRegressor[T]).Differentiate(context.Background(), b, layers.Train)
	require.NoError(t, err)

	y, _ := g.F64("y_target")
	want, _ := g.F64("loss_f64")
	loss := 0.0
	for k := range b.B {
		lo, hi := k*b.Nt, (k+1)*b.Nt
		variance := make([]float64, b.Nt)
		for i := range variance {
			s := float64(p.Std[lo+i])
			variance[i] = s * s
		}
		loss -= fullLogProb(t, p.Mean[lo:hi], variance, y[lo:hi], 1e-8) / float64(b.B)
	}
	if d := math.Abs(loss-want[0]) / math.Abs(want[0]); !(d <= lossTol) {
		t.Errorf("loss is %v, recorded %v", loss, want[0])
	}
	if !is32[T]() {
		mean, _ := g.F64("mean_f64")
		testkit.Close(t, "mean", p.Mean, mean, 1e-9)
	}
	requireBuffers(t, g, model, bufTol)
}

// smallTrainedImage returns the recorded small image model and the images of its training step.
func smallTrainedImage[T Float](t *testing.T, g *testkit.Golden) (*ImageEquivCNP[T], *Images[T]) {
	t.Helper()
	var grp string
	g.Meta("group", &grp)
	c := officialConfig(EquivCNPImage, grp)
	c.Channels = []int{16}
	g.Meta("alpha", &c.Alpha)
	g.Meta("resblock_use_bn", &c.BlockBatchNorm)
	g.Meta("fill_theta", &c.Fill)
	g.Meta("fill_res", &c.BlockFill)
	g.Meta("coeff", &c.RadiusRate)
	model, err := New[T](c, 1)
	require.NoError(t, err)
	loadState(t, model, g.File, recordedState)

	image, shape := g.F64("image")
	maskv, _ := g.F64("mask")
	im := &Images[T]{B: shape[0], C: 1, H: shape[2], W: shape[3], Pixels: asT[T](image), Mask: make([]bool, len(maskv))}
	for i, v := range maskv {
		im.Mask[i] = v != 0
	}
	return model.(*ImageEquivCNP[T]), im
}

func testTrainImage[T Float](t *testing.T, file string) {
	g := testkit.OpenGolden(t, file)
	var tol trainTolerance
	g.Tolerance(&tol)
	lossTol, bufTol := tol.Loss64, 1e-9
	if is32[T]() {
		lossTol, bufTol = tol.Loss32, tol.Buf32
	}
	m, im := smallTrainedImage[T](t, g)
	p, err := m.Differentiate(context.Background(), im, layers.Train)
	require.NoError(t, err)
	ll, _ := LogLikelihood(p.Mean, p.Std, im.Pixels, nil)
	want, _ := g.F64("loss_f64")
	if d := math.Abs(-ll/float64(im.B)-want[0]) / math.Abs(want[0]); !(d <= lossTol) {
		t.Errorf("loss is %v, recorded %v", -ll/float64(im.B), want[0])
	}
	if !is32[T]() {
		mean, _ := g.F64("mean_f64")
		std, _ := g.F64("std_f64")
		testkit.Close(t, "mean", p.Mean, mean, 1e-9)
		testkit.Close(t, "std", p.Std, std, 1e-9)
	}
	requireBuffers(t, g, m, bufTol)
}

func TestGoldenTrainForward(t *testing.T) {
	t.Run("1d_rbf_equivcnp/F64", func(t *testing.T) { testTrainCurve[float64](t) })
	t.Run("1d_rbf_equivcnp/F32", func(t *testing.T) { testTrainCurve[float32](t) })
	for _, f := range []string{"T2", "T2_bn", "SO2_bn", "RxSO2_bn", "SE2_bn"} {
		t.Run(f+"/F64", func(t *testing.T) { testTrainImage[float64](t, "train_2d_small_"+f) })
		t.Run(f+"/F32", func(t *testing.T) { testTrainImage[float32](t, "train_2d_small_"+f) })
	}
}

// TestGoldenIsComplete names every recorded file that concerns this package, so that one added later is not overlooked.
func TestGoldenIsComplete(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Shared(t, "golden"), "*.safetensors"))
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, f := range files {
		name := filepath.Base(f)
		switch {
		case strings.HasPrefix(name, "2d_neighbourhood_"):
			kinds["neighbor"]++
		case strings.HasPrefix(name, "groups_"):
			kinds["group"]++
		case strings.HasPrefix(name, "layer_"):
			kinds["layers"]++
		default:
			kinds["cnp"]++
		}
	}
	b, _ := json.Marshal(kinds)
	require.JSONEq(t, `{"neighbor": 4, "group": 10, "layers": 21, "cnp": 39}`, string(b))
}
