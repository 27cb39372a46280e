package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// regress writes the model's own prediction, at evenly spaced targets that include both ends.
func TestRegress(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", curveConfig())
	b.write("data.csv", "x,y\n-1,0.5\n\n0.25,-1\n1,2\n")
	out := b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "-2", "--to", "2", "--points", "9",
		"--out", "@pred.csv", "--plot", "@fig.png", "--json")
	got := decode[regressResult](t, out)
	require.Equal(t, []int{3, 9}, []int{got.ContextPoints, got.Targets})
	require.Nil(t, got.LogLikelihood)

	x := []float64{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2}
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), &cnp.Batch[float32]{
		B: 1, Nc: 3, Nt: 9, XContext: []float64{-1, 0.25, 1}, YContext: []float32{0.5, -1, 2}, XTarget: x})
	require.NoError(t, err)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"x", "mean", "std"}, pred.Header)
	require.Equal(t, x, pred.Take(0))
	for i := range x {
		require.Equal(t, want.Mean[i], float32(pred.Values[3*i+1]))
		require.Equal(t, want.Std[i], float32(pred.Values[3*i+2]))
	}
	im, err := raster.Read(b.path("fig.png"))
	require.NoError(t, err)
	require.Equal(t, 3, im.C)

	b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "-2", "--to", "2", "--out", "@pred.csv",
		"--plot", "@fig.svg")
	require.Contains(t, b.files()["fig.svg"], "</svg>")
	require.Equal(t, 401, strings.Count(b.files()["pred.csv"], "\n"), "400 points by default, and the header")
}

func TestRegressContexts(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	for _, c := range []struct {
		name, csv string
		points    int
	}{
		{"empty", "", 0},
		{"header only", "x,y\n", 0},
		{"blank lines", "\n\n  \n", 0},
		{"one point", "0.5,1\n", 1},
		{"no header, blanks", "\n0.5,1\n\n1,2\n\n", 2},
		{"duplicated points", "x,y\n0.5,1\n0.5,1\n0.5,1\n", 3},
		{"one place, two values", "0.5,1\n0.5,-1\n", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.write("data.csv", c.csv)
			got := decode[regressResult](t, b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "-1", "--to", "1",
				"--points", "5", "--out", "@pred.csv", "--plot", "@fig.png", "--json"))
			require.Equal(t, c.points, got.ContextPoints)
			pred, err := tabular.ReadFile(b.path("pred.csv"))
			require.NoError(t, err)
			require.Equal(t, 5, pred.Rows())
			for i := range 5 {
				require.Greater(t, pred.Values[3*i+2], 0.0, "std")
			}
		})
	}
	b.write("data.csv", "")
	require.Contains(t, b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "0", "--to", "0", "--points", "1",
		"--out", "@pred.csv", "--plot", "@fig.png"), "this is the prior")
}

func TestRegressFewTargets(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.write("data.csv", "0,1\n")
	args := []string{"regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "0.25", "--to", "1", "--out",
		"@pred.csv", "--plot", "@fig.png", "--points"}
	b.ok(append(args, "1")...)
	require.True(t, strings.HasPrefix(b.files()["pred.csv"], "x,mean,std\n0.25,"), b.files()["pred.csv"])
	b.fails(2, "--points 0: need 1 to", append(args, "0")...)
}

