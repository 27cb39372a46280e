package main

import (
	"bytes"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// globeConfig is a small model on the sphere.
func globeConfig(dx int) cnp.Config {
	c := cnp.DefaultSphere(2, 1)
	c.DimX, c.PointsPerUnit, c.Channels = dx, 3, []int{3, 3}
	return c
}

// Models on the sphere take latitudes and longitudes or unit vectors, and draw the globe; bad points are named.
func TestRegressSphere(t *testing.T) {
	b := newBench(t)
	b.save("globe.safetensors", globeConfig(2))
	b.save("unit.safetensors", globeConfig(3))
	b.save("line.safetensors", curveConfig())
	b.write("stations.csv", "name,Lon,lat,y\na,170,45,1\nb,-175,50,2\nc,0,-90,0\n")
	b.write("units.csv", "0,0,1,1\n1,0,0,2\n")
	b.write("targets.csv", "lat,lon\n10,20\n90,0\n")
	b.write("line.csv", "0,1\n")
	args := []string{"regress", "--model", "@globe.safetensors", "--csv", "@stations.csv", "--out", "@pred.csv"}
	got := decode[regressResult](t, b.ok(append(args, "--sphere", "--plot", "@map.png", "--json")...))
	require.Equal(t, 3, got.ContextPoints)
	require.Equal(t, 36*72, got.Targets)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"lat", "Lon", "mean", "std"}, pred.Header)
	require.Equal(t, []float64{-87.5, -177.5}, pred.Values[:2])
	file, err := os.ReadFile(b.path("map.png"))
	require.NoError(t, err)
	im, err := png.Decode(bytes.NewReader(file))
	require.NoError(t, err)
	require.Greater(t, im.Bounds().Dx(), 1000)
	b.ok(append(args, "--sphere=30", "--plot", "@map.svg")...)
	require.True(t, strings.HasPrefix(b.files()["map.svg"], "<svg"))
	got = decode[regressResult](t, b.ok(append(args, "--targets", "@targets.csv", "--json")...))
	require.Equal(t, 2, got.Targets)
	b.ok("regress", "--model", "@unit.safetensors", "--csv", "@units.csv", "--out", "@pred.csv", "--sphere=20", "--plot", "@map.png")
	require.True(t, strings.HasPrefix(b.files()["pred.csv"], "x1,x2,x3,mean,std\n"), b.files()["pred.csv"])
	b.ok("sample", "--model", "@globe.safetensors", "--csv", "@stations.csv", "--targets", "@targets.csv", "--out", "@samples.csv")
	require.Contains(t, b.ok("inspect", "@globe.safetensors"),
		"113 nearly even points on the sphere, 3 per radian; points are latitude and longitude in degrees")

	b.write("bad.csv", "lat,lon,y\n91,0,1\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "bad.csv:2:1: not usable as data: latitude 91: need -90 to 90 degrees", []string{"--model", "@globe.safetensors", "--csv",
			"@bad.csv", "--sphere"}},
		{1, "has length 1.414", []string{"--model", "@unit.safetensors", "--csv", "@long.csv", "--sphere"}},
		{1, "--sphere: the points of", []string{"--model", "@line.safetensors", "--csv", "@line.csv", "--sphere"}},
		{2, "--sphere 0.01: need 0.1 to 90 degrees", []string{"--model", "@globe.safetensors", "--csv", "@stations.csv", "--sphere=0.01"}},
		{2, "--sphere NaN: need 0.1 to 90 degrees", []string{"--model", "@globe.safetensors", "--csv", "@stations.csv", "--sphere=NaN"}},
		{2, "--sphere: with a model it is a grid of targets", []string{"--model", "@globe.safetensors", "--csv", "@stations.csv",
			"--sphere", "--targets", "@targets.csv"}},
	} {
		b.write("long.csv", "1,0,1,1\n")
		b.fails(c.code, c.want, append([]string{"regress", "--out", "@new.csv"}, c.args...)...)
		require.NotContains(t, b.files(), "new.csv")
	}
}

// Training on the sphere, under its rotations and under translations, on drawn tasks and on a user's own; evaluation; the table.
func TestTrainSphere(t *testing.T) {
	b := newBench(t)
	short := []string{"--steps", "2", "--batch", "2", "--eval-every", "0", "--levels", "2", "--channels", "4", "--json"}
	run := func(args ...string) trainResult {
		return decode[trainResult](t, b.ok(append(append([]string{"train", "regression"}, args...), short...)...))
	}
	r := run("--sphere", "matern", "--points-per-unit", "3", "--out", "@globe.safetensors")
	require.Equal(t, "matern on the sphere, mid, as latitude and longitude", r.Tasks)
	run("--sphere", "matern", "--group", "T2", "--points-per-unit", "0.05", "--out", "@plane.safetensors")
	e := decode[evalResult](t, b.ok("eval", "--model", "@globe.safetensors", "--sphere", "matern", "--place", "poles", "--tasks",
		"3", "--json"))
	require.Equal(t, "matern on the sphere, poles, as latitude and longitude", e.Source)
	require.NotNil(t, e.Process)

	rows := "task,lat,lon,y\n"
	for task := range 4 {
		for i := range 6 {
			rows += string(rune('a'+task)) + "," + []string{"80", "-80", "10", "0", "33", "-12"}[i] + "," +
				[]string{"0", "170", "-170", "90", "5", "-60"}[i] + ",2" + string(rune('0'+i)) + "\n"
		}
	}
	b.write("own.csv", rows)
	run("--csv", "@own.csv", "--x", "lat,lon", "--group", "SO(3)", "--points-per-unit", "3", "--max-context", "4",
		"--min-context", "2", "--out", "@own.safetensors")
	b.write("one.csv", "lat,lon,y\n10,20,22\n")
	b.ok("regress", "--model", "@own.safetensors", "--csv", "@one.csv", "--out", "@own-pred.csv", "--sphere=30")

	out := b.path("table")
	b.ok("reproduce", "sphere", "--models", b.dir, "--out", out, "--tasks", "20")
	report, err := os.ReadFile(out + "/sphere.md")
	require.NoError(t, err)
	for _, want := range []string{"| the process, independent |", "| SO(3) | middle latitudes |", "| T(2) | middle latitudes |",
		"## matern"} {
		require.Contains(t, string(report), want)
	}
	csv, err := tabular.ReadFile(out + "/sphere.csv")
	require.NoError(t, err)
	require.Equal(t, 3*4, csv.Rows())

	regression := []string{"train", "regression", "--out", "@new.safetensors"}
	b.fails(2, `--sphere: process "rbf" on the sphere is not one of eq, matern`, append(regression, "--sphere", "rbf")...)
	b.fails(2, `place "moon" is not one of mid`, append(regression, "--sphere", "eq", "--place", "moon")...)
	b.fails(2, "--place is for --sphere", append(regression, "--place", "mid")...)
	b.fails(2, "--points-per-unit 10000: 1256637061 points on the sphere",
		append(regression, "--sphere", "eq", "--points-per-unit", "10000")...)
}
