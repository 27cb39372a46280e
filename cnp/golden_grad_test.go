package cnp

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// One training step of the authors' models: the gradients of the loss with respect to every parameter. The float64
// instantiation must agree tensor by tensor, the float32 one over all of them together.

type gradTolerance struct {
	Grad64 float64 `json:"grad_f64_rel"`
	Grad32 float64 `json:"grad_f32_global_rel_l2"`
}

func requireGrads[T Float](t *testing.T, g *testkit.Golden, grads *layers.Grads[T]) {
	t.Helper()
	var tol gradTolerance
	g.Tolerance(&tol)
	var zero []string // but for rounding
	g.Meta("analytically_zero_grads", &zero)
	n, scale, diff, norm := 0, 0.0, 0.0, 0.0
	for _, name := range g.Names("grad_f64.") {
		want, _ := g.F64("grad_f64." + name)
		scale = max(scale, maxAbs(want))
	}
	for i, p := range grads.Params {
		if p.Buffer {
			continue
		}
		if !g.Has("grad_f64." + p.Name) {
			require.True(t, p.Unused, p.Name)
			require.Zero(t, maxAbs(widen(grads.Data[i])), p.Name)
			continue
		}
		want, _ := g.F64("grad_f64." + p.Name)
		for k, w := range want {
			d := float64(grads.Data[i][k]) - w
			diff, norm = diff+d*d, norm+w*w
		}
		if !is32[T]() {
			limit := tol.Grad64 * maxAbs(want)
			if slices.Contains(zero, p.Name) {
				limit = tol.Grad64 * scale
			}
			testkit.Close(t, "gradient of "+p.Name, grads.Data[i], want, limit)
		}
		n++
	}
	require.Equal(t, len(g.Names("grad_f64.")), n, "gradients compared")
	t.Logf("over all parameters, relative: %.2g", math.Sqrt(diff/norm))
	if is32[T]() && !(math.Sqrt(diff/norm) <= tol.Grad32) {
		t.Errorf("gradients are off by %.3g of their norm, tolerance %.3g", math.Sqrt(diff/norm), tol.Grad32)
	}
}

// fullLogProbGrad returns the gradients of fullLogProb to mean and variance: with s the solution of cov·s = y - mean they
// are s and (s² - diag(cov⁻¹))/2.
func fullLogProbGrad(t *testing.T, mean, variance, y []float64, off float64) (dMean, dVariance []float64) {
	n := len(y)
	cov, res := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range i {
			cov.SetSym(i, j, off)
		}
		cov.SetSym(i, i, variance[i])
		res.SetVec(i, y[i]-mean[i])
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	var s mat.VecDense
	var inverse mat.SymDense
	require.NoError(t, chol.SolveVecTo(&s, res))
	require.NoError(t, chol.InverseTo(&inverse))
	for i := range n {
		dMean = append(dMean, s.AtVec(i))
		dVariance = append(dVariance, (s.AtVec(i)*s.AtVec(i)-inverse.At(i, i))/2)
	}
	return dMean, dVariance
}

func testCurveGrad[T Float](t *testing.T) {
	g := testkit.OpenGolden(t, "train_1d_rbf_equivcnp")
	var tol trainTolerance
	g.Tolerance(&tol)
	c := officialConfig(EquivCNPCurve, "T(1)")
	g.Meta("fill_target", &c.Fill)
	g.Meta("coeff", &c.RadiusRate)
	m, err := New[T](c, 1)
	require.NoError(t, err)
	loadState(t, m, g.File, recordedState)
	b := curveTask[T](g, "")
	p, err := m.(TrainableRegressor[T]).Differentiate(context.Background(), b, layers.Train)
	require.NoError(t, err)

	// The authors' covariance is not quite diagonal, and at these variances a gradient shows it.
	y, _ := g.F64("y_target")
	dMean, dStd := make([]T, len(y)), make([]T, len(y))
	loss := 0.0
	for k := range b.B {
		lo, hi := k*b.Nt, (k+1)*b.Nt
		std, variance := widen(p.Std[lo:hi]), make([]float64, b.Nt)
		for i, s := range std {
			variance[i] = s * s
		}
		loss -= fullLogProb(t, p.Mean[lo:hi], variance, y[lo:hi], 1e-8) / float64(b.B)
		dm, dv := fullLogProbGrad(t, widen(p.Mean[lo:hi]), variance, y[lo:hi], 1e-8)
		for i := range dm {
			dMean[lo+i], dStd[lo+i] = T(-dm[i]/float64(b.B)), T(-dv[i]*2*std[i]/float64(b.B))
		}
	}
	want, _ := g.F64("loss_f64")
	lossTol, bufTol := tol.Loss64, 1e-9
	if is32[T]() {
		lossTol, bufTol = tol.Loss32, tol.Buf32
	}
	require.InEpsilon(t, want[0], loss, lossTol)
	grads := layers.NewGrads(m.State())
	p.Backward(dMean, dStd, grads)
	requireGrads(t, g, grads)
	requireBuffers(t, g, m, bufTol)
}

func testImageGrad[T Float](t *testing.T, file string) {
	g := testkit.OpenGolden(t, file)
	var tol trainTolerance
	g.Tolerance(&tol)
	m, im := smallTrainedImage[T](t, g)
	p, err := m.Differentiate(context.Background(), im, layers.Train)
	require.NoError(t, err)
	grads := layers.NewGrads(m.State())
	loss, err := p.Gradient(im.Pixels, grads)
	require.NoError(t, err)
	want, _ := g.F64("loss_f64")
	lossTol, bufTol := tol.Loss64, 1e-9
	if is32[T]() {
		lossTol, bufTol = tol.Loss32, tol.Buf32
	}
	require.InEpsilon(t, want[0], loss, lossTol)
	requireGrads(t, g, grads)
	requireBuffers(t, g, m, bufTol)
}

func TestGoldenTrainGradients(t *testing.T) {
	t.Run("1d_rbf_equivcnp/F64", testCurveGrad[float64])
	t.Run("1d_rbf_equivcnp/F32", testCurveGrad[float32])
	for _, f := range []string{"T2", "T2_bn", "SO2_bn", "RxSO2_bn", "SE2_bn"} {
		t.Run(f+"/F64", func(t *testing.T) { testImageGrad[float64](t, "train_2d_small_"+f) })
		t.Run(f+"/F32", func(t *testing.T) { testImageGrad[float32](t, "train_2d_small_"+f) })
	}
}