// A model of several inputs takes its targets from a file; one of several outputs draws several curves.
func TestRegressDimensions(t *testing.T) {
	b := newBench(t)
	b.save("plane.safetensors", pointConfig(2, 1))
	b.save("pair.safetensors", pointConfig(1, 2))
	b.write("plane.csv", "0,0,1\n1,0,2\n")
	b.write("pair.csv", "time,left,right\n0,1,2\n1,2,3\n")
	b.write("targets.csv", "x1,x2\n0.5,0.5\n1,1\n")
	b.write("truth.csv", "0.5,0.5,1\n1,1,0\n")
	b.write("none.csv", "")
	b.write("nowhere.csv", "x1,x2\n")

	args := []string{"regress", "--model", "@plane.safetensors", "--csv", "@plane.csv", "--out", "@pred.csv"}
	b.ok(append(args, "--targets", "@targets.csv")...)
	require.True(t, strings.HasPrefix(b.files()["pred.csv"], "x1,x2,mean,std\n0.5,0.5,"), b.files()["pred.csv"])
	b.ok(append(args, "--targets", "@nowhere.csv")...)
	require.Equal(t, "x1,x2,mean,std\n", b.files()["pred.csv"])
	got := decode[regressResult](t, b.ok(append(args, "--targets", "@truth.csv", "--json")...))
	require.NotNil(t, got.LogLikelihood)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	want := 0.0
	for i, y := range []float64{1, 0} {
		mean, std := pred.Values[4*i+2], pred.Values[4*i+3]
		want += -0.5*math.Pow((y-mean)/std, 2) - math.Log(std) - 0.5*math.Log(2*math.Pi)
	}
	require.InDelta(t, want/2, float64(*got.LogLikelihood), 1e-6)

	b.ok("regress", "--model", "@pair.safetensors", "--csv", "@pair.csv", "--from", "0", "--to", "1", "--points", "3",
		"--out", "@pair-pred.csv", "--plot", "@pair.svg", "--x", "time", "--y", "left,right")
	require.True(t, strings.HasPrefix(b.files()["pair-pred.csv"], "time,left_mean,right_mean,left_std,right_std\n0,"))
	for _, label := range []string{"time", "left", "right"} {
		require.Contains(t, b.files()["pair.svg"], ">"+label+"<")
	}

	b.fails(1, "the model has 2 input coordinates, use --grid or --targets", append(args, "--from", "0", "--to", "1")...)
	b.ok(append(args, "--targets", "@targets.csv", "--plot", "@p.svg")...) // a map, though targets are few
	for _, label := range []string{"x1", "x2", "standard deviation"} {
		require.Contains(t, b.files()["p.svg"], ">"+label+"<")
	}
	aux := pointConfig(2, 1)
	aux.Auxiliary = []string{"elevation"}
	require.ErrorContains(t, plot.Suits(&aux), "nobody knows elevation at all places of the map")
	b.write("four.csv", "1,2,3,4\n")
	b.fails(1, "four.csv:1:1: the columns do not fit: 4 columns without a header: the model needs 1 of x, then 2 of y", "regress",
		"--model", "@pair.safetensors", "--csv", "@none.csv", "--targets", "@four.csv", "--out", "@new.csv")
}

// Where a header names the columns, their order does not matter; other names are given by flags.
func TestRegressColumns(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	args := []string{"regress", "--model", "@m.safetensors", "--from", "-1", "--to", "1", "--points", "5"}
	b.write("plain.csv", "x,y\n0.5,20\n-0.25,22.5\n")
	b.ok(append(args, "--csv", "@plain.csv", "--out", "@want.csv")...)
	for name, c := range map[string]struct{ csv, x, y, extra string }{
		"swapped":    {csv: "y,x\n20,0.5\n22.5,-0.25\n"},
		"semicolons": {csv: "y; x\n20; 0.5\n22.5; -0.25\n"},
		"tabs":       {csv: "x\ty\n0.5\t20\n-0.25\t22.5\n"},
		"renamed":    {csv: "id,temp,time\n1,20,0.5\n2,22.5,-0.25\n", x: "time", y: "temp", extra: "id"},
		"numbers":    {csv: "20,7,0.5\n22.5,7,-0.25\n", x: "3", y: "1", extra: "2"},
		"one task":   {csv: "task,x,y\n1,0.5,20\n1,-0.25,22.5\n", extra: "task"},
	} {
		t.Run(name, func(t *testing.T) {
			b.write("data.csv", c.csv)
			all := append(args, "--csv", "@data.csv", "--out", "@pred.csv", "--json")
			if c.x != "" {
				all = append(all, "--x", c.x, "--y", c.y)
			}
			got := decode[regressResult](t, b.ok(all...))
			want := b.files()["want.csv"]
			if name == "renamed" { // the columns that flags name pass their names on
				want = strings.Replace(want, "x,mean,std", "time,temp_mean,temp_std", 1)
			}
			require.Equal(t, want, b.files()["pred.csv"])
			if c.extra == "" {
				require.Empty(t, got.Notes)
			} else {
				require.Contains(t, strings.Join(got.Notes, "\n"), "not read: "+c.extra)
			}
		})
	}
	b.write("targets.csv", "truth,t\n1,0.5\n")
	got := decode[regressResult](t, b.ok("regress", "--model", "@m.safetensors", "--csv", "@plain.csv", "--x", "x", "--targets",
		"@plain.csv",
		"--out", "@pred.csv", "--json"))
	require.NotNil(t, got.LogLikelihood)
	b.ok(append(args, "--csv", "@plain.csv", "--out", "@pred.tsv")...)
	require.Equal(t, strings.ReplaceAll(b.files()["want.csv"], ",", "\t"), b.files()["pred.tsv"])
}

