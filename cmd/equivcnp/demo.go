package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/reproduce"
	"github.com/equivcnp/equivcnp/internal/words"
)

func (a *app) demoCommand() *cobra.Command {
	var f reproduce.Demo
	var out string
	cmd := &cobra.Command{
		Use:                   "demo [--digit 0..9] [--angle DEGREES] [--scale S] [--rate R] [--out demo.png]",
		DisableFlagsInUseLine: true,
		Short:                 "Complete a digit with every shipped model, in one picture",
		Long:                  helpText("demo"),
		Example: `  equivcnp demo
  equivcnp demo --digit 2 --angle -60 --rate 0.1 --out two.png`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), &f, out) }),
	}
	fl := cmd.Flags()
	fl.StringVarP(&out, "out", "o", "demo.png", "the picture, a PNG file")
	fl.IntVar(&f.Digit, "digit", 5, "the digit")
	fl.Float64Var(&f.Scale, "scale", 0.45, "size, as a fraction of the paper's training digits")
	fl.Float64Var(&f.Angle, "angle", 25, "degrees to turn it by, anticlockwise")
	fl.Float64Var(&f.Rate, "rate", 0.25, "share of the pixels to observe, 0 to 1")
	fl.Uint64Var(&f.Seed, "seed", 7, "seed of the observed pixels")
	fl.StringArrayVar(&f.Models, "models", nil, "folder of models to take instead of the shipped ones; may be repeated")
	a.jsonFlag(cmd)
	must(cmd.MarkFlagFilename("out", "png"))
	must(cmd.MarkFlagDirname("models"))
	return cmd
}

// demoResult is what demo --json prints.
type demoResult struct {
	Digit         int         `json:"digit"`
	ContextPixels int         `json:"context_pixels"`
	Models        []demoModel `json:"models"`
	// Samples are the models that draw samples, of the digit and of a curve, as far as there are any.
	Samples []demoSample `json:"samples,omitempty"`
	Seconds number       `json:"seconds"`
	Out     string       `json:"out"`
	Notes   []string     `json:"notes"`
}

type demoSample struct {
	Model     string `json:"model"`
	Group     string `json:"group,omitempty"`
	TrainedOn string `json:"trained_on,omitempty"`
}

type demoModel struct {
	Model         string `json:"model"`
	Group         string `json:"group,omitempty"`
	LogLikelihood number `json:"log_likelihood_per_pixel"`
	SquaredError  number `json:"mean_squared_error"`
	TrainedOn     string `json:"trained_on,omitempty"`
}

func (a *app) demo(ctx context.Context, f *reproduce.Demo, out string) error {
	if err := f.Check(); err != nil {
		return err
	}
	outs, err := a.outputs(nil, cli.Out("out", out, pictureFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	start := time.Now()
	report, done := a.bar("completing")
	defer done()
	f.Progress = report
	d, err := f.Run(ctx)
	if err != nil {
		return err
	}
	done()
	if err := outs.Write("out", d.WritePNG); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	r := &result{cli.Result{Notes: d.Notes}}
	res := demoResult{Digit: f.Digit, ContextPixels: d.ContextPixels, Models: []demoModel{}, Out: out, Notes: r.AllNotes()}
	r.Line("context", "%d of %d pixels", d.ContextPixels, d.Pixels)
	for _, m := range d.Models {
		if m.TrainedOn != "" {
			r.Line("trained on", "%s", m.TrainedOn)
		}
		r.Line("log-likelihood", "%.4f per pixel, squared error %.4f: %s, %s", m.LogLikelihood, m.SquaredError, m.Title(), m.Name)
		res.Models = append(res.Models, demoModel{m.Name, m.Config.Group, number(m.LogLikelihood), number(m.SquaredError), m.Tasks})
	}
	for _, m := range []*reproduce.Model{d.Digits, d.Curve} {
		if m != nil {
			res.Samples = append(res.Samples, demoSample{m.Name, m.Config.Group, m.Tasks})
		}
	}
	if m := d.Digits; m != nil {
		r.Line("samples", "of the upright digit from %d pixels: %s, %s", d.SampledPixels, m.Title(), m.Name)
	}
	if m := d.Curve; m != nil {
		r.Line("", "of a curve through %s: %s, %s, trained on %s", words.Plural(d.CurvePoints, "point"), m.Title(), m.Name, m.Tasks)
	}
	res.Seconds = number(time.Since(start).Seconds())
	r.Line("time", "%.2f s", float64(res.Seconds))
	r.Line("written", "%s", out)
	return a.print(r, res)
}
