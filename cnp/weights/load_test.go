package weights_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// curve is a small curve model of every feature that has tensors. Fill 0 spares the search for a first radius.
func curve() cnp.Config {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 2)
	c.Channels, c.Hidden, c.Mid, c.Multiplicity, c.Fill = []int{3, 4, 2}, 5, 3, 2, 0
	return c
}

// small lists a small configuration of each architecture.
func small() map[string]cnp.Config {
	image := func(a cnp.Architecture, group string) cnp.Config {
		c := cnp.Default(a, group, 3)
		c.Channels, c.Fill, c.BlockFill = []int{4}, 0, 0
		if a == cnp.EquivCNPImage {
			c.Blocks, c.Hidden, c.Mid, c.BlockBatchNorm = 2, 5, 3, true
		}
		return c
	}
	plane := cnp.Default(cnp.EquivCNPCurve, "SE(2)", 1)
	plane.Channels, plane.Lifts, plane.NoBatchNorm, plane.CoordinateFeature, plane.Fill = []int{3, 4}, 2, true, true, 0
	levels := cnp.DefaultLevels(3, 2, 1)
	levels.Channels, levels.Window, levels.DensityFloor, levels.DensityCap = []int{3, 4, 5}, "smooth", 0.1, 4
	waves := levels
	waves.Likelihood, waves.Waves = "lowrank:11", &cnp.Waves{Count: 2, Fastest: 7.5}
	departing := curve()
	departing.Departure = &cnp.Departure{Channels: 3, Drop: 0.25, Off: true}
	conv := cnp.Default(cnp.ConvCNPCurve, "", 2)
	conv.Channels, conv.Kernel = []int{3, 4, 2}, 3
	convImage := image(cnp.ConvCNPImage, "")
	convImage.Kernel, convImage.Multiplicity = 3, 2
	cnpCurve := cnp.Default(cnp.CNPCurve, "", 2)
	cnpCurve.DimX, cnpCurve.Channels = 3, []int{5, 6, 7}
	cnpShort := cnp.Default(cnp.CNPCurve, "", 1)
	cnpShort.Channels = []int{5}
	return map[string]cnp.Config{
		"curve": curve(), "plane": plane, "levels": levels, "waves": waves, "departing": departing, "convcnp": conv,
		"convcnp-image": convImage, "cnp": cnpCurve, "cnp short": cnpShort,
		"cnp-image": image(cnp.CNPImage, ""), "image SO(2)": image(cnp.EquivCNPImage, "SO(2)"),
		"image R>0xSO(2)": image(cnp.EquivCNPImage, "R>0xSO(2)"),
	}
}

func newModel[T cnp.Float](t *testing.T, c cnp.Config) cnp.Model[T] {
	t.Helper()
	m, err := cnp.New[T](c, 1)
	require.NoError(t, err)
	return m
}

func requireSameState[T cnp.Float](t *testing.T, want, got cnp.Model[T]) {
	t.Helper()
	require.Equal(t, want.Config(), got.Config())
	a, b := want.State(), got.State()
	require.Len(t, b, len(a))
	for i := range a {
		require.Equal(t, a[i].Name, b[i].Name)
		require.Equal(t, a[i].Shape, b[i].Shape, a[i].Name)
		for k := range a[i].Data {
			require.Equal(t, math.Float64bits(float64(a[i].Data[k])), math.Float64bits(float64(b[i].Data[k])), "%s %d", a[i].Name, k)
		}
	}
}

func testSaveLoad[T cnp.Float](t *testing.T) {
	for name, c := range small() {
		t.Run(name, func(t *testing.T) {
			m := newModel[T](t, c)
			path := filepath.Join(t.TempDir(), "m.safetensors")
			require.NoError(t, weights.Save(path, m, map[string]string{"trained on": "curves <&>"}))
			got, err := weights.Load[T](path, weights.Options{})
			require.NoError(t, err)
			requireSameState(t, m, got)
			s := readState(t, path)
			assert.Equal(t, "curves <&>", s.Metadata["trained on"])
			assert.Equal(t, "1", s.Metadata["equivcnp.format"])
			again, err := weights.LoadConfig(path, weights.Options{Group: c.Group})
			require.NoError(t, err)
			assert.Equal(t, c, again)
		})
	}
}

