package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// dataFlags are the flags of bench data.
type dataFlags struct {
	json             bool
	rows, side, wide int
	times            int
	program, out     string
	beam             string
	role, file       string
	only             string
}

func dataCommand() *cobra.Command {
	var f dataFlags
	cmd := &cobra.Command{
		Use:   "data",
		Short: "What data cost: rows and pixels a second, read and predicted, for every format",
		Long: `Write the same tasks in every format, and measure how fast they are read, and how fast the program predicts them from
one file into another of that format, on one and two cores. A row is a point of a task that is context and target, of two
coordinates' worth of numbers: its place and its value. Rasters are read line by line, and completed by digits-T2-small at
1024 x 1024 and at --wide columns. The program is built from this repository unless --program names it.`,
		Example: "  go run ./bench data --out bench/results/data.md\n  go run ./bench data --rows 20000 --only csv --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: f.json}
			if f.role == "read" {
				return readData(r, f.file, f.times)
			}
			return f.run(cmd.Context(), r)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print one object a line")
	fl.IntVar(&f.rows, "rows", 200_000, "rows of the tables, a hundred a task")
	fl.IntVar(&f.side, "side", 4096, "pixels along a side of the rasters that are read")
	fl.IntVar(&f.wide, "wide", 20_000, "columns of the wide raster, which has 256 lines")
	fl.IntVar(&f.times, "times", 3, "runs of each, of which the fastest counts")
	fl.StringVar(&f.program, "program", "", "the program, equivcnp (default: built here)")
	fl.StringVar(&f.beam, "beam", "", "the Beam pipeline's program, to be compared with predict --manifest (default: not measured)")
	fl.StringVar(&f.out, "out", "", "file of the results, Markdown")
	fl.StringVar(&f.only, "only", "", "formats that start with this")
	fl.StringVar(&f.role, "role", "", "")
	fl.StringVar(&f.file, "file", "", "")
	must(fl.MarkHidden("role"))
	must(fl.MarkHidden("file"))
	return cmd
}

// dataLine is a line of the table: rows or pixels a second, and bytes.
type dataLine struct {
	format        string
	items         int
	bytes         int64
	read, predict [2]float64 // seconds on one and two cores
}

func (f *dataFlags) run(ctx context.Context, r *report) error {
	if err := errors.Join(within("rows", f.rows, 1<<24), within("side", f.side, 1<<14), within("wide", f.wide, 1<<16),
		within("times", f.times, 100), writable(f.out)); err != nil {
		return err
	}
	for _, p := range []struct{ flag, path string }{{"program", f.program}, {"beam", f.beam}} {
		if p.path == "" {
			continue
		}
		if _, err := exec.LookPath(p.path); err != nil {
			return fmt.Errorf("--%s %s: %w", p.flag, p.path, err)
		}
	}
	dir, err := os.MkdirTemp("", "bench-data-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if f.program == "" {
		f.program = filepath.Join(dir, "equivcnp")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", f.program,
			"github.com/equivcnp/equivcnp/cmd/equivcnp").CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var lines []dataLine
	rows, err := f.tables(dir)
	if err != nil {
		return err
	}
	pixels, err := f.rasters(dir)
	if err != nil {
		return err
	}
	files := append(rows, pixels...)
	if files = slices.DeleteFunc(files, func(l dataLine) bool { return !strings.HasPrefix(l.format, f.only) }); len(files) == 0 {
		return fmt.Errorf("--only %s: no format starts so", f.only)
	}
	for _, l := range files {
		if err := f.formatTimes(ctx, &l, self, dir); err != nil {
			return err
		}
		lines = append(lines, l)
		for i, n := range []int{1, 2} {
			if l.read[i] > 0 {
				if err := r.add(sample{fmt.Sprintf("read/%s/cores%d", l.format, n), l.items, "items_per_s",
					float64(l.items) / l.read[i]}); err != nil {
					return err
				}
			}
			if l.predict[i] > 0 {
				if err := r.add(sample{fmt.Sprintf("predict/%s/cores%d", l.format, n), l.items, "items_per_s",
					float64(l.items) / l.predict[i]}); err != nil {
					return err
				}
			}
		}
	}
	var completed, beam []string
	if f.only == "" {
		if completed, err = f.complete(ctx, r, dir); err != nil {
			return err
		}
		if f.beam != "" {
			if beam, err = f.pipeline(ctx, r, dir); err != nil {
				return err
			}
		}
	}
	if f.out == "" {
		return nil
	}
	return os.WriteFile(f.out, f.page(lines, completed, beam), 0o666)
}

// formatTimes measures, on one core and on two, how long a format's file takes to read, and of rows to predict from.
func (f *dataFlags) formatTimes(ctx context.Context, l *dataLine, self, dir string) (err error) {
	path := filepath.Join(dir, "in."+l.format)
	for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
		if l.read[cores-1], err = f.timed(ctx, cores, self, "data", "--role", "read", "--json", "--times",
			fmt.Sprint(f.times), "--file", path); err != nil {
			return err
		}
		if strings.HasPrefix(l.format, "raster") {
			continue
		}
		args := []string{"predict", "--model", "rbf-equivcnp", "--in", path, "--out", filepath.Join(dir, "out."+l.format),
			"--json", "--quiet"}
		if l.format != "safetensors" {
			args = append(args, "--task", "task", "--x", "x", "--y", "y")
		}
		if l.predict[cores-1], err = f.timed(ctx, cores, f.program, args...); err != nil {
			return err
		}
	}
	return nil
}