// An output that is missing is no observation, and no truth; coordinates may be dates, and keep their form; quantiles
// stand beside the mean.
func TestRegressMissing(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("pair.safetensors", pointConfig(1, 2))
	b.write("gaps.csv", "x,y\n0.5,20\n0.75,\n-0.25,22.5\n0,NaN\n1,NA\n")
	b.write("full.csv", "x,y\n0.5,20\n-0.25,22.5\n")
	args := []string{"regress", "--model", "@m.safetensors", "--from", "-1", "--to", "1", "--points", "5"}
	b.ok(append(args, "--csv", "@full.csv", "--out", "@want.csv")...)
	got := decode[regressResult](t, b.ok(append(args, "--csv", "@gaps.csv", "--out", "@pred.csv", "--json")...))
	require.Equal(t, b.files()["want.csv"], b.files()["pred.csv"])
	require.Equal(t, 2, got.ContextPoints)
	require.Contains(t, strings.Join(got.Notes, "\n"), "3 rows of "+b.path("gaps.csv")+" without all values of y")

	got = decode[regressResult](t, b.ok("regress", "--model", "@m.safetensors", "--csv", "@full.csv", "--targets", "@gaps.csv",
		"--out", "@pred.csv",
		"--quantiles", "0.5,0.975", "--json"))
	require.NotNil(t, got.LogLikelihood)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"x", "mean", "std", "q0.5", "q0.975"}, pred.Header)
	want := 0.0
	for _, row := range []int{0, 2} {
		y := map[int]float64{0: 20, 2: 22.5}[row]
		mean, std := pred.Values[5*row+1], pred.Values[5*row+2]
		want += -0.5*math.Pow((y-mean)/std, 2) - math.Log(std) - 0.5*math.Log(2*math.Pi)
		require.Equal(t, mean, pred.Values[5*row+3])
		require.InEpsilon(t, mean+1.959964*std, pred.Values[5*row+4], 1e-6)
	}
	require.InEpsilon(t, want/2, float64(*got.LogLikelihood), 1e-6)

	b.write("days.csv", "day,y\n1970-01-01,1\n1970-01-02,2\n")
	b.write("numbers.csv", "day,y\n0,1\n1,2\n")
	for _, name := range []string{"days", "numbers"} {
		b.ok("regress", "--model", "@m.safetensors", "--csv", "@"+name+".csv", "--targets", "@"+name+".csv", "--x", "day",
			"--out", "@"+name+"-pred.csv")
	}
	days := b.files()["days-pred.csv"]
	require.True(t, strings.HasPrefix(days, "day,mean,std\n1970-01-01,"), days)
	require.Equal(t, b.files()["numbers-pred.csv"], strings.NewReplacer("1970-01-01", "0", "1970-01-02", "1").Replace(days))

	b.write("pair.csv", "x,y1,y2\n0,1,2\n1,,3\n2,4,\n")
	got = decode[regressResult](t, b.ok("regress", "--model", "@pair.safetensors", "--csv", "@pair.csv", "--from", "0", "--to",
		"1", "--points", "3", "--out", "@pred.csv", "--json"))
	require.Equal(t, 1, got.ContextPoints)
	b.fails(2, "--quantiles 1: need numbers between 0 and 1", append(args, "--csv", "@full.csv", "--out", "@pred.csv",
		"--quantiles", "1")...)
}

