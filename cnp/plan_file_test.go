package cnp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/layers"
)

// fileModel is a small image model.
func fileModel[T cnp.Float](t testing.TB, group string, change func(*cnp.Config)) *cnp.ImageEquivCNP[T] {
	t.Helper()
	c := cnp.Config{Architecture: cnp.EquivCNPImage, Group: group, DimY: 1, Output: cnp.OutputStd, Floor: 0.01, Multiplicity: 1,
		Lifts: 1, Fill: 0.08, BlockFill: 0.06, Blocks: 1, Channels: []int{20}, Hidden: 8, Mid: 4}
	if group == "T(2)" || group == "SE(2)" { // few poses, as in a large image
		c.Fill, c.BlockFill = 0.01, 0.006
	}
	if change != nil {
		change(&c)
	}
	m, err := cnp.New[T](c, 3)
	require.NoError(t, err)
	return m.(*cnp.ImageEquivCNP[T])
}

func fileImages[T cnp.Float](b, h, w int) *cnp.Images[T] {
	im := &cnp.Images[T]{B: b, C: 1, H: h, W: w, Pixels: make([]T, b*h*w), Mask: make([]bool, b*h*w)}
	for i := range im.Pixels {
		im.Pixels[i], im.Mask[i] = T(math.Sin(float64(i*i%97))), i*7%5 < 2
	}
	return im
}

// replace puts another file where one may be in use, which must not change.
func replace(t testing.TB, path string, b []byte) {
	t.Helper()
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, b, 0o644))
}

// planned returns the prediction of a plan.
func planned[T cnp.Float](t testing.TB, p *cnp.ImagePlan[T], im *cnp.Images[T]) *cnp.Prediction[T] {
	t.Helper()
	out := &cnp.Prediction[T]{Mean: make([]T, im.B*p.Values()), Std: make([]T, im.B*p.Values())}
	require.NoError(t, p.Predict(context.Background(), out, im))
	return out
}

// TestPlanFile: a plan from a file is the plan that was made, to the bit, however much it stores.
func TestPlanFile(t *testing.T) {
	testPlanFile[float32](t)
	testPlanFile[float64](t)
}

func testPlanFile[T cnp.Float](t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name, group string
		change      func(*cnp.Config)
		opt         cnp.PlanOptions
	}{
		{"transforms", "T(2)", nil, cnp.PlanOptions{Algorithm: layers.Transforms}},
		{"direct", "T(2)", nil, cnp.PlanOptions{Algorithm: layers.Direct}},
		{"window", "T(2)", func(c *cnp.Config) { c.Window = layers.WindowSmooth }, cnp.PlanOptions{}},
		{"stored", "RxSO(2)", nil, cnp.PlanOptions{}},
		{"stored under a window", "SO(2)", func(c *cnp.Config) { c.Window = layers.WindowSmooth }, cnp.PlanOptions{}},
		{"evaluated", "SO(2)", nil, cnp.PlanOptions{Memory: -1}},
		{"half", "RxSO(2)", nil, cnp.PlanOptions{Precision: cnp.BFloat16}},
		{"lifts", "SE(2)", func(c *cnp.Config) { c.Lifts = 2 }, cnp.PlanOptions{}},
		{"fewer neighbours in blocks", "T(2)", func(c *cnp.Config) { c.MaxNeighbors, c.BlockNeighbors = 9, 5 }, cnp.PlanOptions{}},
		{"some neighbours in blocks", "SO(2)", func(c *cnp.Config) { c.BlockNeighbors = 5 }, cnp.PlanOptions{}},
		{"some neighbours", "SO(2)", func(c *cnp.Config) { c.MaxNeighbors = 9 }, cnp.PlanOptions{}},
	} {
		m := fileModel[T](t, c.group, c.change)
		g, im := cnp.Grid(11, 13), fileImages[T](3, 11, 13)
		path := filepath.Join(t.TempDir(), "x.plan")
		made, err := m.SavePlan(ctx, path, g, c.opt)
		require.NoError(t, err, c.name)
		loaded, err := m.LoadPlan(ctx, path, g, c.opt)
		require.NoError(t, err, c.name)
		require.Equal(t, made.Info(), loaded.Info(), c.name)
		require.Equal(t, c.group == "T(2)" || c.group == "SE(2)", made.Info().Flat, c.name)
		if _, single := any(T(0)).(float32); single && c.opt.Algorithm != "" {
			require.Equal(t, c.opt.Algorithm, made.Info().Algorithm)
		}
		require.Equal(t, planned(t, made, im), planned(t, loaded, im), c.name)
		// Numbers at which transforms overflow, so that sums go by pairs, which the grid tells.
		huge := fileImages[T](1, 11, 13)
		huge.Pixels[50], huge.Mask[50] = T(math.MaxFloat32/64), true
		a, b := planned(t, made, huge), planned(t, loaded, huge)
		for i := range a.Mean {
			require.Equal(t, math.Float64bits(float64(a.Mean[i])), math.Float64bits(float64(b.Mean[i])), c.name)
		}
		// A plan is what it was made from, not what the file's name stands for later.
		require.NoError(t, os.Remove(path))
		require.Equal(t, planned(t, made, im), planned(t, loaded, im), c.name)
	}
}

