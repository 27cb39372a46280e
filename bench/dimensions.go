package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// dimensionCase is a model of untrained parameters for points of dx coordinates.
type dimensionCase struct {
	name   string
	dx     int
	config cnp.Config
}

// dimensionCases are models with levels, which take up to three coordinates, and models whose features stand at the context points.
func dimensionCases() (cases []dimensionCase) {
	for dx := 1; dx <= 3; dx++ {
		c := cnp.DefaultLevels(3, dx, 1)
		c.PointsPerUnit, c.Kernel, c.Channels = []float64{16, 2, 1}[dx-1], []int{9, 5, 3}[dx-1], []int{32, 32, 32}
		c.EncoderLength = 1 / c.PointsPerUnit
		cases = append(cases, dimensionCase{fmt.Sprintf("levels/%d", dx), dx, c})
	}
	for _, dx := range []int{1, 2, 3, 5} {
		c := cnp.Default(cnp.EquivCNPCurve, fmt.Sprintf("T(%d)", dx), 1)
		c.PointsPerUnit, c.Fill, c.Placement = 0, 0.5, cnp.PlacementBatch
		cases = append(cases, dimensionCase{fmt.Sprintf("points/%d", dx), dx, c})
	}
	return cases
}

// dimensionRow is a line of the table: milliseconds of processor time, less than 0 where a model has no such thing.
type dimensionRow struct {
	Name  string
	Times []float64 // of dimensionColumns
	Bytes float64   // peak memory of the process
}

var dimensionColumns = []string{"predict", "forward", "backward", "plan", "planned", "request", "chain"}

// dimensionPoints is how many context points and targets a task has, dimensionBatch how many tasks a step has.
const dimensionPoints, dimensionBatch = 20, 4

// dimensionsMark begins the part of the file of costs that this command writes.
const dimensionsMark = "# What coordinates cost\n"

func dimensionsCommand() *cobra.Command {
	var (
		one, out string
		times    int
	)
	cmd := &cobra.Command{
		Use:   "dimensions",
		Short: "Processor time of predictions, gradients, plans and requests, by number of coordinates",
		Long: `Measure models for 1, 2, 3 and 5 coordinates, each in a process of its own: a prediction, both
halves of a training step, a plan, a prediction by it, a request to a server and the chain rule. Prints a table in
Markdown, or with --out puts it into a file of "bench costs", in the place of an earlier one.`,
		Example: "  go run ./bench dimensions --out bench/results/costs.md",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := within("times", times, mostTimes); err != nil {
				return err
			}
			if one != "" {
				row, err := measureDimension(cmd.Context(), one, times)
				if err != nil {
					return err
				}
				return json.NewEncoder(cmd.OutOrStdout()).Encode(row)
			}
			if err := writable(out); err != nil {
				return err
			}
			return tableOfDimensions(cmd, out, times)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "file for the table (default: standard output)")
	f.IntVar(&times, "times", 5, "measurements after a first one; the smallest counts")
	f.StringVar(&one, "one", "", "measure this case, in this process")
	must(f.MarkHidden("one"))
	return cmd
}

// measureDimension measures a case.
func measureDimension(ctx context.Context, name string, times int) (row dimensionRow, err error) {
	cases := dimensionCases()
	i := slices.IndexFunc(cases, func(c dimensionCase) bool { return c.name == name })
	if i < 0 {
		return row, fmt.Errorf("no case %q", name)
	}
	c := &cases[i]
	row.Name = c.name
	made, err := cnp.New[float32](c.config, 1)
	if err != nil {
		return row, err
	}
	m := made.(cnp.TrainableRegressor[float32])
	src := task.RCNPSource[float32]{Process: "eq", Dx: c.dx}
	drawn, err := src.Batch(dimensionBatch, 1, 0)
	if err != nil {
		return row, err
	}
	batch, y := dimensionTasks(drawn, c.dx, dimensionBatch)
	single, y1 := dimensionTasks(drawn, c.dx, 1)

	add := func(f func() error) {
		var least float64
		if err == nil {
			least, err = leastProcessorTime(times, f)
		}
		row.Times = append(row.Times, 1e3*least)
	}
	add(func() error { _, err := m.Predict(ctx, single); return err })
	var pass *cnp.Pass[float32]
	add(func() (err error) { pass, err = m.Differentiate(ctx, batch, layers.Train); return err })
	grads, ones := layers.NewGrads(m.State()), slices.Repeat([]float32{1}, len(y))
	add(func() error { pass.Backward(ones, ones, grads); return nil })
	var plan cnp.Plan[float32]
	if plan, err = m.Plan(ctx, cnp.Scattered(), cnp.PlanOptions{}); errors.Is(err, cnp.ErrNoPlan) {
		row.Times, err = append(row.Times, -1, -1), nil // JSON has no NaN
	} else if err == nil {
		add(func() error { _, err := m.Plan(ctx, cnp.Scattered(), cnp.PlanOptions{}); return err })
		out := plan.NewPrediction(single)
		add(func() error { return plan.Predict(ctx, out, single) })
	}
	if err != nil {
		return row, err
	}
	err = withServer(ctx, m, func(remote *client.Client) error {
		add(func() error { _, err := remote.Predict(ctx, dimensionModel, single, c.dx, 1); return err })
		return err
	})
	add(func() error { _, err := cnp.JointCurves(ctx, m, single, y1, cnp.Chain{}); return err })
	row.Bytes, _ = peakMemory()
	return row, err
}

