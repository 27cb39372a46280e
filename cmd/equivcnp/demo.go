package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/reproduce"
)

// demoFlags are the flags of equivcnp demo.
type demoFlags struct {
	out    string
	digit  int
	scale  float64
	angle  float64 // degrees
	rate   float64
	seed   uint64
	models []string
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:                   "demo [--digit 0..9] [--angle DEGREES] [--scale S] [--rate R] [--out demo.png]",
		DisableFlagsInUseLine: true,
		Short:                 "Complete a digit with every shipped model, and draw samples, in one picture",
		Long: `Draw a digit of a digital clock, scale and turn it, hide three quarters of its pixels, and complete it
with every shipped image model. Writes one picture with the log-likelihoods; needs no files.

Most of the models were trained on upright digits of full size alone: how well they complete a turned,
small one is a matter of their group. Those that were trained on other images stand apart, and their
numbers do not compare.

Below stand samples: the upright digit from a fiftieth of its pixels, where the mean is a blur of several
digits and each sample one of them; and a curve through five points. "equivcnp sample" draws more.`,
		Example: `  equivcnp demo
  equivcnp demo --digit 2 --angle -60 --rate 0.1 --out two.png`,
		Args: cobra.NoArgs,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), &f) }),
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", "demo.png", "the picture, a PNG file")
	fl.IntVar(&f.digit, "digit", 5, "the digit")
	fl.Float64Var(&f.scale, "scale", 0.45, "size, as a fraction of the paper's training digits")
	fl.Float64Var(&f.angle, "angle", 25, "degrees to turn it, anticlockwise")
	fl.Float64Var(&f.rate, "rate", 0.25, "share of the pixels to observe, 0 to 1")
	fl.Uint64Var(&f.seed, "seed", 7, "seed that picks those pixels")
	fl.StringArrayVar(&f.models, "models", nil, "take the models of this folder instead of the shipped ones; may be repeated")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
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

// The sides of the picture's drawing.
const (
	demoScale  = 4 // of one pixel
	demoPerRow = 2 // models
)

// The parts of the demo: models of one part were trained on images of one kind, and compare.
const (
	demoUpright = iota
	demoUnknown
	demoOther
)

var demoParts = []string{
	demoUpright: "upright digits of full size alone: that a turned, small one is completed is a matter of the group",
	demoUnknown: "what their files do not say",
	demoOther:   "other images than those above, turned or small ones for example: these numbers do not compare with the others",
}

// demoPart is the part that a model belongs to.
func demoPart(m reproduce.Model) int {
	switch {
	case strings.HasPrefix(m.Tasks, task.TrainDigits().String()+","):
		return demoUpright
	case m.Tasks == "":
		return demoUnknown
	}
	return demoOther
}