func TestSaveLoadFloat32(t *testing.T) { testSaveLoad[float32](t) }
func TestSaveLoadFloat64(t *testing.T) { testSaveLoad[float64](t) }

// A float32 model in float64 is exact, and back again.
func TestLoadOtherPrecision(t *testing.T) {
	dir := t.TempDir()
	m := newModel[float32](t, curve())
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, weights.Save(a, m, nil))
	wide, err := weights.Load[float64](a, weights.Options{})
	require.NoError(t, err)
	require.NoError(t, weights.Save(b, wide, nil))
	got, err := weights.Load[float32](b, weights.Options{})
	require.NoError(t, err)
	requireSameState(t, m, got)
}

// The longest calibration there is, 16 mixtures of 16 normals with all their digits, is saved and loaded.
func TestSaveLoadCalibrated(t *testing.T) {
	mixtures := make([]cnp.Mixture, 16)
	for i := range mixtures {
		mixtures[i].At = 1.23457e-5 * math.Pow(1.2345678, float64(i))
		for k := range 16 {
			mixtures[i].Share = append(mixtures[i].Share, 1.0/16+1.23456e-5*float64(k-8))
			mixtures[i].Factor = append(mixtures[i].Factor, 1.23456e-4+1.1111e-6*float64(k))
		}
	}
	m, err := cnp.Calibrated(newModel[float32](t, curve()), mixtures...)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	got, err := weights.Load[float32](path, weights.Options{})
	require.NoError(t, err)
	requireSameState(t, m, got)
}

func TestSaveRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	m := newModel[float32](t, curve())
	assert.ErrorContains(t, weights.Save(path, m, map[string]string{"equivcnp.config": "{}"}), "own")
	p := m.State()[2]
	p.Data[1] = float32(math.NaN())
	err := weights.Save(path, m, nil)
	require.ErrorIs(t, err, weights.ErrTensor)
	assert.ErrorContains(t, err, p.Name+"[0 1] = NaN")
	assert.NoFileExists(t, path)
}

// authors lists the authors' files with what REFERENCE says about them.
func authors() map[string]cnp.Config {
	out := map[string]cnp.Config{}
	for _, kernel := range []string{"rbf", "matern", "periodic"} {
		out["1d/"+kernel+"_equivcnp"] = cnp.Config{
			Architecture: cnp.EquivCNPCurve, Group: "T(1)", Lifts: 1, DimX: 1, DimY: 1, Multiplicity: 1, PointsPerUnit: 64,
			Margin: 0.1, Readout: cnp.ReadoutTargets, CoordinateFeature: true, Channels: []int{8, 16, 32, 16, 8}, Hidden: 32,
			Mid: 16, Fill: 4.0 / 64, RadiusRate: 0.3, Output: cnp.OutputVariance, Floor: 1e-8,
		}
		out["1d/"+kernel+"_convcnp"] = cnp.Config{
			Architecture: cnp.ConvCNPCurve, DimX: 1, DimY: 1, Multiplicity: 1, PointsPerUnit: 32, CoordinateFeature: true,
			Channels: []int{8, 16, 32, 16, 8}, Kernel: 5, Output: cnp.OutputVariance, Floor: 1e-8,
		}
		out["1d/"+kernel+"_cnp"] = cnp.Config{
			Architecture: cnp.CNPCurve, DimX: 1, DimY: 1, Channels: []int{128, 128, 128, 128}, Output: cnp.OutputVariance, Floor: 0.1,
		}
	}
	for folder, norm := range map[string]bool{"2d": false, "2d_bn": true} {
		for _, group := range []string{"T2", "SO2", "RxSO2", "SE2"} {
			out[folder+"/"+group] = cnp.Config{
				Architecture: cnp.EquivCNPImage, Lifts: 1, DimY: 1, Multiplicity: 1, Channels: []int{128}, Blocks: 4, Hidden: 32,
				Mid: 16, BlockBatchNorm: norm, Fill: 0.1, BlockFill: 1.0 / 15, RadiusRate: 0.5, Output: cnp.OutputStd,
				ImageSize: [2]int{64, 64},
			}
		}
	}
	return out
}

