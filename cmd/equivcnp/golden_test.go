package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// predict on the authors' checkpoints gives their code's recorded means and variances, within what float32 arithmetic
// justifies by the recording's manifest.
func TestGoldenCurves(t *testing.T) {
	for _, kernel := range []string{"rbf", "matern", "periodic"} {
		for _, model := range []string{"equivcnp", "convcnp", "cnp"} {
			t.Run(kernel+"_"+model, func(t *testing.T) {
				b := newBench(t)
				g := testkit.OpenGolden(t, "1d_"+kernel+"_"+model)
				var tol struct {
					F32 struct {
						Mean     float64 `json:"mean_abs"`
						Variance float64 `json:"variance_abs"`
					} `json:"f32_direct_sqdist"`
				}
				g.Tolerance(&tol)
				var meta []struct {
					PointsPerUnit float64 `json:"grid_points_per_unit"`
				}
				g.Meta("tasks", &meta)
				for i := range meta {
					task := fmt.Sprintf("task%d.", i)
					var in []safetensors.Tensor
					for _, name := range []string{"x_context", "y_context", "x_target"} {
						x := *g.File.Get(task + name)
						x.Name = name
						in = append(in, x)
					}
					b.tensors("in.safetensors", in...)
					args := []string{"predict", "--model", testkit.Shared(t, "weights", "1d", kernel+"_"+model+".pth"),
						"--in", "@in.safetensors", "--out", "@out.safetensors"}
					if model == "equivcnp" {
						args = append(args, "--points-per-unit", fmt.Sprint(meta[i].PointsPerUnit))
					}
					b.ok(args...)
					mean, std := b.prediction("out.safetensors", in[2].Shape...)
					wantMean, _ := g.F64(task + "mean_f64")
					wantVar, _ := g.F64(task + "variance_f64")
					for k := range mean {
						require.True(t, math.Abs(float64(mean[k])-wantMean[k]) <= tol.F32.Mean, "%smean[%d] = %g, want %g", task,
							k, mean[k], wantMean[k])
						v := float64(std[k]) * float64(std[k])
						require.True(t, math.Abs(v-wantVar[k]) <= tol.F32.Variance, "%svariance[%d] = %g, want %g", task, k, v, wantVar[k])
					}
				}
			})
		}
	}
}

// The same for the image models; T(2) and SE(2), with and without batch normalisation in the blocks, take a second.
func TestGoldenImages(t *testing.T) {
	for _, c := range []struct{ folder, golden, file, group string }{
		{"2d", "2d", "T2", "T(2)"}, {"2d", "2d", "SE2", "SE(2)"}, {"2d_bn", "2d_bn", "T2", "T(2)"},
	} {
		t.Run(c.golden+"_"+c.file, func(t *testing.T) {
			b := newBench(t)
			g := testkit.OpenGolden(t, c.golden+"_"+c.file+"_img0")
			var tol struct {
				F32 struct {
					Mean float64 `json:"mean_abs"`
					Std  float64 `json:"std_abs"`
				} `json:"f32"`
			}
			g.Tolerance(&tol)
			image, _ := g.F32("image")
			mask, _ := g.F32("mask")
			b.tensors("in.safetensors", safetensors.FromFloat32s("image", []int{1, 1, 64, 64}, image),
				safetensors.FromFloat32s("mask", []int{1, 1, 64, 64}, mask))
			got := decode[predictResult](t, b.ok("predict", "--model", testkit.Shared(t, "weights", c.folder, c.file+".pth"),
				"--group", c.group,
				"--in", "@in.safetensors", "--out", "@out.safetensors", "--json"))
			mean, std := b.prediction("out.safetensors", 1, 1, 64, 64)
			wantMean, _ := g.F64("mean_f64")
			wantStd, _ := g.F64("std_f64")
			for k := range mean {
				require.True(t, math.Abs(float64(mean[k])-wantMean[k]) <= tol.F32.Mean, "mean[%d] = %g, want %g", k, mean[k], wantMean[k])
				require.True(t, math.Abs(float64(std[k])-wantStd[k]) <= tol.F32.Std, "std[%d] = %g, want %g", k, std[k], wantStd[k])
			}
			var likelihood float64
			g.Meta("logprob_per_pixel_f64", &likelihood)
			require.InDelta(t, likelihood, float64(*got.LogLikelihood), 1e-4)
		})
	}
}
