package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/simd"
)

// costCase is a model of untrained parameters whose steps and predictions are measured.
type costCase struct {
	name   string
	config cnp.Config
	batch  int
	// What a step is trained on, and of what one task is predicted.
	trained, predicted task.Source[float32]
}

// costCases are the groups, each with several numbers of lifts: images of 32 x 32 pixels by 32 channels, a step of 4;
// vector fields and charges in space as training has them, and stations on the sphere, a step of 4.
func costCases() (cases []costCase) {
	const side, batch = 32, 4
	digits := task.ImageSource[float32]{Pictures: task.Digits{H: side, W: side, Height: 24, Motions: task.Upright}, Rates: task.PaperRates}
	image := func(name, group string, lifts int, each bool) {
		c := cnp.Default(cnp.EquivCNPImage, group, 1)
		c.Channels, c.Lifts, c.ImageSize = []int{32}, lifts, [2]int{side, side}
		if each { // every lift sees as many others, however many there are
			c.Fill, c.BlockFill = c.Fill/float64(lifts), c.BlockFill/float64(lifts)
		}
		cases = append(cases, costCase{"image/" + name, c, batch, digits, digits})
	}
	image("T(2)", "T(2)", 1, false)
	image("SO(2)", "SO(2)", 1, false)
	image("RxSO(2)", "RxSO(2)", 1, false)
	for _, k := range []int{1, 4, 8} {
		image(fmt.Sprintf("SE(2)x%d", k), "SE(2)", k, true)
	}
	image("Sim(2)4x3", "Sim(2) at 3 scales", 12, true)
	image("Sim(2)12x4", "Sim(2) at 4 scales", 48, true)
	for _, k := range [][2]int{{4, 3}, {12, 4}} {
		c := cnp.Default(cnp.EquivCNPImage, fmt.Sprintf("Sim(2) at %d scales", k[1]), 1)
		v := cnp.DefaultViews()
		c.Views, c.Fill, c.BlockFill, c.RadiusRate = &v, 0.035, 0.0125, 0
		c.Channels, c.Lifts, c.ImageSize = []int{32}, k[0]*k[1], [2]int{side, side}
		seen := task.ViewSource[float32]{ImageSource: digits, Views: v, Angles: k[0], Scales: k[1], Side: side}
		cases = append(cases, costCase{fmt.Sprintf("views/Sim(2)%dx%d", k[0], k[1]), c, batch, seen, digits})
	}
	whole := cases[6] // Sim(2)4x3, as "train image" makes it of images of 64 x 64
	whole.name, whole.batch, whole.config.Channels, whole.config.ImageSize = "photo/Sim(2)4x3", 1, []int{128}, [2]int{2 * side, 2 * side}
	large := task.ImageSource[float32]{Pictures: task.TrainDigits(), Rates: task.PaperRates}
	whole.trained, whole.predicted = large, large
	cases = append(cases, whole)
	views := cases[8]
	views.name, views.config.ImageSize, views.predicted = "photo/views/Sim(2)4x3", [2]int{2 * side, 2 * side}, large
	cases = append(cases, views)
	levels := func(name, group string, lifts int, c cnp.Config, s task.Source[float32]) {
		c.Group, c.Lifts = group, lifts
		if lifts > 1 {
			name = fmt.Sprintf("%sx%d", name, lifts)
		}
		cases = append(cases, costCase{name, c, batch, s, s})
	}
	plane := cnp.DefaultLevels(4, 2, 2)
	plane.PointsPerUnit, plane.EncoderLength, plane.Channels = 2, 0.5, []int{32, 32, 48, 64}
	plane.Outputs, plane.Likelihood = []cnp.FieldType{cnp.Vector}, "full"
	fields := task.VectorSource[float32]{Kernel: task.VectorKernels[0], Targets: 100}
	levels("field/T(2)", "T(2)", 1, plane, fields)
	for _, k := range []int{1, 4, 8} {
		levels("field/SE(2)", "SE(2)", k, plane, fields)
	}
	for _, density := range []float64{10, 14, 20} { // lattices of 1257, 2463 and 5027 points
		globe := cnp.DefaultSphere(4, 1)
		globe.PointsPerUnit, globe.EncoderLength = density, 2/density
		levels(fmt.Sprintf("sphere/SO(3) at %g", density), "SO(3)", 1, globe,
			task.SphereSource[float32]{Process: task.SphereProcesses[0], Dx: 2})
	}
	space := cnp.DefaultLevels(2, 3, 3)
	space.PointsPerUnit, space.EncoderLength, space.Kernel, space.Channels = 1.5, 0.4, 3, []int{16, 24}
	space.Outputs, space.Likelihood = []cnp.FieldType{cnp.Vector}, "full"
	charges := task.ChargeSource[float32]{Kind: task.ChargeKinds[0]}
	levels("space/T(3)", "T(3)", 1, space, charges)
	for _, k := range []int{1, 2, 4, 12} {
		levels("space/SE(3)", "SE(3)", k, space, charges)
	}
	return cases
}