// timed is the seconds of the fastest run of a program on some cores: what it says itself, if it prints a sample, else its whole time.
func (f *dataFlags) timed(ctx context.Context, cores int, program string, args ...string) (float64, error) {
	best := math.Inf(1)
	for range f.times {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
		var said, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &errs
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errs.String())
		}
		took := time.Since(start).Seconds()
		var own sample
		if json.Unmarshal(said.Bytes(), &own) == nil && own.Metric == "s" {
			return own.Value, nil // it has repeated it
		}
		best = min(best, took)
	}
	return best, nil
}

// tables writes the tasks in every format: f.rows points, a hundred a task.
func (f *dataFlags) tables(dir string) ([]dataLine, error) {
	const each = 100
	n := max(1, f.rows/each) * each
	rng := peerSeed
	task, x, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		task[i], x[i] = float64(i/each), 2*float64(rng.float())
		y[i] = float64(float32(math.Sin(3*x[i] + float64(i/each))))
	}
	table := tabular.Of([]tabular.Column{{Name: "task", Values: task}, {Name: "x", Values: x}, {Name: "y", Values: y, Single: true}})
	values := make([]float32, n)
	for i, v := range y {
		values[i] = float32(v)
	}
	shape := []int{n / each, each, 1}
	tensors := []safetensors.Tensor{safetensors.FromFloat64s("x_context", shape, x), safetensors.FromFloat32s("y_context", shape,
		values), safetensors.FromFloat64s("x_target", shape, x)}
	var out []dataLine
	for _, format := range []string{"csv", "tsv", "parquet", "npz", "nc", "safetensors"} {
		size, err := create(filepath.Join(dir, "in."+format), func(w io.Writer) error {
			if format == "safetensors" {
				return taskfile.Write(w, "in.safetensors", tensors)
			}
			return tables.Write(w, "in."+format, table, []int{1})
		})
		if err != nil {
			return nil, err
		}
		out = append(out, dataLine{format: format, items: n, bytes: size})
	}
	return out, nil
}