// TestPlanFileTargets: a geometry with targets, and one whose images are divided.
func TestPlanFileTargets(t *testing.T) {
	ctx := context.Background()
	m := fileModel[float32](t, "SO(2)", func(c *cnp.Config) { c.ImageSize = [2]int{12, 12} })
	g, err := m.Geometry(40, 36, 1)
	require.NoError(t, err)
	require.NotZero(t, g.Interleaved.Stride)
	for name, c := range map[string]struct {
		g  cnp.Geometry
		im *cnp.Images[float32]
	}{"divided": {g, fileImages[float32](1, 40, 36)}, "targets": {cnp.Upsampled(9, 9, 2), fileImages[float32](2, 9, 9)}} {
		path := filepath.Join(t.TempDir(), "x.plan")
		made, err := m.SavePlan(ctx, path, c.g, cnp.PlanOptions{})
		require.NoError(t, err, name)
		loaded, err := m.LoadPlan(ctx, path, c.g, cnp.PlanOptions{})
		require.NoError(t, err, name)
		require.Equal(t, planned(t, made, c.im), planned(t, loaded, c.im), name)
	}
}

// TestPlanFileRefuses: what was made from something else is refused, and so is what is damaged.
func TestPlanFileRefuses(t *testing.T) {
	ctx := context.Background()
	m, g := fileModel[float32](t, "T(2)", nil), cnp.Grid(9, 9)
	path := filepath.Join(t.TempDir(), "x.plan")
	_, err := m.SavePlan(ctx, path, g, cnp.PlanOptions{})
	require.NoError(t, err)
	refused := func(m *cnp.ImageEquivCNP[float32], g cnp.Geometry, opt cnp.PlanOptions) {
		t.Helper()
		_, err := m.LoadPlan(ctx, path, g, opt)
		require.ErrorIs(t, err, cnp.ErrPlanFile)
		require.ErrorContains(t, err, path)
	}
	refused(m, cnp.Grid(9, 10), cnp.PlanOptions{})
	refused(m, g, cnp.PlanOptions{Precision: cnp.BFloat16})
	refused(m, g, cnp.PlanOptions{Memory: 1 << 30})
	refused(fileModel[float32](t, "SO(2)", nil), g, cnp.PlanOptions{})
	_, err = fileModel[float64](t, "T(2)", nil).LoadPlan(ctx, path, g, cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrPlanFile)
	_, err = m.LoadPlan(ctx, path, cnp.Geometry{}, cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrShape)
	_, err = m.LoadPlan(ctx, path+"x", g, cnp.PlanOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	// One parameter that moved.
	s := m.State()
	last := s[len(s)-1].Data
	was := last[0]
	last[0]++
	refused(m, g, cnp.PlanOptions{})
	last[0] = was
	_, err = m.LoadPlan(ctx, path, g, cnp.PlanOptions{})
	require.NoError(t, err)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := 1000; at < len(b)-64; at += len(b) / 50 {
		damaged := bytes.Clone(b)
		damaged[at] ^= 4
		replace(t, path, damaged)
		p, err := m.LoadPlan(ctx, path, g, cnp.PlanOptions{})
		if err == nil {
			im, n := fileImages[float32](1, 9, 9), p.Values()
			err = p.Predict(ctx, &cnp.Prediction[float32]{Mean: make([]float32, n), Std: make([]float32, n)}, im)
			require.ErrorIs(t, p.Predict(ctx, &cnp.Prediction[float32]{Mean: make([]float32, n), Std: make([]float32, n)}, im),
				cnp.ErrPlanFile)
		}
		require.ErrorIs(t, err, cnp.ErrPlanFile)
		require.ErrorContains(t, err, path)
	}
}

// keeping returns the model with a folder of plans.
func keeping(t *testing.T, m *cnp.ImageEquivCNP[float32], dir string) *cnp.ImageEquivCNP[float32] {
	t.Helper()
	other, err := cnp.With[float32](m, cnp.Options{Plans: dir})
	require.NoError(t, err)
	return other.(*cnp.ImageEquivCNP[float32])
}

// TestPlanFolder: a folder gets a plan for each geometry, and what is in it is used.
func TestPlanFolder(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "new", "plans")
	m, im := fileModel[float32](t, "SO(2)", nil), fileImages[float32](2, 10, 9)
	want, err := m.Complete(ctx, im)
	require.NoError(t, err)
	files := func() (names []string) {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range list {
			names = append(names, filepath.Join(dir, f.Name()))
		}
		return names
	}
	for range 2 {
		again := keeping(t, fileModel[float32](t, "SO(2)", nil), dir)
		got, err := again.Complete(ctx, im)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Len(t, files(), 1)
		for range 2 {
			p, err := again.PlanGeometry(ctx, cnp.Grid(8, 8), cnp.PlanOptions{})
			require.NoError(t, err)
			require.NoError(t, p.Info().FileErr)
			require.FileExists(t, p.Info().File)
		}
		for _, name := range files() {
			require.NoError(t, os.Remove(name))
		}
	}
	// A file that is not what its name says.
	m = keeping(t, m, dir)
	p, err := m.PlanGeometry(ctx, cnp.Grid(8, 8), cnp.PlanOptions{})
	require.NoError(t, err)
	whole, err := os.ReadFile(p.Info().File)
	require.NoError(t, err)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for _, b := range [][]byte{[]byte("not a plan"), damaged, whole[:len(whole)/2], nil} { // it is made anew
		replace(t, p.Info().File, b)
		again, err := m.PlanGeometry(ctx, cnp.Grid(8, 8), cnp.PlanOptions{})
		require.NoError(t, err)
		require.NoError(t, again.Info().FileErr)
		now, err := os.ReadFile(p.Info().File)
		require.NoError(t, err)
		require.Equal(t, whole, now)
	}
	// A file that is cut while its plan is in use.
	p, err = m.PlanGeometry(ctx, cnp.Grid(8, 8), cnp.PlanOptions{})
	require.NoError(t, err)
	require.NoError(t, os.Truncate(p.Info().File, 0))
	square := fileImages[float32](2, 8, 8)
	n := 2 * p.Values()
	cut := &cnp.Prediction[float32]{Mean: make([]float32, n), Std: make([]float32, n)}
	require.NoError(t, p.Predict(ctx, cut, square))
	want, err = fileModel[float32](t, "SO(2)", nil).Complete(ctx, square)
	require.NoError(t, err)
	require.Equal(t, want.Mean, cut.Mean)
	// What writers have left that died.
	folder, name := filepath.Split(p.Info().File)
	for _, writer := range []struct{ dead, alive string }{
		{name + ".tmp123", name + ".tmp456"}, {"." + name + ".0123abcd.tmp", "." + name + ".4567abcd.tmp"}} {
		dead, alive := filepath.Join(folder, writer.dead), filepath.Join(folder, writer.alive)
		for _, path := range []string{dead, alive} {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
		require.NoError(t, os.Chtimes(dead, time.Time{}, time.Now().Add(-time.Hour)))
		keeping(t, m, dir)
		require.NoFileExists(t, dead)
		require.FileExists(t, alive)
	}
	// A folder that cannot be written to.
	m = keeping(t, m, filepath.Join(p.Info().File, "below a file"))
	p, err = m.PlanGeometry(ctx, cnp.Grid(7, 8), cnp.PlanOptions{})
	require.NoError(t, err)
	require.Error(t, p.Info().FileErr)
	require.Empty(t, p.Info().File)
}

// hostilePlans are files of plans, and the models that they are for.
type hostilePlans struct {
	models []*cnp.ImageEquivCNP[float32]
	opts   []cnp.PlanOptions
	files  [][]byte
	path   string
}

func newHostilePlans(t testing.TB) *hostilePlans {
	h := &hostilePlans{path: filepath.Join(t.TempDir(), "x.plan")}
	for _, c := range []struct {
		group string
		opt   cnp.PlanOptions
	}{
		{"T(2)", cnp.PlanOptions{Algorithm: layers.Transforms}}, {"T(2)", cnp.PlanOptions{Algorithm: layers.Direct}},
		{"SO(2)", cnp.PlanOptions{}}, {"SO(2)", cnp.PlanOptions{Precision: cnp.BFloat16}},
	} {
		m := fileModel[float32](t, c.group, func(c *cnp.Config) { c.Window = layers.WindowSmooth })
		_, err := m.SavePlan(context.Background(), h.path, cnp.Grid(7, 9), c.opt)
		require.NoError(t, err)
		b, err := os.ReadFile(h.path)
		require.NoError(t, err)
		h.models, h.opts, h.files = append(h.models, m), append(h.opts, c.opt), append(h.files, b)
	}
	return h
}

// try writes numbers into a file at a multiple of 4, with checksums that fit, and uses it. It must be refused, or predict something.
func (h *hostilePlans) try(t testing.TB, kind, at int, value uint64, wide bool) (taken bool) {
	kind %= len(h.files)
	b := bytes.Clone(h.files[kind])
	size := int(binary.NativeEndian.Uint64(b[56:]))
	if at = 128 + at%(size-128)/4*4; wide {
		binary.NativeEndian.PutUint64(b[min(at, size-8)/8*8:], value)
	} else {
		binary.NativeEndian.PutUint32(b[at:], uint32(value))
	}
	frozen.Seal(b)
	replace(t, h.path, b)
	p, err := h.models[kind].LoadPlan(context.Background(), h.path, cnp.Grid(7, 9), h.opts[kind])
	if err != nil {
		require.ErrorIs(t, err, cnp.ErrPlanFile)
		return false
	}
	im := fileImages[float32](1, 7, 9)
	if err := p.Predict(context.Background(), p.NewPrediction(im), im); err != nil {
		require.ErrorIs(t, err, cnp.ErrValue) // weights may be NaN
	}
	return true
}

// TestHostilePlanFile: no number in a file makes a kernel read where nothing is.
func TestHostilePlanFile(t *testing.T) {
	h := newHostilePlans(t)
	rng := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for i := range 1200 {
		at := rng.IntN(1 << 30)
		if i%3 == 0 {
			at = rng.IntN(8 << 10) // where lengths are
		}
		value := []uint64{0, 1, 5, 64, 1 << 31, 1<<32 - 1, 1 << 62, 1<<64 - 1, rng.Uint64(), rng.Uint64N(100)}[rng.IntN(10)]
		if h.try(t, i, at, value, rng.IntN(2) == 0) {
			taken++
		}
	}
	t.Logf("%d of 1200 files were taken: they differ in weights, or in nothing", taken)
}

func FuzzPlanFile(f *testing.F) {
	h := newHostilePlans(f)
	f.Add(0, 64, uint64(7), true)
	f.Add(2, 4096, uint64(1<<63), false)
	f.Fuzz(func(t *testing.T, kind, at int, value uint64, wide bool) {
		h.try(t, kind&0xff, at&(1<<30-1), value, wide)
	})
}