func TestRecognizeAuthors(t *testing.T) {
	canonical := map[string]string{"T2": "T(2)", "SO2": "SO(2)", "RxSO2": "R>0xSO(2)", "SE2": "SE(2)"}
	for name, want := range authors() {
		t.Run(name, func(t *testing.T) {
			s := readState(t, testkit.Shared(t, "weights", name+".pth"))
			got, candidates, err := weights.Recognize(s)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			switch {
			case want.Architecture == cnp.EquivCNPImage:
				assert.Contains(t, candidates, canonical[filepath.Base(name)])
				assert.Greater(t, len(candidates), 1)
			case want.Architecture == cnp.EquivCNPCurve:
				assert.Equal(t, []string{"T(1)"}, candidates)
			default:
				assert.Empty(t, candidates)
			}
		})
	}
}

// Loading one file of each kind, in both formats: every parameter is the file's.
func TestLoadAuthors(t *testing.T) {
	for _, c := range []struct{ name, group string }{
		{"1d/rbf_equivcnp", ""}, {"1d/periodic_convcnp", ""}, {"1d/matern_cnp", ""}, {"2d/SO2", "so2"}, {"2d_bn/RxSO2", "RxSO2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := testkit.Shared(t, "weights", c.name)
			m, err := weights.Load[float32](path+".pth", weights.Options{Group: c.group})
			require.NoError(t, err)
			s := readState(t, path+".safetensors")
			for _, p := range m.State() {
				want, err := s.Get(p.Name).Float32s()
				require.NoError(t, err)
				require.Equal(t, want, p.Data, p.Name)
			}

			// Converted to our own format it needs no options, and remembers alpha.
			own := filepath.Join(t.TempDir(), "own.safetensors")
			require.NoError(t, weights.Save(own, m, nil))
			again, err := weights.Load[float32](own, weights.Options{})
			require.NoError(t, err)
			requireSameState(t, m, again)
		})
	}
}

func TestGroups(t *testing.T) {
	so2 := testkit.Shared(t, "weights", "2d", "SO2.pth")
	t2 := testkit.Shared(t, "weights", "2d", "T2.pth")
	curve := testkit.Shared(t, "weights", "1d", "rbf_equivcnp.pth")
	cnpFile := testkit.Shared(t, "weights", "1d", "rbf_cnp.pth")
	own := filepath.Join(t.TempDir(), "own.safetensors")
	require.NoError(t, weights.Save(own, newModel[float32](t, small()["image SO(2)"]), nil))
	for _, c := range []struct {
		name, path string
		opt        weights.Options
		want       []string // of the error; nil: none
	}{
		{"missing, pose of 3", so2, weights.Options{}, []string{"choose one of", "SO(2)", "SE(2)"}},
		{"missing, pose of 2", t2, weights.Options{}, []string{"choose one of", "T(2)", "R>0xSO(2)"}},
		{"does not fit", so2, weights.Options{Group: "T2"}, []string{"asked for T(2)", "SO(2)", "SE(2)"}},
		{"unknown", so2, weights.Options{Group: "E(8)"}, []string{"E(8)", "the file fits", "SO(2)"}},
		{"bad alpha", so2, weights.Options{Group: "SO(2)", Alpha: 7}, []string{"alpha", "7"}},
		{"NaN alpha", so2, weights.Options{Group: "SO(2)", Alpha: math.NaN()}, []string{"alpha"}},
		{"fits", so2, weights.Options{Group: "SE(2)", Alpha: 0.4}, nil},
		{"curve without asking", curve, weights.Options{}, nil},
		{"curve, said", curve, weights.Options{Group: "t1"}, nil},
		{"curve, another", curve, weights.Options{Group: "SO(2)"}, []string{"asked for SO(2)", "T(1)"}},
		{"baseline", cnpFile, weights.Options{Group: "T(1)"}, []string{`"T(1)"`, "has no group"}},
		{"own, said", own, weights.Options{Group: "so2"}, nil},
		{"own, another", own, weights.Options{Group: "SE(2)"}, []string{"asked for SE(2)", "the file fits: SO(2)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := weights.LoadConfig(c.path, c.opt)
			if c.want == nil {
				require.NoError(t, err)
				assert.NotEmpty(t, cfg.Group)
				if c.opt.Alpha != 0 {
					assert.Equal(t, c.opt.Alpha, cfg.Alpha)
				}
				return
			}
			require.ErrorIs(t, err, weights.ErrGroup)
			for _, w := range append(c.want, c.path) {
				assert.ErrorContains(t, err, w)
			}
		})
	}
}

