package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// fewer are arguments that make the examples of a command shorter. The last value of a flag counts.
var fewer = map[string][]string{
	"calibrate":        {"--tasks", "6"},
	"design":           {"--samples", "10"},
	"eval":             {"--tasks", "2", "--equivariance-tasks", "1"},
	"select":           {"--tasks", "4", "--batch", "1", "--eval-every", "0", "--steps", "2"},
	"train image":      {"--steps", "1", "--eval-every", "0", "--batch", "1", "--width", "8"},
	"train regression": {"--steps", "1", "--eval-every", "0", "--batch", "2"},
}

// elsewhere are the commands whose examples take minutes; their flags are looked at here, and the named tests run them on less.
var elsewhere = map[string]string{
	"health":                "TestServe",
	"demo":                  "TestDemo",
	"reproduce table1":      "TestReproduceTable1",
	"reproduce table2":      "TestReproduceTable2",
	"reproduce figures":     "TestReproduceFigures",
	"reproduce anywhere":    "TestReproduceAnywhere",
	"reproduce approximate": "TestReproduceApproximate",
	"reproduce precision":   "TestReproducePrecision",
	"reproduce benchmark":   "TestReproduceBenchmark",
	"reproduce sphere":      "TestTrainSphere",
	"reproduce vectors":     "TestReproduceVectors",
	"reproduce real":        "TestReproduceReal",
	"reproduce rcnp":        "TestReproduceLiving",
	"reproduce predprey":    "TestReproduceLiving",
	"reproduce joint":       "TestReproduceLiving",
	"reproduce globe":       "TestExactTable in internal/reproduce",
	"reproduce gridded":     "TestExactTable in internal/reproduce",
	"reproduce universal":   "TestReproduceUniversal",
}

// TestHelpExamples runs the examples of every command's help, on small files, so that each of them does what it says.
func TestHelpExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; this takes half a minute (make test runs it)")
	}
	if runtime.GOOS == "js" {
		t.Skip("skipped: no server on " + runtime.GOOS)
	}
	shared := map[string]string{}
	for _, name := range []string{"1d/rbf_equivcnp.pth", "1d/rbf_convcnp.pth", "2d/T2.pth", "2d/SO2.pth", "2d/RxSO2.pth"} {
		shared[filepath.Base(name)] = testkit.Shared(t, "weights", name)
	}
	ran := 0
	for _, c := range commands((&app{}).root()) {
		for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
			// a remark, or a request of a server's client
			if line = strings.Join(strings.Fields(line), " "); !strings.HasPrefix(line, "equivcnp ") {
				continue
			}
			t.Run(strings.ReplaceAll(line, "/", " "), func(t *testing.T) {
				r := csv.NewReader(strings.NewReader(line))
				r.Comma, r.LazyQuotes = ' ', true
				args, err := r.Read()
				require.NoError(t, err)
				args = args[1:]
				b := newBench(t)
				t.Chdir(b.dir)
				for name, from := range shared {
					require.NoError(t, os.Symlink(from, b.path(name)))
				}
				b.exampleFiles(args)
				if from, ok := strings.CutPrefix(args[len(args)-1], "<"); ok {
					text, err := os.ReadFile(from)
					require.NoError(t, err)
					b.stdin, args = string(text), args[:len(args)-1]
				}
				b.example(args)
			})
			ran++
		}
	}
	require.Greater(t, ran, 40)
}

// example runs an example, shortened, and looks for the files that it writes.
func (b *bench) example(args []string) {
	t := b.t
	cmd, rest, err := (&app{}).root().Find(args)
	require.NoError(t, err)
	require.NoError(t, cmd.ParseFlags(rest))
	name := strings.TrimPrefix(cmd.CommandPath(), "equivcnp ")
	switch {
	case elsewhere[name] != "":
		t.Logf("%s runs this on less", elsewhere[name])
		return
	case name == "serve":
		b.serves(args)
		return
	case cmd.Flags().Changed("manifest"):
	default:
		args = append(args, fewer[name]...)
		if name == "train image" && !slices.Contains(args, "--images") {
			args = append(args, "--size", "10")
		}
	}
	for i := range args {
		switch args[i] {
		case "--digits":
			switch name {
			case "calibrate":
				args = append(args, "--size", "16")
			case "select":
				args = append(args, "--size", "10", "--width", "8")
			}
		case "--budget": // "--steps" instead
			args[i], args[i+1] = "--batch", "1"
		case "--joint-tasks":
			args[i+1] = "2"
		case "--sphere":
			if name != "train population" { // where it says what the inputs are
				args[i] = "--sphere=60"
			}
		}
	}
	status, out, errs := b.run(args...)
	require.Equal(t, 0, status, "%s: %s", args, errs)
	require.NotEmpty(t, out+errs)
	for _, flag := range []string{"out", "out-dir", "plot", "std-out", "mean-out", "picture", "report"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed && f.Value.String() != cli.Stdio {
			_, err := os.Stat(f.Value.String())
			require.NoError(t, err, "--%s", flag)
		}
	}
}

// serves runs the example of serve on a free port until it is ready, with one shipped model for all of them unless -long asks for these.
func (b *bench) serves(args []string) {
	if i := slices.Index(args, "shipped"); i > 0 && !*long {
		args[i] = "digits-T2-small"
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	args = append(args, "--listen", "127.0.0.1:0", "--memory", "1G")
	var log safeBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, strings.NewReader(""), io.Discard, &log) }()
	require.Eventually(b.t, func() bool { return strings.Contains(log.String(), `"msg":"ready"`) }, time.Minute,
		10*time.Millisecond, "%s", &log)
	cancel()
	require.Equal(b.t, 0, <-ended, "%s", &log)
}

