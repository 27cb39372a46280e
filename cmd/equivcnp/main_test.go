package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// bench is a folder with files to work on and a way to run the program there.
type bench struct {
	t     testing.TB
	dir   string
	stdin string
}

func newBench(t testing.TB) *bench { return &bench{t: t, dir: t.TempDir()} }

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// run runs the program. Words of args that begin with @ are files of the bench.
func (b *bench) run(args ...string) (status int, stdout, stderr string) {
	b.t.Helper()
	return b.runContext(context.Background(), args...)
}

func (b *bench) runContext(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	b.t.Helper()
	args = append([]string{}, args...)
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			args[i] = b.path(name)
		}
	}
	var out, errs bytes.Buffer
	status = run(ctx, args, strings.NewReader(b.stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// ok runs the program and expects success.
func (b *bench) ok(args ...string) string {
	b.t.Helper()
	status, out, errs := b.run(args...)
	require.Equal(b.t, 0, status, "%v: %s", args, errs)
	for line := range strings.Lines(errs) { // that data are not what a model knows is said there, and how far a long run is
		require.Regexp(b.t, "^(note:|step|task) ", line, errs)
	}
	return out
}

// fails runs the program and expects that status, a message with those words, and no file that was not there before.
func (b *bench) fails(status int, words string, args ...string) {
	b.t.Helper()
	before := b.files()
	got, out, errs := b.run(args...)
	require.Equal(b.t, status, got, "%v: %s", args, errs)
	require.Empty(b.t, out)
	require.True(b.t, strings.HasPrefix(errs, "equivcnp: "), errs)
	require.Contains(b.t, errs, words)
	require.Equal(b.t, status == 2, strings.Contains(errs, "--help' for usage."), errs)
	require.Equal(b.t, before, b.files(), "no file appears or changes after an error")
}

// files returns the content of every file of the bench, by name.
func (b *bench) files() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(b.dir)
	require.NoError(b.t, err)
	for _, e := range entries {
		if !e.IsDir() {
			data, err := os.ReadFile(b.path(e.Name()))
			require.NoError(b.t, err)
			out[e.Name()] = string(data)
		}
	}
	return out
}

func (b *bench) names() []string {
	var out []string
	for n := range b.files() {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(content), 0o644))
}

func (b *bench) writeImage(name string, im image.Image) {
	b.t.Helper()
	var buf bytes.Buffer
	require.NoError(b.t, png.Encode(&buf, im))
	b.write(name, buf.String())
}

// save builds a model with random weights, writes it and returns it.
func (b *bench) save(name string, cfg cnp.Config) cnp.Model[float32] {
	b.t.Helper()
	m, err := cnp.New[float32](cfg, 1)
	require.NoError(b.t, err)
	for _, p := range m.State() {
		if cfg.Architecture == cnp.EquivCNPImage && strings.HasSuffix(p.Name, ".r") {
			p.Data[0] = 0.5 // a fixed radius: no search for one at each start
		}
	}
	require.NoError(b.t, weights.Save(b.path(name), m, nil))
	return m
}

// decode parses a JSON object that a command printed.
func decode[V any](t testing.TB, text string) V {
	t.Helper()
	var v V
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&v), text)
	return v
}

// imageConfig is a small image model.
func imageConfig(groupName string, channels int) cnp.Config {
	c := cnp.Default(cnp.EquivCNPImage, groupName, channels)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill = []int{4}, 1, 4, 2, 0, 0
	return c
}

// curveConfig is a small curve model with a lattice.
func curveConfig() cnp.Config {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid = 8, []int{4, 4, 4}, 4, 2
	return c
}

// pointConfig is a small CNP of any dimensions.
func pointConfig(dx, dy int) cnp.Config {
	c := cnp.Default(cnp.CNPCurve, "", dy)
	c.DimX, c.Channels = dx, []int{8, 8, 8}
	return c
}

// gradient is a grey test image.
func gradient(w, h int) *image.Gray {
	im := image.NewGray(image.Rect(0, 0, w, h))
	for i := range im.Pix {
		im.Pix[i] = uint8(37 * i)
	}
	return im
}

func TestHelp(t *testing.T) {
	b := newBench(t)
	for _, cmd := range []string{"", "complete", "regress", "predict", "convert", "inspect", "version"} {
		t.Run("equivcnp "+cmd, func(t *testing.T) {
			out := b.ok(append(strings.Fields(cmd), "--help")...)
			require.Contains(t, out, "Examples:\n")
			require.Contains(t, out, strings.TrimSpace("equivcnp "+cmd))
			for line := range strings.Lines(out) {
				require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 120, line)
			}
			if cmd != "" && cmd != "inspect" && cmd != "version" {
				require.Contains(t, out, "--group")
				require.Contains(t, out, "R>0xSO(2)", "the groups are listed")
			}
		})
	}
	require.Contains(t, b.ok("--version"), "equivcnp version ")
}

func TestVersion(t *testing.T) {
	b := newBench(t)
	require.Contains(t, b.ok("version"), "generic")
	v := decode[map[string]any](t, b.ok("version", "--json"))
	for _, key := range []string{"version", "go", "os", "arch", "simd", "simd_levels"} {
		require.Contains(t, v, key)
	}
}