func TestPointsPerUnit(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "curve"), filepath.Join(dir, "cnp")
	require.NoError(t, weights.Save(a, newModel[float32](t, curve()), nil))
	require.NoError(t, weights.Save(b, newModel[float32](t, small()["cnp"]), nil))
	c, err := weights.LoadConfig(a, weights.Options{PointsPerUnit: 16})
	require.NoError(t, err)
	assert.Equal(t, 16.0, c.PointsPerUnit)
	_, err = weights.LoadConfig(a, weights.Options{PointsPerUnit: -1})
	assert.ErrorIs(t, err, cnp.ErrConfig)
	_, err = weights.LoadConfig(b, weights.Options{PointsPerUnit: 16})
	assert.ErrorIs(t, err, cnp.ErrConfig)
}

// saved is a small model's file, to be spoiled.
func saved(t *testing.T) *safetensors.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m")
	require.NoError(t, weights.Save(path, newModel[float32](t, curve()), nil))
	f, err := safetensors.Read(path)
	require.NoError(t, err)
	return f
}

func loadFile(t *testing.T, f *safetensors.File) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spoiled.safetensors")
	require.NoError(t, safetensors.Write(path, f))
	_, err := weights.Load[float32](path, weights.Options{})
	if err != nil {
		require.ErrorContains(t, err, path)
	}
	return err
}

func TestTensorErrors(t *testing.T) {
	require.NoError(t, loadFile(t, saved(t)))
	f := saved(t)
	remove := func(name string) {
		for i := range f.Tensors {
			if f.Tensors[i].Name == name {
				f.Tensors = append(f.Tensors[:i:i], f.Tensors[i+1:]...)
				return
			}
		}
		t.Fatal(name)
	}
	remove("conv.0.linear.bias")
	remove("psi.raw_outputscale")
	*f.Get("conv.2.linear.bias") = safetensors.FromFloat32s("conv.2.linear.bias", []int{1, 2}, []float32{1, 2})
	*f.Get("conv.2.linear.weight") = safetensors.FromFloat64s("conv.2.linear.weight", f.Get("conv.2.linear.weight").Shape,
		append(make([]float64, f.Get("conv.2.linear.weight").Len()-1), 1e39)) // too large for float32
	nan := f.Get("mean_linear.weight")
	copy(nan.Data[4*3:], []byte{0, 0, 0xc0, 0x7f})
	*f.Get("mean_linear.bias") = safetensors.FromInt64s("mean_linear.bias", []int{2}, []int64{1, 2})
	f.Tensors = append(f.Tensors, safetensors.FromFloat32s("surprise", []int{1}, []float32{1}),
		safetensors.FromInt64s("conv.0.weightnet.net.0.bn.num_batches_tracked", []int{}, []int64{5}),
		safetensors.FromInt64s("elsewhere.num_batches_tracked", []int{}, []int64{5}))
	err := loadFile(t, f)
	require.ErrorIs(t, err, weights.ErrTensor)
	for _, want := range []string{
		"missing: psi.raw_outputscale, conv.0.linear.bias", "misshapen: conv.2.linear.bias is [1 2], need [2]", "unknown: surprise",
		"mean_linear.weight[1 1] = NaN", "conv.2.linear.weight[1 11] = 1e+39", "of no float type: mean_linear.bias is I64",
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "num_batches_tracked")

	f = saved(t)
	for i := range 25 {
		f.Tensors = append(f.Tensors, safetensors.FromFloat32s(fmt.Sprintf("extra.%02d", i), []int{1}, []float32{1}))
	}
	err = loadFile(t, f)
	assert.ErrorContains(t, err, "extra.09 and 15 more")
	assert.NotContains(t, err.Error(), "extra.10")
}