// create writes a file and says how long it is.
func create(path string, write func(w io.Writer) error) (int64, error) {
	w, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(write(w), w.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// rasters writes a raster in every format that holds one.
func (f *dataFlags) rasters(dir string) ([]dataLine, error) {
	var out []dataLine
	for _, ending := range []string{"npy", "tif", "png", "pgm"} {
		format := "raster." + ending
		path := filepath.Join(dir, "in."+format)
		if err := writeRaster(path, f.side, f.side); err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		out = append(out, dataLine{format: format, items: f.side * f.side, bytes: info.Size()})
	}
	return out, nil
}

// writeRaster writes a picture that is neither flat nor noise.
func writeRaster(path string, h, w int) error {
	s, err := raster.OpenStripWriter(path+".partial", path, 1, h, w, nil)
	if err != nil {
		return err
	}
	row := make([]float32, w)
	for y := range h {
		for x := range row {
			row[x] = float32(x*y%997) / 997
		}
		if err := s.Write(row, y, 0, 1, w); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return errors.Join(s.Close(), raster.FinishStrips(path+".partial", path))
}

// readData prints the seconds that the fastest of some readings of a file takes.
func readData(r *report, path string, times int) error {
	best, items := math.Inf(1), 0
	for range times {
		start := time.Now()
		n, err := readOnce(path)
		if err != nil {
			return err
		}
		best, items = min(best, time.Since(start).Seconds()), n
	}
	return r.add(sample{filepath.Base(path), items, "s", best})
}

func readOnce(path string) (items int, err error) {
	switch {
	case strings.HasPrefix(filepath.Base(path), "in.raster"):
		s, err := raster.OpenStrips(path, 1)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		row := make([]float32, s.W)
		for y := range s.H {
			if err := s.Line(row, 0, y, 0); err != nil {
				return 0, err
			}
		}
		return s.H * s.W, nil
	case filepath.Ext(path) == ".safetensors":
		f, err := taskfile.Open(path)
		if err != nil {
			return 0, err
		}
		c, err := f.Curves(&cnp.Config{Architecture: cnp.EquivCNPCurve, DimX: 1, DimY: 1})
		if err != nil {
			return 0, err
		}
		return len(c.Batch.YContext), nil
	}
	t, err := tables.ReadFile(path, []string{"task", "x", "y"})
	if err != nil {
		return 0, err
	}
	return t.Rows(), nil
}

// complete measures rasters of 1024 x 1024 and of many columns: the wide one's time per pixel must not be much more.
func (f *dataFlags) complete(ctx context.Context, r *report, dir string) (text []string, err error) {
	var each [2][2]float64
	for i, size := range [2][2]int{{1024, 1024}, {256, f.wide}} {
		path := filepath.Join(dir, fmt.Sprintf("map%d.npy", i))
		if err := writeRaster(path, size[0], size[1]); err != nil {
			return nil, err
		}
		for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
			took, err := f.timed(ctx, cores, f.program, "raster", "--model", "digits-T2-small", "--in", path, "--rate", "0.3",
				"--out", filepath.Join(dir, "mean.npy"), "--quiet")
			if err != nil {
				return nil, err
			}
			n := size[0] * size[1]
			each[i][cores-1] = took / float64(n)
			if err := r.add(sample{fmt.Sprintf("raster/%dx%d/cores%d", size[1], size[0], cores), n, "ns_per_pixel",
				1e9 * took / float64(n)}); err != nil {
				return nil, err
			}
			text = append(text, fmt.Sprintf("| %d x %d | %d | %.0f | %.2f |", size[1], size[0], cores, 1e9*each[i][cores-1],
				each[i][cores-1]/each[0][cores-1]))
		}
	}
	return text, nil
}

// pipeline compares the Beam pipeline with predict --manifest on the same files of images.
func (f *dataFlags) pipeline(ctx context.Context, r *report, dir string) (text []string, err error) {
	const files, side = 16, 28
	list, images := "", 64
	for k := range files {
		rng := peerSeed + splitmix(k)
		pixels, mask := make([]float32, images*side*side), make([]byte, images*side*side)
		for i := range pixels {
			if pixels[i] = (rng.float() + 1) / 2; rng.next()%3 == 0 {
				mask[i] = 1
			}
		}
		name := fmt.Sprintf("images%02d.safetensors", k)
		if _, err := create(filepath.Join(dir, name), func(w io.Writer) error {
			return taskfile.Write(w, name, []safetensors.Tensor{safetensors.FromFloat32s("image", []int{images, 1, side, side},
				pixels), {Name: "mask", DType: safetensors.Bool, Shape: []int{images, side, side}, Data: mask}})
		}); err != nil {
			return nil, err
		}
		list += name + "\n"
	}
	manifest := filepath.Join(dir, "list")
	if err := os.WriteFile(manifest, []byte(list), 0o666); err != nil {
		return nil, err
	}
	cores := min(2, runtime.NumCPU())
	for _, model := range []string{"digits-T2-small", "digits-T2"} {
		var took [2]float64
		for i, name := range []string{"predict", "beam"} {
			took[i] = math.Inf(1)
			for k := range f.times {
				out := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", name, model, k))
				program, args := f.program, []string{"predict", "--model", model, "--manifest", manifest, "--out-dir", out, "--quiet"}
				if name == "beam" {
					program, args = f.beam, []string{"--model", model, "--manifest", manifest, "--out_dir", out, "--shards", "2"}
				}
				one := *f
				one.times = 1
				s, err := one.timed(ctx, cores, program, args...)
				if err != nil {
					return nil, err
				}
				took[i] = min(took[i], s)
			}
			if err := r.add(sample{fmt.Sprintf("%s/%s/cores%d", name, model, cores), files * images, "images_per_s",
				float64(files*images) / took[i]}); err != nil {
				return nil, err
			}
		}
		n := float64(files * images)
		hours := func(s float64) float64 { return s * float64(cores) / n * 1e9 / 3600 }
		text = append(text, fmt.Sprintf("| %s | %.0f | %.0f | %.2f | %.3g | %.3g |", model, n/took[0], n/took[1], took[0]/took[1],
			hours(took[0]), hours(took[1])))
	}
	return text, nil
}

// page is the results as Markdown.
func (f *dataFlags) page(lines []dataLine, completed, beam []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What data cost\n\n`go run ./bench data --rows %d --side %d --wide %d --times %d`, on an %s, %s, Go %s, %s.\n",
		f.rows, f.side, f.wide, f.times,
		cmp.Or(strings.TrimSpace(cpuid.CPU.BrandName), "unknown processor"), runtime.GOOS+"/"+runtime.GOARCH,
		strings.TrimPrefix(runtime.Version(), "go"), time.Now().UTC().Format("2006-01-02"))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil { // of the last minute: this one took longer
		fmt.Fprintf(&b, "At the end %s processes were running or waiting (this one counts as one or two; more make it slower).\n",
			strings.Fields(string(load))[0])
	}
	fmt.Fprintf(&b, "The fastest of %d runs each. Read: by the library, from a file that the system holds in memory. "+
		"Predicted: the whole program, from its start to its end,\nby `rbf-equivcnp`, "+
		"every row context and target, into a file of the same format.\n", f.times)
	per := func(n int, s float64) string {
		if s == 0 {
			return ""
		}
		return fmt.Sprintf("%.3g", float64(n)/s)
	}
	table := func(title, item string, raster bool) {
		fmt.Fprintf(&b, "\n| %s | bytes a %s | read, 1 core: %ss/s | GB/s | 2 cores: %ss/s |", title, item, item, item)
		if !raster {
			fmt.Fprintf(&b, " predicted, 1 core: %ss/s | 2 cores: %ss/s |", item, item)
		}
		fmt.Fprintf(&b, "\n|---|---|---|---|---|")
		if !raster {
			fmt.Fprintf(&b, "---|---|")
		}
		fmt.Fprintln(&b)
		for _, l := range lines {
			if strings.HasPrefix(l.format, "raster") != raster {
				continue
			}
			fmt.Fprintf(&b, "| %s | %.1f | %s | %.2g | %s |", strings.TrimPrefix(l.format, "raster."),
				float64(l.bytes)/float64(l.items), per(l.items, l.read[0]), float64(l.bytes)/max(l.read[0], 1e-9)/1e9,
				per(l.items, l.read[1]))
			if !raster {
				fmt.Fprintf(&b, " %s | %s |", per(l.items, l.predict[0]), per(l.items, l.predict[1]))
			}
			fmt.Fprintln(&b)
		}
	}
	table("tables and tensors", "row", false)
	table("rasters, line by line", "pixel", true)
	if completed != nil {
		fmt.Fprintf(&b, "\n`raster` with `digits-T2-small`, the whole program, a third of the pixels observed:\n\n| "+
			"raster | cores | ns a pixel | of 1024 x 1024 |\n|---|---|---|---|\n%s\n", strings.Join(completed, "\n"))
	}
	if beam != nil {
		fmt.Fprintf(&b, "\n1,024 images of 28 x 28 pixels in 16 files, whole programs on %d cores:\n\n| model | `predict --manifest`: "+
			"images/s | Beam (Prism): images/s | of predict | core hours for 10⁹ images: predict | Beam |\n|---|---|---|---|---|---|\n%s\n",
			min(2, runtime.NumCPU()), strings.Join(beam, "\n"))
	}
	return b.Bytes()
}