// The name - is standard input and standard output; what is printed goes to standard error then.
func TestStandardStreams(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.write("data.csv", "0.5,1\n")
	args := []string{"regress", "--model", "@m.safetensors", "--from", "-1", "--to", "1", "--points", "5"}
	b.ok(append(args, "--csv", "@data.csv", "--out", "@want.csv")...)
	b.stdin = "0.5,1\n"
	status, out, errs := b.run(append(args, "--csv", "-", "--out", "-")...)
	require.Equal(t, 0, status, errs)
	require.Equal(t, b.files()["want.csv"], out)
	require.Contains(t, errs, "context         1 point")
	b.stdin = "0.5,y\n"
	b.fails(1, "standard input:1:5: ", append(args, "--csv", "-", "--out", "-")...)
	b.fails(2, "only one input can be -", append(args[:3:3], "--csv", "-", "--targets", "-", "--out", "@new.csv")...)
	b.fails(1, "is also the file of --out", append(args, "--csv", "@data.csv", "--out", "-", "--plot", "-")...)

	b.stdin = b.files()["m.safetensors"]
	status, out, errs = b.run("convert", "--model", "-", "--out", "-")
	require.Equal(t, 0, status, errs)
	b.write("again.safetensors", out)
	require.Contains(t, b.ok("inspect", "-"), "parameters")
	b.ok("regress", "--model", "@again.safetensors", "--csv", "@data.csv", "--from", "-1", "--to", "1", "--points", "5", "--out",
		"@again.csv")
	require.Equal(t, b.files()["want.csv"], b.files()["again.csv"])

	b.save("i.safetensors", imageConfig("T(2)", 1))
	b.writeImage("i.png", gradient(4, 4))
	b.ok("complete", "--model", "@i.safetensors", "--image", "@i.png", "--rate", "0.5", "--out", "@want.png")
	b.stdin = b.files()["i.png"]
	status, out, errs = b.run("complete", "--model", "@i.safetensors", "--image", "-", "--rate", "0.5", "--out", "-")
	require.Equal(t, 0, status, errs)
	require.Equal(t, b.files()["want.png"], out)
	b.fails(2, "train needs a file", "train", "regression", "--out", "-")

	b.stdin = "x,y\n1,2\n2,3\n"
	require.Contains(t, b.ok("eval", "--model", "@m.safetensors", "--csv", "-", "--min-context", "1", "--max-context", "1"),
		"1 tasks, in order from standard input")
}