// An error of usage ends with status 2 and points at the help.
func TestUsageErrors(t *testing.T) {
	b := newBench(t)
	complete := []string{"complete", "--model", "m", "--image", "i", "--out", "@o.png"}
	regress := []string{"regress", "--model", "m", "--csv", "c", "--out", "@o.csv"}
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"nothing", "equivcnp: no command given", nil},
		{"unknown command", `equivcnp: unknown command "finish"`, []string{"finish"}},
		{"misspelt command", `equivcnp: unknown command "regres", did you mean "regress"?`, []string{"regres", "--csv", "a.csv"}},
		{"a list with spaces", `equivcnp: regress: unexpected argument "north": lists have commas`,
			[]string{"regress", "--csv", "a.csv", "--x", "east", "north", "--out", "b.csv"}},
		{"a port alone", `equivcnp: serve: --listen 8080: need an address such as :8080`, []string{"serve", "--listen", "8080"}},
		{"no samples", "equivcnp: sample: --samples 0: need 1 to",
			[]string{"sample", "--csv", "a.csv", "--from", "0", "--to", "1", "--samples", "0", "--out", "b.csv"}},
		{"unknown flag", "equivcnp: complete: unknown flag: --modell", []string{"complete", "--modell", "m"}},
		{"not a number", `equivcnp: complete: --rate "much": need a number` + "\n", append(complete, "--rate", "much")},
		{"no kernel", `equivcnp: eval: --kernel: process "foo": "foo" is not one of`, []string{"eval", "--model", "rbf-equivcnp",
			"--kernel", "foo"}},
		{"no seed", `equivcnp: demo: --seed "-1": need a whole number of 0 or more` + "\n", []string{"demo", "--seed", "-1"}},
		{"no list", `equivcnp: regress: --quantiles "0.5;0.9": need numbers separated by commas, as in 0.05,0.5` + "\n",
			append(regress, "--quantiles", "0.5;0.9")},
		{"no time", `equivcnp: serve: --timeout "soon": need a time such as 90s or 10m` + "\n", []string{"serve", "--timeout", "soon"}},
		{"missing flags", "required flag(s)", []string{"complete"}},
		{"an argument too many", `equivcnp: convert: unexpected argument "x"`, []string{"convert", "x"}},
		{"inspect without a file", "equivcnp: inspect: accepts 1 arg(s)", []string{"inspect"}},
		{"neither mask nor rate", "[mask rate]", complete},
		{"mask and rate", "[mask rate]", append(complete, "--mask", "m", "--rate", "0.5")},
		{"rate above 1", "equivcnp: complete: --rate 1.5: need a number from 0 to 1", append(complete, "--rate", "1.5")},
		{"rate NaN", "--rate NaN", append(complete, "--rate", "nan")},
		{"zoom", "--zoom -1: need 0 to 256", append(complete, "--rate", "1", "--zoom", "-1")},
		{"threads", "--threads -2: need 0 to 1024", append(complete, "--rate", "1", "--threads", "-2")},
		{"no targets", "say where to predict", regress},
		{"half a range", "say where to predict", append(regress, "--from", "1")},
		{"range and targets", "[targets from]", append(regress, "--targets", "t", "--from", "1")},
		{"reversed range", "--from 2 lies beyond --to 1", append(regress, "--from", "2", "--to", "1")},
		{"infinite range", "need finite numbers", append(regress, "--from", "-inf", "--to", "1")},
		{"negative points", "--points -1", append(regress, "--from", "0", "--to", "1", "--points", "-1")},
		{"too many points", "--points 99999999", append(regress, "--from", "0", "--to", "1", "--points", "99999999")},
		{"plot format", `a plot is a .png or .svg file, not ".gif"`, append(regress, "--from", "0", "--to", "1", "--plot", "@p.gif")},
	} {
		t.Run(c.name, func(t *testing.T) { b.fails(2, c.want, c.args...) })
	}
}

// Flags about the model are checked the same way by every command.
func TestModelFlagErrors(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("i.png", gradient(4, 4))
	args := []string{"complete", "--image", "@i.png", "--rate", "0.5", "--out", "@o.png"}
	b.fails(2, "--alpha 2: need a number from 0 to 1", append(args, "--model", "@m.safetensors", "--alpha", "2")...)
	b.fails(2, "--alpha NaN", append(args, "--model", "@m.safetensors", "--alpha", "nan")...)
	b.fails(2, "--points-per-unit -1", "convert", "--model", "@m.safetensors", "--out", "@c.safetensors", "--points-per-unit", "-1")
	b.fails(1, "no such file", append(args, "--model", "@none.safetensors")...)
	b.fails(1, "SO(2)", append(args, "--model", "@m.safetensors", "--group", "SO(2)")...)
	b.fails(1, "SU(5)", append(args, "--model", "@m.safetensors", "--group", "SU(5)")...)

	whole := b.files()["m.safetensors"]
	for _, n := range []int{0, 7, 100, len(whole) / 2, len(whole) - 1} {
		b.write("cut.safetensors", whole[:n])
		b.fails(1, "cut.safetensors", append(args, "--model", "@cut.safetensors")...)
	}
	b.save("curve.safetensors", curveConfig())
	b.fails(1, "regresses curves and completes no images", append(args, "--model", "@curve.safetensors")...)
	b.write("d.csv", "0,1\n")
	b.fails(1, "completes images and regresses no curves",
		"regress", "--model", "@m.safetensors", "--csv", "@d.csv", "--from", "0", "--to", "1", "--out", "@o.csv")
}

func TestNumber(t *testing.T) {
	b, err := json.Marshal([]number{1.5, number(nan()), number(1 / zero())})
	require.NoError(t, err)
	require.Equal(t, "[1.5,null,null]", string(b))
}

func zero() float64 { return 0 }
func nan() float64  { return zero() / zero() }

// white and black are a mask's levels.
var white, black = color.Gray{255}, color.Gray{0}