func TestConfigErrors(t *testing.T) {
	edit := func(change func(m map[string]any)) string {
		b, err := json.Marshal(curve())
		require.NoError(t, err)
		var m map[string]any
		require.NoError(t, json.Unmarshal(b, &m))
		change(m)
		b, err = json.Marshal(m)
		require.NoError(t, err)
		return string(b)
	}
	set := func(key string, v any) string { return edit(func(m map[string]any) { m[key] = v }) }
	wide := make([]int, 1000)
	for i := range wide {
		wide[i] = 1 << 16
	}
	for _, c := range []struct {
		name, config, want string
		is                 error
	}{
		{"unknown field", set("colour", 3), `unknown field "colour"`, cnp.ErrConfig},
		{"wrong type", set("hidden", "much"), "hidden", cnp.ErrConfig},
		{"not JSON", "{", "EOF", cnp.ErrConfig},
		{"more after the end", set("hidden", 5) + "{}", "goes on", cnp.ErrConfig},
		{"deep", strings.Repeat("[", 1<<16), "equivcnp.config", cnp.ErrConfig},
		{"unknown architecture", set("architecture", "transformer"), "transformer", cnp.ErrConfig},
		{"unknown group", set("group", "E(8)"), "E(8)", weights.ErrGroup},
		{"no group", edit(func(m map[string]any) { delete(m, "group") }), "group", weights.ErrGroup},
		{"hidden of 2^16", set("hidden", 1<<16), "the configuration needs", weights.ErrTensor},
		{"mid of 2^16 and more channels", set("mid", 1<<16), "the configuration needs", weights.ErrTensor},
		{"a thousand layers of 2^16", set("channels", wide), "the configuration needs", weights.ErrTensor},
		{"outputs of 2^16", set("dim_y", 1<<16), "", weights.ErrTensor},
		{"unknown likelihood", set("likelihood", "cauchy"), "cauchy", cnp.ErrConfig},
		{"a rank of 2^20", set("likelihood", "lowrank:1048576"), "lowrank:1048576", cnp.ErrConfig},
		{"another likelihood", set("likelihood", "lowrank:8"), "missing: raw_linear.weight", weights.ErrTensor},
		{"a large rank for many outputs", edit(func(m map[string]any) { m["likelihood"], m["dim_y"] = "lowrank:1024", 1<<16 }),
			"the configuration needs", weights.ErrTensor},
		{"beyond the limits", set("hidden", 1<<17), "hidden", cnp.ErrConfig},
		{"no channels", set("channels", []int{}), "channels", cnp.ErrConfig},
		{"another width", set("hidden", 6), "misshapen: ", weights.ErrTensor},
		{"another architecture", edit(func(m map[string]any) {
			m["architecture"], m["kernel"], m["margin"] = "convcnp", 3, 0
			delete(m, "group")
		}), "missing: pre_mlp.0.weight", weights.ErrTensor},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := saved(t)
			f.Metadata["equivcnp.config"] = c.config
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := loadFile(t, f)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, c.is)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "nothing is built before the numbers add up")
			assert.ErrorContains(t, err, c.want)
		})
	}
	f := saved(t)
	f.Metadata["equivcnp.format"] = "3"
	assert.ErrorContains(t, loadFile(t, f), `equivcnp.format is "3"`)
}

