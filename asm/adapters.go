package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/types"
	"log"
	"strings"
)

// adapters are the generic functions of package simd that pass their arguments on to the function of their type, after a type switch:
// name, parameters, results, and what they do.
var adapters = []struct{ signature, does string }{
	{`Exp(dst, x []T)`, "sets dst[i] = exp(x[i])"},
	{`Log(dst, x []T)`, "sets dst[i] = ln(x[i])"},
	{`Sigmoid(dst, x []T)`, "sets dst[i] = 1/(1 + exp(-x[i]))"},
	{`Swish(dst, x []T)`, "sets dst[i] = x[i]·sigmoid(x[i])"},
	{`Softplus(dst, x []T)`, "sets dst[i] = ln(1 + exp(x[i]))"},
	{`ReLU(dst, x []T)`, "sets dst[i] = max(x[i], 0)"},
	{`Tanh(dst, x []T)`, "sets dst[i] = tanh(x[i])"},
	{`SinCos(s, c, x []T)`, "sets s[i] = sin(x[i]) and c[i] = cos(x[i])"},
	{`Atan2(dst, y, x []T)`, "sets dst[i] to the angle of (x[i], y[i])"},
	{`Hypot(dst, x, y []T)`, "sets dst[i] = sqrt(x[i]² + y[i]²)"},
	{`Add(dst, x, y []T)`, "sets dst[i] = x[i] + y[i]"},
	{`Axpy(dst []T, a T, x []T)`, "adds a·x[i] to dst[i]"},
	{`Scale(dst []T, a T, x []T)`, "sets dst[i] = a·x[i]"},
	{`ScaleRows(x, by []T, c int)`, "sets x[i, j] = by[i]·x[i, j]"},
	{`Gemm(c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int)`, "computes C = alpha·A·B + beta·C"},
	{`GemmRuns(c, a, b []T, runs []Run, beta T, n, k int)`, "computes many products of a few rows each"},
	{`GemmTN(c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int)`,
		"computes C = alpha·Aᵀ·B + beta·C with A given as [k, m]"},
	{`GemmNT(c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int)`,
		"computes C = alpha·A·Bᵀ + beta·C with B given as [n, k]"},
	{`GemmPacked(c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int)`,
		"computes C = act(A·B + bias) with a packed B"},
	{`Depthwise(out, f, w []T, offsets []int, index, pose []int32, c int, mean bool)`,
		"sets out[i] = Σ w[pose[k]]·f[index[k]] over the pairs k of row i, or their mean"},
	{`PointConv(p, f, w []T, offsets []int, index, pose []int32, ci, cm int)`,
		"sets p[i] = Σ f[index[k]] ⊗ w[pose[k]] over the pairs k of row i"},
	{`SetConv(h []T, t, x []float64, phi []T, d, c int, gamma, scale float64)`, "sets h[m] = scale·Σ phi[n]·exp(-gamma·|t_m - x_n|²)"},
	{`Sum(x []T) (sum float64)`, "returns Σ x[i]"},
	{`Dot(x, y []T) (sum float64)`, "returns Σ x[i]·y[i]"},
	{`SumSq(x []T) (sum float64)`, "returns Σ x[i]²"},
	{`SumAbs(x []T) (sum float64)`, "returns Σ |x[i]|"},
	{`Rotate(x, y []T, c, s T)`, "sets x[i], y[i] = c·x[i] + s·y[i], c·y[i] - s·x[i]"},
	{`Swap(x, y []T)`, "exchanges x and y"},
	{`Sub(dst, x, y []T)`, "sets dst[i] = x[i] - y[i]"},
	{`Mul(dst, x, y []T)`, "sets dst[i] = x[i]·y[i]"},
	{`Div(dst, x, y []T)`, "sets dst[i] = x[i]/y[i]"},
	{`Max(dst, x, y []T)`, "sets dst[i] to the larger of x[i] and y[i]"},
	{`Min(dst, x, y []T)`, "sets dst[i] to the smaller of x[i] and y[i]"},
	{`Pow(dst, x, y []T)`, "sets dst[i] to x[i] to the power of y[i]"},
	{`Sqrt(dst, x []T)`, "sets dst[i] = √x[i]"},
	{`Abs(dst, x []T)`, "sets dst[i] = |x[i]|"},
	{`Clip(dst, x []T, lo, hi T)`, "sets dst[i] to x[i], or to lo or hi where x[i] is below or above"},
	{`Floor(dst, x []T)`, "sets dst[i] to x[i] rounded down"},
	{`Ceil(dst, x []T)`, "sets dst[i] to x[i] rounded up"},
	{`Trunc(dst, x []T)`, "sets dst[i] to x[i] rounded towards zero"},
	{`RoundToEven(dst, x []T)`, "sets dst[i] to the whole number nearest to x[i]"},
	{`Erf(dst, x []T)`, "sets dst[i] to the error function of x[i]"},
	{`GELU(dst, x []T)`, "sets dst[i] = x[i]·Φ(x[i])"},
	{`Expm1(dst, x []T)`, "sets dst[i] = exp(x[i]) - 1"},
	{`Log1p(dst, x []T)`, "sets dst[i] = ln(1 + x[i])"},
	{`Softmax(dst, x []T, c int)`, "sets every row of dst to exp(x)/Σ exp(x) over that row of x"},
	{`SwishGrad(dx, dy, x []T)`, "sets dx[i] = dy[i]·swish'(x[i])"},
	{`ReLUGrad(dx, dy, y []T)`, "sets dx[i] = dy[i] where y[i] > 0, else 0"},
	{`SigmoidGrad(dx, dy, y []T)`, "sets dx[i] = dy[i]·y[i]·(1 - y[i])"},
	{`SoftplusGrad(dx, dy, y []T)`, "sets dx[i] = dy[i]·(1 - exp(-y[i]))"},
	{`TanhGrad(dx, dy, y []T)`, "sets dx[i] = dy[i]·(1 - y[i])·(1 + y[i])"},
	{`GELUGrad(dx, dy, x []T)`, "sets dx[i] = dy[i]·gelu'(x[i])"},
	{`SoftmaxGrad(dx, dy, y []T, c int)`, "sets every row of dx to y·(dy - Σ y·dy)"},
	{`ArgMin(x []T) (at int)`, "returns the index of the smallest element"},
	{`LayerNorm(y, x, gain, bias []T, c int, eps float64)`, "normalises every row by its own mean and variance"},
	{`LayerNormGrad(dx, dgain, dbias, dy, x, gain []T, c int, eps float64)`, "is the gradient of LayerNorm"},
	{`PointConvGradF(df, dp, w []T, offsets []int, index, pose []int32, ci, cm int)`, "is the gradient of PointConv to its features"},
	{`PointConvGradW(dw, dp, f []T, offsets []int, row, index []int32, ci, cm int)`, "is the gradient of PointConv to its weights"},
	{`Adam(p, m, v, g []T, step, beta1, beta2, root, eps float64)`, "is one step of the optimiser"},
	{`Norm(y, x, mean, low, scale, bias []T, c int)`, "normalises rows with given statistics"},
	{`NormSums(sum, sumX []float64, dz, x, mean, low []T, c int)`, "adds up what the gradient of a normalisation needs"},
	{`NormGrad(dx, dz, x []T, weight []int32, mean, low, a, p, q []T, c int)`,
		"is the gradient of a normalisation by the rows' own statistics"},
	{`WeightedMoments(mean, variance []float64, x []T, weight []int32, c int) (total float64)`,
		"computes mean and variance of every column over weighted rows and returns the sum of the weights"},
}

