package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// regressFlags are the flags of equivcnp regress.
type regressFlags struct {
	model        modelFlags
	csv, targets string
	from, to     float64
	points       int
	out, plot    string
}

func (a *app) regressCommand() *cobra.Command {
	var f regressFlags
	cmd := &cobra.Command{
		Use:                   "regress --model M --csv data.csv (--from -4 --to 4 [--points 400] | --targets targets.csv) --out pred.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Regress a curve from the points of a CSV file",
		Long: `Regress a curve from context points, and write mean and standard deviation at the targets.

The CSV file has one context point per row: the model's input coordinates, then its outputs, so two
columns x,y for most models. A header is optional and names the axes; blank lines and lines that
begin with # are skipped; a blank or non-numeric cell is an error that names file, line and column.
A file without points is a valid empty context: the prediction is then the prior.

Targets are --points evenly spaced ones from --from to --to, or the rows of a CSV file of
coordinates (needed where the model has several). If that file also has the outputs' columns, their
log-likelihood is printed. --plot draws mean, band of two standard deviations and context points.`,
		Example: `  equivcnp regress --model rbf_equivcnp.pth --csv data.csv --from -4 --to 4 --points 400 --out pred.csv --plot fig.png

  # Predict at given points, and draw an SVG.
  equivcnp regress --model model.safetensors --csv data.csv --targets targets.csv --out pred.csv --plot fig.svg`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if f.targets == "" && !(cmd.Flags().Changed("from") && cmd.Flags().Changed("to")) {
			return usagef("say where to predict: --from and --to, or --targets")
		}
		return a.regress(cmd.Context(), &f)
	})
	f.model.register(cmd)
	f.model.registerLattice(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.csv, "csv", "", "CSV file of the context points, required")
	fl.StringVar(&f.targets, "targets", "", "CSV file of the targets' coordinates")
	fl.Float64Var(&f.from, "from", 0, "first target")
	fl.Float64Var(&f.to, "to", 0, "last target")
	fl.IntVar(&f.points, "points", 400, "number of targets from --from to --to")
	fl.StringVarP(&f.out, "out", "o", "", "CSV file of the prediction, required")
	fl.StringVar(&f.plot, "plot", "", "drawing of the prediction, .png or .svg")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"csv", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	for _, name := range []string{"csv", "targets", "out"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	for _, name := range []string{"from", "to", "points"} {
		cmd.MarkFlagsMutuallyExclusive("targets", name)
	}
	return cmd
}

// regressResult is what regress --json prints.
type regressResult struct {
	Model         string   `json:"model"`
	Architecture  string   `json:"architecture"`
	Group         string   `json:"group,omitempty"`
	CSV           string   `json:"csv"`
	ContextPoints int      `json:"context_points"`
	Targets       int      `json:"targets"`
	LogLikelihood *number  `json:"log_likelihood_per_target,omitempty"`
	Seconds       number   `json:"seconds"`
	Out           string   `json:"out"`
	Plot          string   `json:"plot,omitempty"`
	Notes         []string `json:"notes"`
}

// maxPoints bounds the targets of --points.
const maxPoints = 1 << 24