// TestAbsurdSizes: whatever size a model file asks for, it is refused at once, by the name of the field, and nothing is
// made of it; a size that costs nothing until it is used is read at once.
func TestAbsurdSizes(t *testing.T) {
	all := small()
	image := all["image SO(2)"]
	image.Group = "SE(2)"
	wide := make([]int, 1<<20)
	deep := cnp.DefaultLevels(3, 3, 1)
	deep.Channels = []int{3, 4, 5}
	for _, c := range []struct {
		name string
		base cnp.Config
		set  map[string]any
		want string // of the error; empty: the file is read
	}{
		{"lifts that nothing stores", image, map[string]any{"lifts": 1000, "fill": 0.1, "block_fill": 0.06}, ""},
		{"lifts", image, map[string]any{"lifts": 1000000}, "lifts = 1000000"},
		{"lifts of translations", all["curve"], map[string]any{"lifts": 1000}, "lifts = 1000"},
		{"negative lifts", image, map[string]any{"lifts": -1}, "lifts = -1"},
		{"blocks", image, map[string]any{"blocks": 1000}, "for its blocks"},
		{"blocks beyond counting", image, map[string]any{"blocks": 1000000}, "blocks = 1000000"},
		{"channels", image, map[string]any{"channels": []int{60000}}, "for its channels"},
		{"channels beyond counting", image, map[string]any{"channels": []int{1 << 30}}, "channels = [1073741824]"},
		{"a million layers", all["curve"], map[string]any{"channels": wide}, "1048576 widths"},
		{"channels of a baseline", all["cnp"], map[string]any{"channels": []int{60000, 60000, 60000}}, "for its channels"},
		{"hidden", image, map[string]any{"hidden": 60000}, "for its hidden"},
		{"mid", image, map[string]any{"mid": 1 << 16, "channels": []int{16}}, "for its mid"},
		{"kernel", all["convcnp-image"], map[string]any{"kernel": 1023}, "for its kernel"},
		{"multiplicity", all["curve"], map[string]any{"multiplicity": 1 << 30}, "multiplicity = 1073741824"},
		{"lattice", all["curve"], map[string]any{"max_lattice": 1 << 30}, "max_lattice = 1073741824"},
		{"lattice's density", all["curve"], map[string]any{"points_per_unit": 1e30}, "points_per_unit = 1e+30"},
		{"lattice's margin", all["curve"], map[string]any{"margin": 1e30}, "margin = 1e+30"},
		{"image size", image, map[string]any{"image_size": []int{1 << 30, 1 << 30}}, "image_size = 1073741824 x 1073741824"},
		{"neighbours", image, map[string]any{"max_neighbors": float64(1 << 40)}, "max_neighbors = 1099511627776"},
		{"levels", deep, map[string]any{"levels": 1000000}, "levels = 1000000"},
		{"channels of levels", deep, map[string]any{"channels": []int{60000, 60000, 60000}}, "for its channels"},
		{"kernel of levels", deep, map[string]any{"kernel": 31}, "for its kernel"},
		{"blocks of levels", deep, map[string]any{"blocks": 1000}, "blocks = 1000"},
		{"outputs", image, map[string]any{"dim_y": 1 << 16}, "for its dim_y"},
		{"rank", image, map[string]any{"likelihood": "lowrank:1000000000"}, "lowrank:1000000000"},
		{"a name without an end", image, map[string]any{"likelihood": strings.Repeat("x", 1<<22)}, "likelihood has 4194304 letters"},
		{"coordinates", all["curve"], map[string]any{"dim_x": 1 << 20}, "dim_x = 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := json.Marshal(c.base)
			require.NoError(t, err)
			var m map[string]any
			require.NoError(t, json.Unmarshal(b, &m))
			maps.Copy(m, c.set)
			b, err = json.Marshal(m)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "m.safetensors")
			require.NoError(t, weights.Save(path, newModel[float32](t, c.base), nil))
			f, err := safetensors.Read(path)
			require.NoError(t, err)
			f.Metadata["equivcnp.config"] = string(b)
			require.NoError(t, safetensors.Write(path, f))

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err = weights.Load[float32](path, weights.Options{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if c.want == "" {
				require.NoError(t, err)
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
			} else {
				require.ErrorContains(t, err, c.want)
				assert.Less(t, len(err.Error()), 600, "an error that fits a screen: %.600s", err.Error())
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(48<<20)+8*uint64(len(b)))
			}
			assert.Less(t, took, time.Minute, "it hangs, even emulated on a busy machine")
		})
	}
}

