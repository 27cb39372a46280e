package reproduce

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// rcnp makes the table of the relational neural processes.
func (p *reproduction) rcnp() error {
	t := &livingTable{title: "RCNP: 2, 3 and 5 coordinates",
		text: "The synthetic tasks of Huang et al. (2023), tables S3 to S6, on [-2, 2] along each coordinate (see docs/benchmarks.md). " +
			"Of eq, matern and weakly-periodic the Kullback-Leibler divergence to the process per target, less is better; " +
			"of sawtooth the log-likelihood per target. " +
			"A population is estimated from some tasks of the same source by package cnp/krige; it knows nothing else of the process. " +
			"Of waves without noise its densities are bounded by the resolution of the waveform alone. " +
			"Published are the best rows, which differ from cell to cell; they are means of ten trainings, to two digits.",
		published: []livingRow{
			{"best independent model", []float64{.22, .26, .20, 3.66, .31, .32, .28, .85, .35, .29, .31, .44}},
			{"best joint (low rank) model", []float64{.01, .01, .02, 4.11, .05, .05, .05, 1.09, .11, .11, .08, 1.13}},
			{"trivial: the context's mean and deviation", []float64{1.13, 1.06, .81, -.19, 1.12, .98, .80, -.19, 1.03, .79, .77, -.18}},
		}}
	for _, dx := range []int{2, 3, 5} {
		for _, process := range task.BenchmarkProcesses[:4] {
			src := task.RCNPSource[float32]{Process: process, Dx: dx}
			c := livingColumn{name: fmt.Sprintf("%s, d = %d", process, dx), src: src, trained: []string{src.String()}, training: src,
				tables: tableKind{Options: krige.Options{Dim: dx}}}
			if src.Gaussian() {
				c.process = exactDensity(src)
			}
			t.columns = append(t.columns, c)
		}
	}
	return p.living(t)
}

// predPrey makes the table of predator and prey.
func (p *reproduction) predPrey() error {
	t := &livingTable{title: "Predator and prey",
		text: "Log-likelihood per target, more is better. S: simulated; R: the series of hares and lynxes, which a user brings " +
			"with --data. " +
			"Interpolation and populations are package cnp/krige, which predicts each species from its own values: fitted to every task, " +
			"or estimated from the logarithms of the values of some simulated tasks. " +
			"Published are the rows of Huang et al. (2023), table S9: independent models, " +
			"and joint ones of low rank with 64 basis functions.",
		published: []livingRow{
			{"ConvCNP", []float64{-3.47, -4.85, -4.06, -4.21, -5.01, -4.75}},
			{"ACNP", []float64{-4.04, -4.87, -4.36, -4.18, -4.79, -4.48}},
			{"RCNP", []float64{-3.57, -4.85, -4.20, -4.24, -4.83, -4.55}},
			{"ConvGNP", []float64{-3.46, -4.15, -3.66, -4.20, -4.57, -4.64}}, {"AGNP", []float64{-4.06, -4.16, -3.95, -4.34, -4.41, -4.30}},
			{"RGNP", []float64{-3.54, -4.15, -3.75, -4.30, -4.44, -4.38}},
		}}
	all := task.PredPreySource[float32]{}
	column := livingColumn{trained: []string{all.String()}, training: all,
		tables: tableKind{Options: krige.Options{Dim: 1}, outputs: 2, positive: true}}
	add := func(name string, src task.Source[float32], batch, fits int, data string) {
		c := column
		c.name, c.src, c.batch, c.fits, c.data = name, src, batch, fits, data
		t.columns = append(t.columns, c)
	}
	const fits = 64 // of series of 150 to 250 values, which take seconds
	for _, mode := range task.PredPreyModes[:3] {
		add(mode+" (S)", task.PredPreySource[float32]{Mode: mode}, 0, fits, "")
	}
	if p.Data == "" {
		p.note("no series of hares and lynxes: --data names a table of yours")
		for i := range t.published {
			t.published[i].cells = t.published[i].cells[:3]
		}
		return p.living(t)
	}
	table, err := tables.ReadFile(p.Data, nil)
	if err != nil {
		return err
	}
	set, err := task.CurvesOfTable(table, task.CSVOptions{Dx: 1, Dy: 2})
	if err != nil {
		return err
	}
	for _, mode := range task.PredPreyModes[:3] {
		src, err := task.NewPredPreyData[float32](set, mode)
		if err != nil {
			return err
		}
		add(mode+" (R)", src, 1, 0, curveDigest(set))
	}
	return p.living(t)
}