// salesTable is a series of 72 days.
var salesTable = func() string {
	text := "date,sales\n"
	for i := range 72 {
		text += fmt.Sprintf("%s,%d\n", time.Date(2023, 10, 21+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), 9+i*5%12)
	}
	return text
}()

// exampleFiles writes the files that the examples of a command read.
func (b *bench) exampleFiles(args []string) {
	t, path := b.t, args[0]
	b.write("sales.csv", salesTable)
	b.writeImage("digit.png", gradient(16, 16))
	b.writeImage("in.png", gradient(16, 16))
	b.writeImage("mask.png", gradient(16, 16))
	require.NoError(t, os.MkdirAll(b.path("photos"), 0o777))
	b.writeImage("photos/a.png", gradient(32, 32))
	b.writeImage("photos/b.png", gradient(32, 32))
	b.writeImage("photos/c.png", gradient(32, 32))

	// Tables of 48 rows: 4 days of 12 places.
	columns := []tabular.Column{}
	for k, name := range []string{"x", "y", "time", "temperature", "wind", "lat", "lon", "elevation", "pressure", "u", "v", "t2m",
		"rain", "east", "north", "station", "day", "date"} {
		col := tabular.Column{Name: name}
		for i := range 48 {
			v := float64((i*(7+2*k))%48)/24 - 1
			switch name {
			case "station":
				v = float64(i % 12)
			case "lat", "lon", "elevation", "east", "north":
				v = float64((i%12*(7+2*k))%48) / 4
			case "day", "date":
				v = float64(i / 12)
			}
			col.Values = append(col.Values, v)
		}
		columns = append(columns, col)
	}
	whole := tabular.Of(columns)
	part := func(names ...string) *tabular.Table {
		var at []int
		for _, name := range names {
			k, err := whole.Index(name)
			require.NoError(t, err)
			at = append(at, k)
		}
		return whole.Only(at, names)
	}
	save := func(file string, x *tabular.Table) {
		var buf bytes.Buffer
		require.NoError(t, tables.Write(&buf, file, x, nil))
		b.write(file, buf.String())
	}
	stations := part("lat", "lon", "elevation", "t2m", "rain", "station", "day", "date", "east", "north", "pressure",
		"temperature", "wind", "u", "v")
	model := curveConfig()
	switch path {
	case "regress":
		stations = part("lat", "lon", "y")
	case "complete":
		model = imageConfig("T(2)", 1)
	case "predict":
		b.save("m.safetensors", pointConfig(2, 2))
	case "stations":
		b.save("m.safetensors", pointConfig(2, 1))
	case "eval":
		b.save("photos.safetensors", imageConfig("T(2)", 1))
		b.save("t2.safetensors", imageConfig("T(2)", 1))
	}
	b.save("model.safetensors", model)
	if path == "calibrate" {
		b.save("stations.safetensors", curveConfig())
		b.save("t2.safetensors", imageConfig("T(2)", 1))
	}
	save("stations.csv", stations)
	save("stations.parquet", stations)
	planeTable(b)
	dayTables(b)
	save("days.csv", part("east", "north", "rain", "day"))
	save("data.csv", part("x", "y", "time", "temperature"))
	save("lastyear.csv", part("x", "y"))
	save("thisyear.csv", part("x", "y"))
	save("places.csv", part("lat", "lon"))
	for _, name := range []string{"targets.csv", "t.csv"} {
		b.write(name, "x\n-1\n0\n0.5\n")
	}
	b.tensors("tasks.safetensors", b.waveTensors()...)
	b.tensors("more.safetensors", b.waveTensors()...)
	pixels, mask := make([]float32, 256), make([]float32, 256)
	for i := range pixels {
		pixels[i], mask[i] = float32(i%5)/4, float32(i%2)
	}
	for _, name := range []string{"images.safetensors", "a.safetensors", "b.safetensors", "c.safetensors"} {
		b.tensors(name, safetensors.FromFloat32s("image", []int{1, 1, 16, 16}, pixels),
			safetensors.FromFloat32s("mask", []int{1, 16, 16}, mask))
	}
	b.array("map.npy", []int{16, 16}, pixels)
	b.write("photo.pgm", "P5\n16 16\n255\n"+strings.Repeat("\x40\x80", 128))
	b.write("files.txt", "images.safetensors\na.safetensors\nb.safetensors\nc.safetensors\n")
	runs := ""
	for seed := range 4 {
		runs += fmt.Sprintf("regression --kernel rbf --steps 1 --eval-every 0 --batch 2 --seed %d\n", seed)
	}
	b.write("runs.txt", runs)
	b.write("run.yaml", "task: regression\nkernel: rbf\nsteps: 1\nout: run.safetensors\n")
	require.NoError(t, os.MkdirAll(b.path("models"), 0o777))
	b.save("models/own.safetensors", curveConfig())
	if path == "merge" {
		b.write("tasks.txt", "tasks.safetensors\nmore.safetensors\n")
		b.write("tables.txt", "lastyear.csv\nthisyear.csv\n")
		b.ok("predict", "--model", "model.safetensors", "--manifest", "tasks.txt", "--out-dir", "predictions")
		b.ok("predict", "--model", "model.safetensors", "--manifest", "tables.txt", "--out-dir", "maps")
	}
}