func (a *app) demo(ctx context.Context, f *demoFlags) error {
	motion := task.Motion{Angle: f.angle * math.Pi / 180, Scale: f.scale}
	switch {
	case f.digit < 0 || f.digit > 9:
		return usagef("--digit %d: need 0 to 9", f.digit)
	case !(f.scale >= 0.05 && f.scale <= 1):
		return usagef("--scale %g: need 0.05 to 1", f.scale)
	case !(math.Abs(f.angle) <= 360):
		return usagef("--angle %g: need -360 to 360", f.angle)
	case !(f.rate >= 0 && f.rate <= 1):
		return usagef("--rate %g: need a number from 0 to 1", f.rate)
	}
	outs, err := a.outputs(nil, outFile{"out", f.out, pictureFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	r, start := &result{}, time.Now()
	all, notes, err := reproduce.Models(f.models)
	if err != nil {
		return err
	}
	r.notes = append(r.notes, notes...)
	models := reproduce.ImageModels(all)
	slices.SortStableFunc(models, func(a, b reproduce.Model) int { return demoPart(a) - demoPart(b) })
	if len(models) == 0 {
		return errors.New("no model of grey images")
	}

	d := task.TrainDigits()
	n := d.H * d.W
	drawn, truth := make([]float32, n), make([]float32, n)
	task.DrawDigit(drawn, d.H, d.W, d.Height, f.digit, task.Still)
	task.DrawDigit(truth, d.H, d.W, d.Height, f.digit, motion)
	mask := raster.RandomMask(d.H, d.W, f.rate, f.seed)
	observed := raster.Count(mask)
	panel := func(label string, pix []float32) picture.Panel {
		return picture.Panel{Label: label, C: 1, H: d.H, W: d.W, Pix: pix}
	}
	seen := panel(fmt.Sprintf("%.1f %% of the pixels", 100*reproduce.Share(mask)), truth)
	seen.Mask = mask
	sheet := picture.Sheet{Scale: demoScale, Title: "a digit is drawn, scaled, turned and mostly hidden, then completed by equivariant models",
		Rows: [][]picture.Panel{{panel(fmt.Sprintf("a %d", f.digit), drawn),
			panel(fmt.Sprintf("scaled by %g, turned by %g degrees", f.scale, f.angle), truth), seen}}}
	res := demoResult{Digit: f.digit, ContextPixels: observed, Models: []demoModel{}, Out: f.out}
	r.line("context", "%d of %d pixels", observed, n)

	report, done := a.bar("completing")
	defer done()
	inPart := 0 // models of the part so far
	for i, m := range models {
		if report != nil {
			report(i, len(models))
		}
		model, err := m.Load()
		if err != nil {
			return err
		}
		p, err := model.(cnp.Completer[float32]).Complete(ctx, &cnp.Images[float32]{B: 1, C: 1, H: d.H, W: d.W, Pixels: truth, Mask: mask})
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		var meter eval.Meter
		eval.Add(&meter, p.Mean, p.Std, truth, nil)
		rep := meter.Report()
		if part := demoPart(m); i == 0 || part != demoPart(models[i-1]) {
			sheet.Rows = append(sheet.Rows, []picture.Panel{{Label: "trained on " + demoParts[part]}})
			inPart = 0
			r.line("trained on", "%s", demoParts[part])
		}
		if inPart%demoPerRow == 0 {
			sheet.Rows = append(sheet.Rows, nil)
		}
		inPart++
		highest := float32(0)
		for _, v := range p.Std {
			highest = max(highest, v)
		}
		mean := panel(fmt.Sprintf("%s: %s\nlog-likelihood %.3f", m.Title(), m.Name, rep.LogLikelihood.Mean), p.Mean)
		std := panel(fmt.Sprintf("\nstd, up to %.3g", highest), p.Std)
		std.Spread, std.MaxSpread = true, float64(highest)
		last := &sheet.Rows[len(sheet.Rows)-1]
		*last = append(*last, mean, std)
		res.Models = append(res.Models, demoModel{m.Name, m.Config.Group, number(rep.LogLikelihood.Mean),
			number(rep.SquaredError.Mean), m.Tasks})
		r.line("log-likelihood", "%.4f per pixel, squared error %.4f: %s, %s", rep.LogLikelihood.Mean, rep.SquaredError.Mean,
			m.Title(), m.Name)
	}
	done()
	for _, m := range models {
		if demoPart(m) == demoOther {
			r.note("%s was trained on %s", m.Name, m.Tasks)
		}
	}
	parts := []image.Image{sheet.Draw()}
	for _, draw := range []func(context.Context, *result, []reproduce.Model, *demoFlags) (image.Image, *demoSample,
		error){demoDigits, demoCurve} {
		part, m, err := draw(ctx, r, all, f)
		if err != nil {
			return err
		}
		if m != nil {
			parts, res.Samples = append(parts, part), append(res.Samples, *m)
		}
	}
	if err := outs.write("out", func(w io.Writer) error { return png.Encode(w, picture.Stack(parts...)) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}
	res.Seconds, res.Notes = number(time.Since(start).Seconds()), r.allNotes()
	r.line("time", "%.2f s", float64(res.Seconds))
	r.line("written", "%s", f.out)
	return a.print(r, res)
}

// What the demo's samples are: of how many pixels, drawn how many at a time; and a curve through which points.
const (
	demoSampleRate = 0.02
	demoBlock      = 64
	demoSamples    = 2
)

// demoContext are the points of the curve.
var demoContext = cnp.Batch[float32]{B: 1, Nc: 5, XContext: []float64{-1.5, -0.8, -0.3, 0.6, 1.4},
	YContext: []float32{0.5, -0.9, -0.2, 0.8, -0.3}}

// demoDigits draws the upright digit from few pixels, by the first model under translations that was trained on upright digits: the
// chain rule is fast under it.
func demoDigits(ctx context.Context, r *result, all []reproduce.Model, f *demoFlags) (image.Image, *demoSample, error) {
	i := slices.IndexFunc(all, func(m reproduce.Model) bool {
		return m.Config.Architecture == cnp.EquivCNPImage && m.Config.DimY == 1 && m.Config.Group == "T(2)" && demoPart(m) == demoUpright
	})
	if i < 0 {
		return nil, nil, nil
	}
	m := all[i]
	model, err := m.Load()
	if err != nil {
		return nil, nil, err
	}
	d := task.TrainDigits()
	n := d.H * d.W
	truth := make([]float32, n)
	task.DrawDigit(truth, d.H, d.W, d.Height, f.digit, task.Still)
	im := &cnp.Images[float32]{B: 1, C: 1, H: d.H, W: d.W, Pixels: truth, Mask: raster.RandomMask(d.H, d.W, demoSampleRate, f.seed)}
	p, err := model.(cnp.Completer[float32]).Complete(ctx, im)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	samples, err := cnp.SampleImages(ctx, model.(cnp.Completer[float32]), im,
		cnp.SampleOptions{Chain: cnp.Chain{Block: demoBlock, Seed: f.seed + 2}, Samples: demoSamples})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	panel := func(label string, pix []float32) picture.Panel {
		return picture.Panel{Label: label, C: 1, H: d.H, W: d.W, Pix: pix}
	}
	seen := panel(fmt.Sprintf("%.1f %% of the pixels", 100*reproduce.Share(im.Mask)), truth)
	seen.Mask = im.Mask
	row := []picture.Panel{seen, panel("the mean is a blur ..", p.Mean)}
	for s := range demoSamples {
		row = append(row, panel([]string{".. of samples:", "each is one digit"}[s%2], samples[s*n:(s+1)*n]))
	}
	r.line("samples", "of the upright digit from %d pixels: %s, %s", raster.Count(im.Mask), m.Title(), m.Name)
	sheet := picture.Sheet{Scale: demoScale, Title: fmt.Sprintf(
		"%s, %s, draws what the digit may be, %d pixels at a time, each given those before it", m.Title(), m.Name,
		demoBlock), Rows: [][]picture.Panel{row}}
	return sheet.Draw(), &demoSample{m.Name, m.Config.Group, m.Tasks}, nil
}

// demoCurve draws a curve through some points, by the first model of curves.
func demoCurve(ctx context.Context, r *result, all []reproduce.Model, f *demoFlags) (image.Image, *demoSample, error) {
	i := slices.IndexFunc(all, func(m reproduce.Model) bool {
		return m.Config.Architecture == cnp.EquivCNPCurve && m.Config.DimX == 1 && m.Config.DimY == 1 && strings.Contains(m.Tasks, "rbf")
	})
	if i < 0 {
		return nil, nil, nil
	}
	m := all[i]
	loaded, err := m.Load()
	if err != nil {
		return nil, nil, err
	}
	model, b := loaded.(cnp.Regressor[float32]), demoContext
	b.XTarget = tabletask.Linspace(-2, 2, 200)
	b.Nt = len(b.XTarget)
	p, err := model.Predict(ctx, &b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	chain := chainFlags{samples: demoSamples, function: true, seed: f.seed}
	samples, err := cnp.SampleCurves(ctx, model, &b, chain.options(&m.Config, 1, b.Nc))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	var drawn bytes.Buffer
	title := fmt.Sprintf("%s: a curve through %s, and %d that the model draws", m.Name, plural(b.Nc, "point"), demoSamples)
	if err := plot.BatchCurves(&drawn, "png", title, "x", []string{"y"}, &b, p, samples); err != nil {
		return nil, nil, err
	}
	part, err := png.Decode(&drawn)
	if err != nil {
		return nil, nil, err
	}
	r.line("", "of a curve through %s: %s, %s, trained on %s", plural(b.Nc, "point"), m.Title(), m.Name, m.Tasks)
	return part, &demoSample{m.Name, m.Config.Group, m.Tasks}, nil
}
