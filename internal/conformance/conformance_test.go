package conformance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/simd"
)

const folder = "../../testdata/conformance"

func vectors(t *testing.T, model string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Read(filepath.Join(folder, model+".safetensors"))
	require.NoError(t, err)
	return f
}

// TestVectors: every shipped model has vectors, made of the file that is shipped, and predicts what they expect, small ones at
// every level.
func TestVectors(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	require.Len(t, cases, len(pretrained.Names()))
	size := int64(0)
	for _, c := range cases {
		t.Run(c.Model, func(t *testing.T) {
			f := vectors(t, c.Model)
			b, err := pretrained.File(c.Model)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(b)), f.Metadata[KeyDigest],
				"the model changed: go run ./bench conformance --write --only "+c.Model)
			info, err := os.Stat(filepath.Join(folder, c.Model+".safetensors"))
			require.NoError(t, err)
			size += info.Size()
			if testing.Short() && !strings.HasPrefix(c.Model, "bench-") {
				t.Skip("skipped: -short, as emulators and detectors need minutes for it; make test runs it")
			}
			levels := simd.Levels()
			if !strings.HasPrefix(c.Model, "bench-") {
				levels = levels[len(levels)-1:] // others take seconds in portable Go
			}
			for _, l := range levels {
				at(t, l, func() {
					all, err := Compare(context.Background(), f, nil)
					require.NoError(t, err)
					require.GreaterOrEqual(t, len(all), 2)
					for _, d := range all {
						require.Truef(t, d.Within(), "%v: %+v", l, d)
						require.LessOrEqual(t, d.Tolerance, 1e-4)
					}
				})
			}
		})
	}
	require.LessOrEqual(t, size, int64(5<<20))
}

// at runs f at a level.
func at(t *testing.T, l simd.Level, f func()) {
	t.Helper()
	old := simd.CurrentLevel()
	require.NoError(t, simd.SetLevel(l))
	defer func() { require.NoError(t, simd.SetLevel(old)) }()
	f()
}

// TestMake: the vectors are those that Make makes today, but for the rounding of sums.
func TestMake(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short, as emulators and detectors need minutes for it; make test runs it")
	}
	cases, err := Cases()
	require.NoError(t, err)
	for _, c := range cases {
		if c.Model != "bench-eq" && c.Model != "bench2-sawtooth" && c.Model != "vectors-curl-free" {
			continue
		}
		made, err := Make(context.Background(), c)
		require.NoError(t, err)
		kept := vectors(t, c.Model)
		require.Len(t, made.Tensors, len(kept.Tensors))
		for i := range kept.Tensors {
			want, err := kept.Tensors[i].Float64s()
			require.NoError(t, err)
			tensor := made.Get(kept.Tensors[i].Name)
			require.NotNil(t, tensor, kept.Tensors[i].Name)
			got, err := tensor.Float64s()
			require.NoError(t, err)
			require.InDeltaSlice(t, want, got, 1e-6, kept.Tensors[i].Name)
		}
		for _, key := range []string{KeyLogLikelihood, KeyOracle} {
			require.Equal(t, kept.Metadata[key] == "", made.Metadata[key] == "", key)
			if kept.Metadata[key] != "" {
				want, err := strconv.ParseFloat(kept.Metadata[key], 64)
				require.NoError(t, err)
				got, err := strconv.ParseFloat(made.Metadata[key], 64)
				require.NoError(t, err)
				require.InDelta(t, want, got, 1e-5, key)
			}
		}
	}
}

// TestCompare: predictions of others that are wrong, incomplete or of another shape do not pass.
func TestCompare(t *testing.T) {
	f := vectors(t, "bench-eq")
	theirs := func(change func(mean []float64)) *safetensors.File {
		out := &safetensors.File{}
		for _, name := range []string{"mean", "std"} {
			want := f.Get(Expected + name)
			v, err := want.Float64s()
			require.NoError(t, err)
			if name == "mean" {
				change(v)
			}
			out.Tensors = append(out.Tensors, safetensors.FromFloat64s(name, want.Shape, v))
		}
		return out
	}
	compare := func(p *safetensors.File) Difference {
		all, err := Compare(context.Background(), f, p)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, "mean", all[0].Tensor)
		require.True(t, all[1].Within())
		return all[0]
	}
	require.Equal(t, 0.0, compare(theirs(func([]float64) {})).Largest)
	d := compare(theirs(func(v []float64) { v[len(v)-1] += 0.001 }))
	require.False(t, d.Within())
	require.InDelta(t, 0.0005, d.Largest, 0.0005)
	require.Equal(t, "[3 49 0]", d.Index)
	require.InDelta(t, d.Expected+0.001, d.Number, 1e-12)
	require.Equal(t, []int{1, 200}, []int{d.Beyond, d.Numbers})
	d = compare(theirs(func(v []float64) { v[0], v[53], v[54], v[55] = 1000, math.NaN(), 2000, math.NaN() }))
	require.False(t, d.Within())
	require.True(t, math.IsNaN(d.Largest), "a NaN stays the largest difference")
	require.Equal(t, "[1 3 0]", d.Index)
	require.Equal(t, 4, d.Beyond)
	require.False(t, compare(theirs(func(v []float64) { v[0] = math.Inf(-1) })).Within())

	all, err := Compare(context.Background(), f, &safetensors.File{})
	require.NoError(t, err)
	require.Equal(t, `the prediction has no tensor "mean", it has none`, all[0].Problem)
	short := theirs(func([]float64) {})
	short.Tensors[0].Shape = short.Tensors[0].Shape[:2]
	all, err = Compare(context.Background(), f, short)
	require.NoError(t, err)
	require.Equal(t, "shape [4 50], need [4 50 1]", all[0].Problem)
	require.False(t, all[0].Within())
	require.True(t, all[1].Within(), "other tensors are compared all the same")
	short.Tensors[1].Name = Expected + "std"
	all, err = Compare(context.Background(), f, short)
	require.NoError(t, err)
	require.Equal(t, `the prediction has no tensor "std", it has "mean", "expected_std"`, all[1].Problem)
	_, err = Compare(context.Background(), &safetensors.File{Metadata: map[string]string{KeyModel: "nobody"}}, nil)
	require.ErrorIs(t, err, pretrained.ErrName)
	none := *f
	none.Tensors = slices.DeleteFunc(slices.Clone(f.Tensors), func(x safetensors.Tensor) bool {
		return strings.HasPrefix(x.Name, Expected)
	})
	_, err = Compare(context.Background(), &none, short)
	require.ErrorContains(t, err, "no conformance vectors")
}