// What a file is called says how it is written, or it is refused.
func TestEndings(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("i.safetensors", imageConfig("T(2)", 1))
	b.write("data.csv", "0.5,1\n")
	b.writeImage("i.png", gradient(4, 4))
	regress := []string{"regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "-1", "--to", "1"}
	complete := []string{"complete", "--model", "@i.safetensors", "--image", "@i.png", "--rate", "0.5"}
	b.fails(2, "must end in .csv or .tsv or .txt or .parquet or .npz or .nc", append(regress, "--out", "@pred.dat")...)
	b.fails(2, "must end in .csv or .tsv or .txt or .parquet", append(regress, "--out", "@pred")...)
	b.fails(2, "a plot is a .png or .svg file", append(regress, "--out", "@pred.csv", "--plot", "@p.jpg")...)
	b.fails(2, "o.jpg: the name must end in .png, which is what is written", append(complete, "--out", "@o.jpg")...)
	b.fails(2, "--mean-out: ", append(complete, "--out", "@o.PNG", "--mean-out", "@o.gif")...)
	b.ok(append(complete, "--out", "@o.PNG")...)
	b.fails(2, "must end in .png", "demo", "--out", "@demo.jpg")
	b.fails(2, "must end in .safetensors or .npz or .nc", "predict", "--model", "@m.safetensors", "--in", "@x.safetensors",
		"--out", "@p.h5")
	b.fails(2, "must end in .safetensors", "convert", "--model", "@m.safetensors", "--out", "@p.pth")
	b.fails(2, "must end in .safetensors", "train", "regression", "--out", "@p.pth")
}

// A table has the same rows in every format, and so has its prediction; a grid of targets comes back as one.
func TestRegressFormats(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("plane.safetensors", pointConfig(2, 1))
	b.write("data.csv", "day,t2m,id\n0.5,20,1\n0.75,,2\n-0.25,22.5,3\n")
	flags := []string{"--model", "@m.safetensors", "--x", "day", "--y", "t2m"}
	regress := func(model []string, in, targets, out string) *tabular.Table {
		t.Helper()
		b.ok(append(append([]string{"regress"}, model...), "--csv", "@"+in, "--targets", "@"+targets, "--out", "@"+out)...)
		got, err := tables.ReadFile(b.path(out), nil)
		require.NoError(t, err)
		return got
	}
	want := regress(flags, "data.csv", "data.csv", "want.csv")
	require.Equal(t, []string{"day", "t2m_mean", "t2m_std"}, want.Header)
	in, err := tables.ReadFile(b.path("data.csv"), nil)
	require.NoError(t, err)
	for _, ending := range []string{".tsv", ".npz", ".nc"} {
		f, err := os.Create(b.path("data" + ending))
		require.NoError(t, err)
		require.NoError(t, tables.Write(f, ending, in, []int{0}))
		require.NoError(t, f.Close())
		got := regress(flags, "data"+ending, "data"+ending, "pred"+ending)
		require.Equal(t, want.Header, got.Header)
		for i, v := range want.Values {
			require.Equal(t, float32(v), float32(got.Values[i]), "value %d of %s", i, ending)
		}
		b.ok(append([]string{"eval", "--csv", "@data" + ending, "--min-context", "1", "--max-context", "1"}, flags...)...)
	}

	b.write("plane.csv", "lat,lon,t2m\n0,0,1\n1,0,2\n")
	b.write("grid.csv", "lat,lon\n0,0\n0,1\n0,2\n1,0\n1,1\n1,2\n")
	regress([]string{"--model", "@plane.safetensors", "--x", "lat,lon", "--y", "t2m"}, "plane.csv", "grid.csv", "grid.nc")
	f, err := netcdf.Decode([]byte(b.files()["grid.nc"]))
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, f.Shape(f.Var("t2m_mean")))
	require.Equal(t, []float64{0, 1, 2}, f.Values(f.Var("lon")))
}

func TestRegressErrors(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	for _, c := range []struct{ name, csv, want string }{
		{"letters", "x,y\n1,two\n", `data.csv:2:3: not a table of numbers: "two" is not a number`},
		{"a coordinate is missing", "x,y\n\n,1\n",
			`data.csv:3:1: not a table of numbers: the cell is missing, and must not be, in column "x"`},
		{"a coordinate is not a number", "NaN,1\n", `data.csv:1:1: not a table of numbers: the cell is missing, and must not be`},
		{"infinite", "1,Inf\n", `"Inf" is not a finite number`},
		{"three columns", "1,2,3\n", "data.csv:1:1: the columns do not fit: 3 columns without a header: the model " +
			"needs 1 of x, then 1 of y (--x and --y say which"},
		{"one column", "x\n", `data.csv:1:1: the columns do not fit: header "x": it has no column y or y1`},
		{"two inputs", "x1,x2,y\n1,2,3\n", `data.csv:1:1: the columns do not fit: header "x1,x2,y": 2 columns of x, the model needs 1`},
		{"other names", "time,temp\n1,2\n", `data.csv:1:1: the columns do not fit: header "time,temp": it has no column x or x1`},
		{"two tasks", "task,x,y\n1,2,3\n2,2,3\n", `data.csv:3:1: the column task says 2, and 1 before`},
		{"decimal commas", "x;y\n1,5;2.5\n", "data.csv:2:1: not a table of numbers: \"1,5\" is not a number: decimals need a point"},
		{"ragged", "1,2\n3\n", "data.csv:2:1: "},
		{"beyond float32", "1,1e300\n", "data.csv:1:3: not usable as data: 1e+300 is beyond float32: write the column in a larger unit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.write("data.csv", c.csv)
			b.fails(1, c.want, "regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "0", "--to", "1", "--out",
				"@pred.csv",
				"--plot", "@fig.png")
		})
	}
	b.write("data.csv", "1,2\n")
	args := []string{"regress", "--model", "@m.safetensors", "--from", "0", "--to", "1"}
	b.fails(1, "no such file", append(args, "--csv", "@none.csv", "--out", "@pred.csv")...)
	b.fails(1, "is an input", append(args, "--csv", "@data.csv", "--out", "@data.csv")...)
	b.fails(1, "--plot: ", append(args, "--csv", "@data.csv", "--out", "@pred.csv", "--plot", "@nowhere/fig.png")...)
}