// Shapes alone can also claim too much: nothing is built before the numbers add up.
func TestRecognizeErrors(t *testing.T) {
	tensor := func(name string, shape ...int) safetensors.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return safetensors.Tensor{Name: name, DType: safetensors.U8, Shape: shape, Data: make([]byte, n)}
	}
	image := []safetensors.Tensor{
		tensor("conv_theta.weightnet.net.0.linear.weight", 1<<14, 2), tensor("conv_theta.weightnet.net.2.linear.weight", 1<<14, 1),
		tensor("conv_theta.linear.weight", 1, 1<<14), tensor("cnn.1.conv.0.pointwise.weight", 1, 1), tensor("cnn.2.module.weight", 2, 1),
	}
	without := func(i int, more ...safetensors.Tensor) []safetensors.Tensor {
		return append(append(append([]safetensors.Tensor{}, image[:i]...), image[i+1:]...), more...)
	}
	for _, c := range []struct {
		name    string
		tensors []safetensors.Tensor
		want    string
		is      error
	}{
		{"nothing", nil, "none of its 0 tensors", weights.ErrArchitecture},
		{"another network", []safetensors.Tensor{tensor("layer1.0.conv1.weight", 3, 3), tensor("fc.bias", 3)},
			`"fc.bias", "layer1.0.conv1.weight"`, weights.ErrArchitecture},
		{"no WeightNet", without(0), `"conv_theta.weightnet.net.0.linear.weight" is missing`, weights.ErrArchitecture},
		{"no blocks", without(3), "no residual block", weights.ErrArchitecture},
		{"no readout", without(4), `"cnn.2.module.weight" is missing`, weights.ErrArchitecture},
		{"odd readout", without(4, tensor("cnn.2.module.weight", 3, 1)), "no multiple of 2", weights.ErrArchitecture},
		{"vector for a matrix", without(2, tensor("conv_theta.linear.weight", 5)), "has shape [5]", weights.ErrArchitecture},
		{"empty matrix", without(2, tensor("conv_theta.linear.weight", 0, 4)), "has shape [0 4]", weights.ErrArchitecture},
		{"inputs that do not divide", without(2, tensor("conv_theta.linear.weight", 1, 1<<14+1)), "no multiple", weights.ErrArchitecture},
		{"pose of no group", without(0, tensor("conv_theta.weightnet.net.0.linear.weight", 2, 77)), "no known group",
			weights.ErrArchitecture},
		{"widths of a large model in a small file", image, "the configuration needs", weights.ErrTensor},
		{"curve over two coordinates", []safetensors.Tensor{tensor("prelinear.0.module.weight", 1, 3),
			tensor("conv.0.weightnet.net.0.linear.weight", 1, 2),
			tensor("conv.0.weightnet.net.2.linear.weight", 1, 1), tensor("mean_linear.weight", 1, 1)}, "one coordinate",
			weights.ErrArchitecture},
		{"ConvCNP of too few inputs", []safetensors.Tensor{tensor("pre_mlp.0.weight", 1, 1), tensor("cnn.0.weight", 1, 1, 1),
			tensor("mean_linear.weight", 1, 1)},
			"powers of each output", weights.ErrArchitecture},
		{"ConvCNP of even width", []safetensors.Tensor{tensor("pre_mlp.0.weight", 1, 3), tensor("cnn.0.weight", 1, 1, 4),
			tensor("mean_linear.weight", 1, 1)},
			"kernel = 4", cnp.ErrConfig},
		{"CNP without coordinates", []safetensors.Tensor{tensor("encoder.0.weight", 1, 1), tensor("decoder.0.weight", 2, 1)},
			"no coordinate", weights.ErrArchitecture},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m")
			require.NoError(t, safetensors.Write(path, &safetensors.File{Tensors: c.tensors}))
			_, err := weights.Load[float32](path, weights.Options{})
			if err != nil && strings.Contains(err.Error(), "choose one of") {
				_, err = weights.Load[float32](path, weights.Options{Group: "T(2)"})
			}
			require.ErrorIs(t, err, c.is)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestLoadRefusesHostileFiles(t *testing.T) {
	for _, name := range []string{"evil_legacy.pth", "evil_zip.pth", "small_zip.pth"} {
		_, err := weights.Load[float32](filepath.Join("testdata", name), weights.Options{})
		require.Error(t, err)
		assert.ErrorContains(t, err, name)
	}
	_, err := weights.Load[float32](filepath.Join(t.TempDir(), "absent"), weights.Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDescribe(t *testing.T) {
	d, err := weights.Describe("testdata/tensors_zip.pth")
	require.NoError(t, err)
	assert.Equal(t, weights.PyTorchZip, d.Format)
	assert.Nil(t, d.Config)
	assert.Contains(t, d.Problem, "unknown architecture")
	info := map[string]weights.TensorInfo{}
	for _, x := range d.Tensors {
		info[x.Name] = x
	}
	assert.Equal(t, []int{6, 4}, info["transposed"].Shape)
	assert.Equal(t, [3]float64{0, 23, 11.5}, [3]float64{*info["transposed"].Min, *info["transposed"].Max, *info["transposed"].Mean})
	assert.Nil(t, info["empty"].Min)

	f := saved(t)
	copy(f.Get("psi.raw_outputscale").Data, []byte{0, 0, 0x80, 0x7f})
	path := filepath.Join(t.TempDir(), "m")
	require.NoError(t, safetensors.Write(path, f))
	d, err = weights.Describe(path)
	require.NoError(t, err, "it says what is there, even where Load refuses")
	assert.Equal(t, 1, d.NonFinite)
	assert.Equal(t, "metadata", d.ConfigFrom)
	assert.Equal(t, []string{"T(1)"}, d.Groups)
	want := curve()
	assert.Equal(t, &want, d.Config)
	b, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"min":null`)

	_, err = weights.Describe(filepath.Join(t.TempDir(), "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDescribeAuthors(t *testing.T) {
	d, err := weights.Describe(testkit.Shared(t, "weights", "2d_bn", "SE2.pth"))
	require.NoError(t, err)
	assert.Equal(t, "shapes", d.ConfigFrom)
	assert.Contains(t, d.Groups, "SE(2)")
	assert.Zero(t, d.NonFinite)
	m, err := weights.Load[float32](d.Path, weights.Options{Group: "SE(2)"})
	require.NoError(t, err)
	parameters := 0
	for _, p := range m.State() {
		if !p.Buffer {
			parameters += len(p.Data)
		}
	}
	assert.Equal(t, parameters, d.Parameters)
}