// dimensionTasks takes the first points of the first tasks of a batch.
func dimensionTasks(drawn *task.Tasks[float32], dx, tasks int) (*cnp.Batch[float32], []float32) {
	const n = dimensionPoints
	from := drawn.Curves
	b, y := &cnp.Batch[float32]{B: tasks, Nc: n, Nt: n}, []float32(nil)
	for t := range tasks {
		// Contexts of a batch may be small; targets are many, and stand for both.
		x, values := from.XTarget[t*from.Nt*dx:], drawn.Y[t*from.Nt:]
		b.XContext, b.XTarget = append(b.XContext, x[:n*dx]...), append(b.XTarget, x[n*dx:2*n*dx]...)
		b.YContext, y = append(b.YContext, values[:n]...), append(y, values[n:2*n]...)
	}
	return b, y
}

// leastProcessorTime is the least processor time of f in seconds, in several measurements of about 20 ms each.
func leastProcessorTime(times int, f func() error) (float64, error) {
	const lasts = 20 * time.Millisecond
	calls, least := 1, math.Inf(1)
	for done := 0; done <= times; {
		start := processTime()
		for range calls {
			if err := f(); err != nil {
				return 0, err
			}
		}
		d := processTime() - start
		if done == 0 && d < lasts && calls < 1<<16 {
			calls *= 2
			continue
		}
		if done > 0 {
			least = min(least, d.Seconds()/float64(calls))
		}
		done++
	}
	return least, nil
}

// dimensionModel is the model's name in the server.
const dimensionModel = "model"

// withServer calls f with a client of a server in this process that has the model.
func withServer(ctx context.Context, m cnp.Model[float32], f func(*client.Client) error) error {
	c, stop, err := startHere(ctx, m)
	if err != nil {
		return err
	}
	err = f(c)
	return errors.Join(err, stop())
}

// startHere starts a server in this process that has the model, named dimensionModel.
func startHere(ctx context.Context, m cnp.Model[float32]) (c *client.Client, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "equivcnp-bench")
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, dimensionModel+".safetensors")
	if err := weights.Save(path, m, nil); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: dimensionModel, Path: path}}})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Close()
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, serve.Limits{}) }()
	return client.New("http://"+l.Addr().String(), client.Options{}), func() error {
		defer s.Close()
		cancel()
		return errors.Join(<-ended, os.RemoveAll(dir))
	}, nil
}

// tableOfDimensions measures all cases, each in a process of its own.
func tableOfDimensions(cmd *cobra.Command, out string, times int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var table strings.Builder
	fmt.Fprintf(&table, dimensionsHead, dimensionsMark, dimensionPoints, dimensionPoints, dimensionBatch)
	for _, c := range dimensionCases() {
		child := exec.Command(self, "dimensions", "--one", c.name, "--times", fmt.Sprint(times))
		child.Stderr = os.Stderr
		text, err := child.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		var row dimensionRow
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&row); err != nil {
			return fmt.Errorf("%s: %q: %w", c.name, text, err)
		}
		row.write(&table)
		fmt.Fprintln(os.Stderr, c.name, "done")
	}
	fmt.Fprintf(&table, "\n## Coordinates made by\n\n    go run ./bench dimensions --times %d\n\n%s, kernels %v, %d threads.\n", times,
		runtime.Version(), simd.CurrentLevel(), runtime.GOMAXPROCS(0))
	if out == "" {
		_, err = cmd.OutOrStdout().Write([]byte(table.String()))
		return err
	}
	before, _, err := costParts(out)
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(before, table.String()...), 0o644)
}

// costParts returns the two parts of a file of costs: by group, and by number of coordinates. A file that is not there has neither.
func costParts(path string) (groups, coordinates []byte, err error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if i := bytes.Index(b, []byte(dimensionsMark)); i >= 0 {
		return b[:i], b[i:], nil
	}
	if len(b) > 0 {
		b = append(b, '\n')
	}
	return b, nil, nil
}

// dimensionsHead begins the table.
const dimensionsHead = `%s
Milliseconds of processor time, of all threads together, by number of coordinates: of the prediction of a task of %d context points and
%d targets, of both halves of a training step of %d such tasks, of a plan, of a prediction by it, of a request to a server in the same
process, client included, and of the chain rule, target by target. Memory is the peak of the process that did all of these. Models
with levels have three lattices of 16, 2 and 1 points per unit and 32 channels; models of points are the paper's
network with features at the context, which have no plan.

| model, coordinates | predict | forward | backward | plan | planned | request | chain rule | memory |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
`

// write writes a line of the table.
func (r *dimensionRow) write(table *strings.Builder) {
	kind, dx, _ := strings.Cut(r.Name, "/")
	fmt.Fprintf(table, "| %s, %s |", kind, dx)
	for _, t := range r.Times {
		if t < 0 {
			table.WriteString(" none |")
			continue
		}
		fmt.Fprintf(table, " %.3g |", t)
	}
	fmt.Fprintf(table, " %.0f MB |\n", r.Bytes/1e6)
}