func TestLinspace(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
	}{{-4, 4, 400}, {0.1, 0.7, 7}, {-math.MaxFloat64 / 2, math.MaxFloat64 / 2, 3}, {1, 1, 5}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			x := tabletask.Linspace(c.lo, c.hi, c.n)
			require.Equal(t, c.lo, x[0])
			require.Equal(t, c.hi, x[c.n-1])
			for i := 1; i < c.n; i++ {
				require.GreaterOrEqual(t, x[i], x[i-1])
			}
		})
	}
	require.Empty(t, tabletask.Linspace(0, 1, 0))
	require.Equal(t, []float64{3}, tabletask.Linspace(3, 4, 1))
}

// TestRegressGrid: cells of the plane need no file of targets, and make a raster that lies where the table does.
func TestRegressGrid(t *testing.T) {
	b := newBench(t)
	b.write("t.csv", "east,north,zinc\n105,210,1\n125,215,2\n135,232,4\n112,228,2\n118,221,3\n")
	table := []string{"regress", "--csv", "@t.csv", "--x", "east,north", "--y", "zinc"}
	said := b.ok(append(table, "--grid", "10", "--out", "@p.csv", "--plot", "@map.png")...)
	require.Contains(t, said, "written         "+b.path("p.csv")+"\n                "+b.path("map.png")+"\n")
	b.ok(append(table, "--grid", "10", "--out", "@p.tif")...)
	b.ok(append(table, "--grid", "east=105:135:10,north=215:235:10", "--out", "@named.csv")...)
	b.ok("predict", "--in", "@t.csv", "--x", "east,north", "--y", "zinc", "--grid", "10", "--out", "@q.csv")
	pred, err := tabular.ReadFile(b.path("p.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north", "zinc_mean", "zinc_std"}, pred.Header)
	require.Equal(t, []float64{105, 115, 125, 135, 105, 115, 125, 135, 105, 115, 125, 135}, pred.Take(0))
	require.Equal(t, []float64{215, 215, 215, 215, 225, 225, 225, 225, 235, 235, 235, 235}, pred.Take(1))
	of, err := tabular.ReadFile(b.path("q.csv"))
	require.NoError(t, err)
	require.Equal(t, pred.Take(0, 1), of.Take(0, 1))
	s, err := raster.OpenStrips(b.path("p.tif"), 2)
	require.NoError(t, err)
	defer s.Close()
	row := make([]float32, 4)
	require.NoError(t, s.Line(row, 1, 0, 0))
	for i, v := range row {
		require.InDelta(t, pred.Take(3)[8+i], v, 1e-6, "the northernmost row comes first")
	}
	for _, bad := range []struct {
		status      int
		want, flags string
	}{
		{2, "need larger ones", "--grid 1e-9"},
		{2, "need the side of a cell", "--grid 0"},
		{2, "there is no north", "--grid east=0:1:1"},
		{2, "targets", "--grid 10 --targets @t.csv"},
		{2, "from", "--grid 10 --from 0"},
		{1, "not evenly spaced", "--targets @t.csv"},
	} {
		b.fails(bad.status, bad.want, append(append(table[:len(table):len(table)], strings.Fields(bad.flags)...), "--out", "@bad.tif")...)
	}
	b.write("line.csv", "x,y\n0,1\n1,2\n2,1\n")
	b.fails(2, "need two inputs, and", "regress", "--csv", "@line.csv", "--grid", "1", "--out", "@bad.csv")
	b.fails(1, "north has 5 values", "predict", "--in", "@t.csv", "--x", "east", "--y", "zinc", "--task", "north", "--grid", "east=0:1:1",
		"--out", "@bad.tif")
}