// renderAdapters writes them.
func renderAdapters() output {
	var b strings.Builder
	b.WriteString("// Code generated by command: go generate. DO NOT EDIT.\n\npackage simd\n")
	for _, a := range adapters {
		name, rest, _ := strings.Cut(a.signature, "(")
		e, err := parser.ParseExpr("func(" + rest)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		f := e.(*ast.FuncType)
		over, calls := "", map[string]string{}
		for _, kind := range []string{"float32", "float64"} {
			over, calls[kind] = passOn(f, kind)
		}
		pass, end := "", ""
		if f.Results != nil {
			pass, end = "return ", "return\n"
		}
		fmt.Fprintf(&b, "\n// %s %s; see %sF32.\nfunc %s[T Float](%s {\n", name, a.does, name, name, rest)
		fmt.Fprintf(&b, "switch %s := any(%s).(type) {\n", over, over)
		for _, kind := range []string{"32", "64"} {
			fmt.Fprintf(&b, "case []float%s:\n%s%sF%s(%s)\n", kind, pass, name, kind, calls["float"+kind])
		}
		fmt.Fprintf(&b, "default:\nunreachable(%q)\n}\n%s}\n", name, end)
	}
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		log.Fatal(err)
	}
	return output{"zadapter.go", text}
}

// passOn returns the parameter that the type switch asks, the first slice of T, and the arguments of the call for one type.
func passOn(f *ast.FuncType, kind string) (over, args string) {
	var all []string
	for _, field := range f.Params.List {
		for _, n := range field.Names {
			switch t := types.ExprString(field.Type); {
			case t == "[]T" && over == "":
				over = n.Name
				all = append(all, n.Name)
			case t == "T":
				all = append(all, kind+"("+n.Name+")")
			case t == "[]T":
				all = append(all, fmt.Sprintf("any(%s).([]%s)", n.Name, kind))
			case strings.HasSuffix(t, "[T]"):
				all = append(all, fmt.Sprintf("any(%s).(%s[%s])", n.Name, strings.TrimSuffix(t, "[T]"), kind))
			default:
				all = append(all, n.Name)
			}
		}
	}
	return over, strings.Join(all, ", ")
}