// curveDigest tells a set of curves from others of its name.
func curveDigest(set *task.CurveSet) string {
	h := sha256.New()
	for _, c := range set.Curves {
		fmt.Fprintln(h, c.X, c.Y)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// jointContexts are the numbers of context points over which a cell of the joint table is the mean.
var jointContexts = []int{8, 16, 32, 64, 128}

// joint makes the table of joint likelihoods.
func (p *reproduction) joint() error {
	t := &livingTable{title: "Joint log-likelihoods",
		text: "Joint log-likelihood per target of Hassan et al. (2026), tables 1 and A1: the mean over 8, 16, 32, 64 and 128 " +
			"context points. " +
			"Published numbers average the density over 128 orders of the targets; ours take one order. " +
			"Context and targets are a random part of a Sobol sequence of 208 points and as many as there are targets (sawtooth: 144). " +
			"The process itself knows kernel, variance, length and noise. " +
			"The best that knows how tasks are drawn sees a context like a model, and integrates over what was drawn for a curve: " +
			"nothing beats it. " +
			"A population of Gaussian processes or of waves, whose joint density has no order, is estimated from some training " +
			"tasks by package " +
			"cnp/krige. " +
			"Blocks of the chain rule that grow with what is known take a few predictions for all targets.",
		growths: []float64{0.25, 0.4, 1},
		published: []livingRow{
			{"TNP-D by the chain rule", []float64{2.57, 3.29, 1.05, 1.14}},
			{"TNP-D with a buffer, the best", []float64{2.56, 3.29, 1.09, 1.16}},
			{"TNP-D, independent", []float64{2.22, 2.15, .94, .94}},
		}}
	for _, process := range task.JointProcesses {
		for _, targets := range []int{16, 128} {
			src := jointMean{process, targets}
			c := livingColumn{name: fmt.Sprintf("%s, M = %d", process, targets), src: src, batch: jointBatch,
				training: task.JointSource[float32]{Process: process}, tables: tableKind{Options: krige.Options{Dim: 1}},
				trained: []string{process + " of the joint benchmark"}}
			if process == "gp" {
				c.process = src.known(p.Seed)
			}
			t.columns = append(t.columns, c)
		}
	}
	return p.living(t)
}

// jointBatch is the number of tasks of a batch of a cell, which share their kernel: fewer than elsewhere, so that more kernels are seen.
const jointBatch = 4

// jointMean is the Source of the tasks of a cell: its batches take the numbers of context points in turn.
type jointMean struct {
	process string
	targets int
}

// of is the source of a batch.
func (s jointMean) of(step int) task.JointSource[float32] {
	n := len(jointContexts)
	return task.JointSource[float32]{Process: s.process, Context: jointContexts[((step%n)+n)%n], Targets: s.targets}
}

// Batch implements task.Source.
func (s jointMean) Batch(n int, seed uint64, step int) (*task.Tasks[float32], error) {
	return s.of(step).Batch(n, seed, step)
}

// Kind says which of the numbers of context points a batch has, so that all count alike and their difference is no error of the mean.
func (s jointMean) Kind(_ uint64, step int) (kind, kinds int) {
	return slices.Index(jointContexts, s.of(step).Context), len(jointContexts)
}

// KnowsOptimal implements task.OptimalSource.
func (s jointMean) KnowsOptimal() bool { return s.of(0).KnowsOptimal() }

// Optimal implements task.OptimalSource.
func (s jointMean) Optimal(b *task.Tasks[float32]) (joint, independent []float64, err error) {
	return s.of(0).Optimal(b)
}

// String implements task.Source.
func (s jointMean) String() string {
	return fmt.Sprintf("%s of the joint benchmark, 8 to 128 context points, %d targets", s.process, s.targets)
}

// known is the density of the process, of batches that are asked for in the order of their steps.
func (s jointMean) known(seed uint64) eval.Density[float32] {
	step := 0
	return ofTargets(func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
		exact, err := s.of(step).Known(b.Curves.B, seed, step)
		step++
		return exact, err
	})
}