// costRow is a line of the table.
type costRow struct {
	Name             string
	Lifts, Pairs     int
	Points           int     // of a lattice on the sphere
	Step, Prediction float64 // seconds
	Bytes            float64 // peak memory of the process that did either
}

func costsCommand() *cobra.Command {
	var (
		one, only, out string
		times          int
		asJSON         bool
	)
	cmd := &cobra.Command{
		Use:   "costs",
		Short: "Time a training step and a prediction under every group, by number of lifts",
		Long: `Time a training step and a prediction of models under every group, each with several numbers of lifts, and say how many
pairs of elements a layer goes through and what the processes that did one or the other held in memory. Prints a
table in Markdown, or with --out writes it to
a file. Times are the shortest of several, after a first one.`,
		Example: "  go run ./bench costs --out bench/results/costs.md\n  go run ./bench costs --only field",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if one != "" {
				return costsOf(cmd, only, one, times)
			}
			if err := errors.Join(within("times", times, mostTimes), writable(out)); err != nil {
				return err
			}
			return tableOfCosts(cmd, only, out, times, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "only", "", "cases that start with this")
	f.StringVarP(&out, "out", "o", "", "file for the table (default: standard output)")
	f.IntVar(&times, "times", 5, "steps and predictions after the first; the fastest counts")
	f.BoolVar(&asJSON, "json", false, "print one object a line instead")
	f.StringVar(&one, "one", "", "measure step or prediction of the one case that --only names, in this process")
	must(f.MarkHidden("one"))
	return cmd
}

// costsOf measures one thing in this process.
func costsOf(cmd *cobra.Command, name, what string, times int) error {
	for _, c := range costCases() {
		if c.name != name {
			continue
		}
		row, err := c.measure(context.Background(), what, times)
		if err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(row)
	}
	return fmt.Errorf("no case %q", name)
}

// measure does a case's step or prediction several times.
func (c *costCase) measure(ctx context.Context, what string, times int) (row costRow, err error) {
	m, err := cnp.New[float32](c.config, 1)
	if err != nil {
		return row, err
	}
	row = costRow{Name: c.name, Lifts: c.config.Lifts}
	if c.config.OnSphere() {
		row.Points = c.config.SpherePoints()
	}
	if c.config.Views == nil && what != "step" {
		if c.config.Architecture == cnp.EquivCNPImage {
			p, err := m.Plan(ctx, cnp.Pixels(c.config.ImageSize[0], c.config.ImageSize[1]), cnp.PlanOptions{})
			if err != nil {
				return row, err
			}
			row.Pairs = p.Info().Pairs
		}
	}
	b, err := c.predicted.Batch(1, 1, 0)
	if err != nil {
		return row, err
	}
	predict, learner := eval.Model(m), cnp.Learner(m)
	least := math.Inf(1)
	for i := range times + 1 {
		once := train.DefaultConfig(1)
		once.Batch, once.EvalEvery, once.Seed = c.batch, 0, uint64(i)
		start := time.Now()
		if what != "step" {
			_, err = predict(ctx, b)
		} else if run, bad := train.NewRun(learner, c.trained, once, train.Options[float32]{}); bad == nil {
			start = time.Now()
			err = run.Train(ctx)
		} else {
			err = bad
		}
		if err != nil {
			return row, fmt.Errorf("%s: %w", c.name, err)
		}
		if i > 0 {
			least = min(least, time.Since(start).Seconds())
		}
	}
	row.Bytes, _ = peakMemory()
	row.Step = least
	if what != "step" {
		row.Step, row.Prediction = 0, least
	}
	return row, nil
}

// tableOfCosts measures the cases that start with only, each in two processes of its own.
func tableOfCosts(cmd *cobra.Command, only, out string, times int, asJSON bool) error {
	var names []string
	for _, c := range costCases() {
		names = append(names, c.name)
	}
	some, err := chosen(names, only)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString(costsHead)
	for _, name := range some {
		var rows [2]costRow
		for i, what := range []string{"step", "prediction"} {
			child := exec.Command(self, "costs", "--one", what, "--only", name, "--times", fmt.Sprint(times))
			child.Stderr = os.Stderr
			text, err := child.Output()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := json.NewDecoder(bytes.NewReader(text)).Decode(&rows[i]); err != nil {
				return fmt.Errorf("%s: %q: %w", name, text, err)
			}
		}
		writeCosts(&table, rows[0], rows[1])
		fmt.Fprintln(os.Stderr, name, "done")
		if asJSON {
			r := report{w: cmd.OutOrStdout(), json: true}
			for _, s := range []sample{{name + "/step", rows[0].Lifts, "s_per_step", rows[0].Step},
				{name + "/step", rows[0].Lifts, "peak_bytes", rows[0].Bytes},
				{name + "/prediction", rows[0].Lifts, "s_per_task", rows[1].Prediction},
				{name + "/prediction", rows[0].Lifts, "peak_bytes", rows[1].Bytes}} {
				if err := r.add(s); err != nil {
					return err
				}
			}
		}
	}
	fmt.Fprintf(&table, "\n## Made by\n\n    go run ./bench costs --times %d%s\n\n%s, kernels %v, %d threads.\n", times,
		map[bool]string{true: " --only " + only}[only != ""],
		runtime.Version(), simd.CurrentLevel(), runtime.GOMAXPROCS(0))
	switch {
	case asJSON:
		return nil
	case out != "":
		_, coordinates, err := costParts(out)
		if err != nil {
			return err
		}
		if len(coordinates) > 0 {
			table.WriteByte('\n')
		}
		return os.WriteFile(out, append([]byte(table.String()), coordinates...), 0o644)
	}
	_, err = cmd.OutOrStdout().Write([]byte(table.String()))
	return err
}

// costsHead begins the table.
const costsHead = `# What groups and lifts cost

Seconds of a training step of four tasks (the forward and the backward pass and Adam; the tasks are drawn in it) and
of a prediction of one task, after the first one, which searches neighbourhoods or lays lattices; and the peak memory
of the process that did the one or the other, all of it. Images have 32 x 32 pixels and models of them 32 channels;
pairs are those of one of their layers. A photo has 64 x 64 pixels, its model under Sim(2) 128 channels (a step of
one), its views 32. Fields are vectors in the plane (648 points, two lattice points a unit), the sphere has stations
at latitudes and longitudes, space has charges; these go through a lattice for every lift, so that their pairs grow
with the lifts. Under SE(2) and Sim(2) every lift of an image sees as many others, however many there are. Where cost
grows with pairs, what is said of one of them, of a lift, or on the sphere of a point of the lattice, stays the same
from row to row.

| model | lifts | pairs | step | of one | memory | prediction | of one | memory |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
`

// writeCosts writes a line of the table.
func writeCosts(w io.Writer, step, prediction costRow) {
	lifts, pairs := max(1, step.Lifts), ""
	each := func(seconds float64) string { return fmt.Sprintf("%.3g s a lift", seconds/float64(lifts)) }
	switch {
	case prediction.Points > 0:
		pairs = fmt.Sprintf("%d points", prediction.Points)
		each = func(seconds float64) string {
			return fmt.Sprintf("%.3g µs a point", 1e6*seconds/float64(prediction.Points))
		}
	case prediction.Pairs > 0:
		pairs = fmt.Sprint(prediction.Pairs)
		each = func(seconds float64) string {
			return fmt.Sprintf("%.3g ns a pair", 1e9*seconds/float64(prediction.Pairs))
		}
	}
	trained := each(step.Step)
	if strings.Contains(step.Name, "views/") {
		trained = "one view an image"
	}
	fmt.Fprintf(w, "| %s | %d | %s | %.3g s | %s | %.0f MB | %.3g s | %s | %.0f MB |\n", step.Name, lifts, pairs, step.Step,
		trained, step.Bytes/1e6,
		prediction.Prediction, each(prediction.Prediction), prediction.Bytes/1e6)
}