// TestCompareHostile: files with vectors of other shapes than their tasks are refused.
func TestCompareHostile(t *testing.T) {
	for _, shape := range [][]int{{1}, {4, 50}, {4, 49, 1}, {50, 4, 1}, {4, 50, 1, 0}, {4, 50, 0}} {
		n := 1
		for _, k := range shape {
			n *= k
		}
		for _, name := range []string{"mean", "cov_factor"} {
			f := *vectors(t, "bench-eq")
			wrong := safetensors.FromFloat32s(Expected+name, shape, make([]float32, n))
			mask := make([]float32, 200)
			mask[0] = 1
			f.Tensors = slices.DeleteFunc(slices.Clone(f.Tensors), func(x safetensors.Tensor) bool { return x.Name == Expected+"mean" })
			f.Tensors = append(f.Tensors, wrong, safetensors.FromFloat32s("target_mask", []int{4, 50}, mask))
			_, err := Compare(context.Background(), &f, &safetensors.File{Tensors: []safetensors.Tensor{
				safetensors.FromFloat32s(name, shape, make([]float32, n))}})
			require.ErrorContains(t, err, Expected+name, "%v", shape)
			require.ErrorContains(t, err, "shape", "%v", shape)
		}
	}
}

// TestCompareFactors: a covariance has many factors, and all of them pass; another covariance does not.
func TestCompareFactors(t *testing.T) {
	f := vectors(t, "bench-eq-lowrank")
	theirs := func(change func(row []float64)) Difference {
		p := &safetensors.File{}
		for i := range f.Tensors {
			name, expected := strings.CutPrefix(f.Tensors[i].Name, Expected)
			if !expected {
				continue
			}
			v, err := f.Tensors[i].Float64s()
			require.NoError(t, err)
			if name == "cov_factor" {
				rank := f.Tensors[i].Shape[len(f.Tensors[i].Shape)-1]
				for row := range slices.Chunk(v, rank) {
					change(row)
				}
			}
			p.Tensors = append(p.Tensors, safetensors.FromFloat64s(name, f.Tensors[i].Shape, v))
		}
		all, err := Compare(context.Background(), f, p)
		require.NoError(t, err)
		for _, d := range all {
			if d.Tensor == "cov_factor" {
				return d
			}
			require.Zero(t, d.Largest, d.Tensor)
		}
		require.Fail(t, "no cov_factor")
		return Difference{}
	}
	require.Zero(t, theirs(func([]float64) {}).Largest)
	turned := theirs(func(row []float64) {
		row[0], row[1] = 0.6*row[0]-0.8*row[1], 0.8*row[0]+0.6*row[1]
		row[2] *= -1
	})
	require.True(t, turned.Within(), "%+v", turned)
	require.Less(t, turned.Largest, 1e-9)
	wrong := theirs(func(row []float64) { row[0] *= 1.1 })
	require.False(t, wrong.Within())
	require.Regexp(t, `^\[\d \d+ 0\]·\[\d \d+ 0\]$`, wrong.Index)
	require.Equal(t, 4*50*51/2, wrong.Numbers)
	require.False(t, theirs(func(row []float64) { row[3] = math.NaN() }).Within())
	require.False(t, theirs(func(row []float64) { row[0], row[1] = 0, 0 }).Within())
}

// TestLikelihoods: both likelihoods of a file judge each value by itself, the values of a vector too.
func TestLikelihoods(t *testing.T) {
	for _, model := range []string{"vectors-rbf", "vectors-curl-free", "vectors-divergence-free", "bench-eq-lowrank"} {
		f := vectors(t, model)
		read := func(name string) []float64 {
			v, err := f.Get(name).Float64s()
			require.NoError(t, err)
			return v
		}
		y, mean, std := read("y_target"), read("expected_mean"), read("expected_std")
		sum := 0.0
		for i, d := range std {
			z := (y[i] - mean[i]) / d
			sum -= 0.5*(z*z+math.Log(2*math.Pi)) + math.Log(d)
		}
		require.InDelta(t, mustNumber(t, f.Metadata[KeyLogLikelihood]), sum/float64(len(y)), 1e-5, model)
	}
}

func mustNumber(t *testing.T, s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return x
}