func (a *app) regress(ctx context.Context, f *regressFlags) error {
	if f.targets == "" {
		switch {
		case f.points < 0 || f.points > maxPoints:
			return usagef("--points %d: need 0 to %d", f.points, maxPoints)
		case math.IsNaN(f.to-f.from) || math.IsInf(f.to-f.from, 0):
			return usagef("--from %g --to %g: need finite numbers", f.from, f.to)
		case f.from > f.to:
			return usagef("--from %g lies beyond --to %g", f.from, f.to)
		}
	}
	var format string
	if f.plot != "" {
		var err error
		if format, err = picture.CurveFormat(f.plot); err != nil {
			return usageError{fmt.Errorf("--plot: %w", err)}
		}
	}
	outs, err := newOutputs([]string{f.model.path, f.csv, f.targets}, [2]string{"out", f.out}, [2]string{"plot", f.plot})
	if err != nil {
		return err
	}
	defer outs.discard()

	points, err := tabular.ReadFile(f.csv)
	if err != nil {
		return err
	}
	var targets *tabular.Table
	if f.targets == "" {
		targets = &tabular.Table{Cols: 1, Values: linspace(f.from, f.to, f.points)}
	} else if targets, err = tabular.ReadFile(f.targets); err != nil {
		return err
	}
	model, err := f.model.regressor()
	if err != nil {
		return err
	}
	cfg := model.Config()
	dx, dy := cfg.DimX, cfg.DimY
	switch {
	case points.Cols != 0 && points.Cols != dx+dy:
		return fmt.Errorf("%s: %s, the model needs %d: %d of x, then %d of y", f.csv, plural(points.Cols, "column"), dx+dy, dx, dy)
	case f.targets == "" && dx != 1:
		return fmt.Errorf("%s: the model has %d input coordinates, use --targets instead of --from and --to", f.model.path, dx)
	case f.plot != "" && dx != 1:
		return fmt.Errorf("--plot: the model has %d input coordinates, a curve needs one", dx)
	case targets.Cols != 0 && targets.Cols != dx && targets.Cols != dx+dy:
		return fmt.Errorf("%s: %s, the model needs %d of x, optionally with %d of y", f.targets, plural(targets.Cols, "column"), dx, dy)
	}

	b := &cnp.Batch[float32]{B: 1, Nc: points.Rows(), Nt: targets.Rows(), XContext: []float64{}, YContext: []float32{}, XTarget: []float64{}}
	var y []float64
	if points.Cols != 0 {
		b.XContext, y = points.Columns(0, dx), points.Columns(dx, dx+dy)
		if b.YContext, err = narrow(f.csv, y); err != nil {
			return err
		}
	}
	if targets.Cols != 0 {
		b.XTarget = targets.Columns(0, dx)
	}
	work, done := a.withProgress(ctx, "regressing")
	start := time.Now()
	p, err := model.Predict(work, b)
	seconds := time.Since(start).Seconds()
	done()
	if err != nil {
		return err
	}

	var likelihood *number
	if targets.Cols == dx+dy && b.Nt > 0 {
		truth, err := narrow(f.targets, targets.Columns(dx, dx+dy))
		if err != nil {
			return err
		}
		sum, n := cnp.LogLikelihood(p.Mean, p.Std, truth, nil)
		v := number(sum / float64(n))
		likelihood = &v
	}
	if err := outs.write("out", func(w io.Writer) error { return writePrediction(w, b.XTarget, p, dx, dy) }); err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s, %s", cfg.Architecture, plural(b.Nc, "context point"), plural(b.Nt, "target"))
	if err := outs.write("plot", func(w io.Writer) error {
		return picture.WriteCurves(w, format, title, curves(points, b, y, p, dy))
	}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}

	r := &result{}
	r.line("model", "%s", f.model.describe(cfg))
	r.line("context", "%s", plural(b.Nc, "point"))
	r.line("targets", "%d", b.Nt)
	if likelihood != nil {
		r.line("log-likelihood", "%.4f per target", float64(*likelihood))
	}
	if b.Nc == 0 {
		r.note("the context is empty: this is the prior")
	}
	r.line("time", "%.2f s", seconds)
	r.line("written", "%s", f.out)
	if f.plot != "" {
		r.line("", "%s", f.plot)
	}
	return a.print(r, regressResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, CSV: f.csv, ContextPoints: b.Nc, Targets: b.Nt,
		LogLikelihood: likelihood, Seconds: number(seconds), Out: f.out, Plot: f.plot, Notes: append([]string{}, r.notes...),
	})
}

// linspace returns n evenly spaced numbers from lo to hi; one is lo.
func linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo
		if i > 0 { // weighted ends, so that the last is hi exactly
			t := float64(i) / float64(n-1)
			x[i] = (1-t)*lo + t*hi
		}
	}
	return x
}

// narrow rounds values to float32 and refuses those beyond its range.
func narrow(name string, v []float64) ([]float32, error) {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
		if math.IsInf(float64(out[i]), 0) && !math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s: %w in float32: %g", name, cnp.ErrValue, x)
		}
	}
	return out, nil
}

// names numbers the columns of one kind where there are several: "mean", or "mean1", "mean2".
func names(kind string, n int) []string {
	if n == 1 {
		return []string{kind}
	}
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", kind, i+1))
	}
	return out
}

// labels returns the axes' names: those of the context's header, or x and y.
func labels(points *tabular.Table, dx, dy int) (x, y []string) {
	if points.Header == nil {
		return names("x", dx), names("y", dy)
	}
	return points.Header[:dx], points.Header[dx:]
}

// writePrediction writes the columns x, mean and std; the first line names them.
func writePrediction(w io.Writer, x []float64, p *cnp.Prediction[float32], dx, dy int) error {
	mean, std := names("mean", dy), names("std", dy)
	t := &tabular.Table{Cols: dx + 2*dy, Header: append(append(names("x", dx), mean...), std...)}
	for i := range len(x) / dx {
		t.Values = append(t.Values, x[i*dx:(i+1)*dx]...)
		for _, v := range [][]float32{p.Mean, p.Std} {
			for _, c := range v[i*dy : (i+1)*dy] {
				t.Values = append(t.Values, float64(c))
			}
		}
	}
	return tabular.Write(w, t, append(mean, std...)...)
}

// curves takes the prediction apart, one curve per output.
func curves(points *tabular.Table, b *cnp.Batch[float32], y []float64, p *cnp.Prediction[float32], dy int) []picture.Curve {
	xLabel, yLabel := labels(points, 1, dy)
	out := make([]picture.Curve, dy)
	for c := range out {
		out[c] = picture.Curve{XLabel: xLabel[0], YLabel: yLabel[c], X: b.XTarget, ContextX: b.XContext}
		for i := range b.Nt {
			out[c].Mean = append(out[c].Mean, float64(p.Mean[i*dy+c]))
			out[c].Std = append(out[c].Std, float64(p.Std[i*dy+c]))
		}
		for i := range b.Nc {
			out[c].ContextY = append(out[c].ContextY, y[i*dy+c])
		}
	}
	return out
}
