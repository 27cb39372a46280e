package reproduce

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

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/raster"
)

// Demo says which digit is hidden and completed by every model.
type Demo struct {
	Digit int
	// Scale is a fraction of the paper's training digits; Angle turns anticlockwise, in degrees.
	Scale, Angle float64
	// Rate is the share of the pixels that are observed, picked by Seed.
	Rate float64
	Seed uint64
	// Models are folders of models; nil takes the shipped ones.
	Models []string
	// Progress, if not nil, is told how many of the models are done.
	Progress func(done, total int)
}

// DemoReport is the outcome of a demo, which WritePNG draws.
type DemoReport struct {
	ContextPixels, Pixels int
	Models                []DemoModel
	// Digits and Curve are the models that draw samples of the digit and of a curve, nil without any.
	Digits, Curve *Model
	// SampledPixels is the size of the context of Digits, CurvePoints that of Curve.
	SampledPixels, CurvePoints int
	Notes                      []string

	parts []image.Image
}

// DemoModel is a model that completed the digit.
type DemoModel struct {
	Model
	LogLikelihood, SquaredError float64 // per pixel
	// TrainedOn says on what the model and those after it were trained, up to the next one that says so; the numbers of
	// models under different headings do not compare.
	TrainedOn string
}

// WritePNG writes the picture.
func (r *DemoReport) WritePNG(w io.Writer) error { return png.Encode(w, picture.Stack(r.parts...)) }

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
func demoPart(m Model) int {
	switch {
	case strings.HasPrefix(m.Tasks, task.TrainDigits().String()+","):
		return demoUpright
	case m.Tasks == "":
		return demoUnknown
	}
	return demoOther
}

// Check refuses settings that cannot be followed.
func (d *Demo) Check() error {
	switch {
	case d.Digit < 0 || d.Digit > 9:
		return settings.Errorf("{Digit} %d: need 0 to 9", d.Digit)
	case !(d.Scale >= 0.05 && d.Scale <= 1):
		return settings.Errorf("{Scale} %g: need 0.05 to 1", d.Scale)
	case !(math.Abs(d.Angle) <= 360):
		return settings.Errorf("{Angle} %g: need -360 to 360", d.Angle)
	case !(d.Rate >= 0 && d.Rate <= 1):
		return settings.Errorf("{Rate} %g: need a number from 0 to 1", d.Rate)
	}
	return nil
}

// Run completes the digit with every model, and draws samples.
func (d *Demo) Run(ctx context.Context) (*DemoReport, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	all, notes, err := Models(d.Models)
	if err != nil {
		return nil, err
	}
	models := ImageModels(all)
	slices.SortStableFunc(models, func(a, b Model) int { return demoPart(a) - demoPart(b) })
	if len(models) == 0 {
		return nil, errors.New("no model of grey images")
	}
	r := &DemoReport{Notes: notes}
	if err := d.complete(ctx, r, models); err != nil {
		return nil, err
	}
	for _, m := range models {
		if demoPart(m) == demoOther {
			r.Notes = append(r.Notes, fmt.Sprintf("%s was trained on %s", m.Name, m.Tasks))
		}
	}
	if err := d.digits(ctx, r, all); err != nil {
		return nil, err
	}
	return r, d.curve(ctx, r, all)
}

// digitPanel is a panel of an image of the size of the digits.
func digitPanel(t *task.Digits, label string, pix []float32) picture.Panel {
	return picture.Panel{Label: label, C: 1, H: t.H, W: t.W, Pix: pix}
}

// complete completes the digit with the models.
func (d *Demo) complete(ctx context.Context, r *DemoReport, models []Model) error {
	t := task.TrainDigits()
	n := t.H * t.W
	drawn, truth := make([]float32, n), make([]float32, n)
	task.DrawDigit(drawn, t.H, t.W, t.Height, d.Digit, task.Still)
	task.DrawDigit(truth, t.H, t.W, t.Height, d.Digit, task.Motion{Angle: d.Angle * math.Pi / 180, Scale: d.Scale})
	mask := raster.RandomMask(t.H, t.W, d.Rate, d.Seed)
	r.ContextPixels, r.Pixels = raster.Count(mask), n
	seen := digitPanel(&t, fmt.Sprintf("%.1f %% of the pixels", 100*Share(mask)), truth)
	seen.Mask = mask
	sheet := picture.Sheet{Scale: demoScale,
		Title: "a digit is drawn, scaled, turned and mostly hidden, then completed by equivariant models",
		Rows: [][]picture.Panel{{digitPanel(&t, fmt.Sprintf("a %d", d.Digit), drawn),
			digitPanel(&t, fmt.Sprintf("scaled by %g, turned by %g degrees", d.Scale, d.Angle), truth), seen}}}
	inPart := 0 // models of the part so far
	for i, m := range models {
		if d.Progress != nil {
			d.Progress(i, len(models))
		}
		model, err := m.Load()
		if err != nil {
			return err
		}
		p, err := model.(cnp.Completer[float32]).Complete(ctx, &cnp.Images[float32]{B: 1, C: 1, H: t.H, W: t.W, Pixels: truth, Mask: mask})
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		var meter eval.Meter
		eval.Add(&meter, p.Mean, p.Std, truth, nil)
		rep := meter.Report()
		done := DemoModel{Model: m, LogLikelihood: float64(rep.LogLikelihood.Mean), SquaredError: float64(rep.SquaredError.Mean)}
		if part := demoPart(m); i == 0 || part != demoPart(models[i-1]) {
			done.TrainedOn = demoParts[part]
			sheet.Rows = append(sheet.Rows, []picture.Panel{{Label: "trained on " + demoParts[part]}})
			inPart = 0
		}
		if inPart%demoPerRow == 0 {
			sheet.Rows = append(sheet.Rows, nil)
		}
		inPart++
		highest := slices.Max(p.Std)
		mean := digitPanel(&t, fmt.Sprintf("%s: %s\nlog-likelihood %.3f", m.Title(), m.Name, rep.LogLikelihood.Mean), p.Mean)
		std := digitPanel(&t, fmt.Sprintf("\nstd, up to %.3g", highest), p.Std)
		std.Spread, std.MaxSpread = true, float64(highest)
		last := &sheet.Rows[len(sheet.Rows)-1]
		*last = append(*last, mean, std)
		r.Models = append(r.Models, done)
	}
	r.parts = append(r.parts, sheet.Draw())
	return nil
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

// digits draws the upright digit from few pixels, by the first model under translations that was trained on upright
// digits: the chain rule is fast under it.
func (d *Demo) digits(ctx context.Context, r *DemoReport, all []Model) error {
	i := slices.IndexFunc(all, func(m Model) bool {
		return m.Config.Architecture == cnp.EquivCNPImage && m.Config.DimY == 1 && m.Config.Group == "T(2)" && demoPart(m) == demoUpright
	})
	if i < 0 {
		return nil
	}
	m := all[i]
	model, err := m.Load()
	if err != nil {
		return err
	}
	t := task.TrainDigits()
	n := t.H * t.W
	truth := make([]float32, n)
	task.DrawDigit(truth, t.H, t.W, t.Height, d.Digit, task.Still)
	im := &cnp.Images[float32]{B: 1, C: 1, H: t.H, W: t.W, Pixels: truth, Mask: raster.RandomMask(t.H, t.W, demoSampleRate, d.Seed)}
	p, err := model.(cnp.Completer[float32]).Complete(ctx, im)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	samples, err := cnp.SampleImages(ctx, model.(cnp.Completer[float32]), im,
		cnp.SampleOptions{Chain: cnp.Chain{Block: demoBlock, Seed: d.Seed + 2}, Samples: demoSamples})
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	seen := digitPanel(&t, fmt.Sprintf("%.1f %% of the pixels", 100*Share(im.Mask)), truth)
	seen.Mask = im.Mask
	row := []picture.Panel{seen, digitPanel(&t, "the mean is a blur ..", p.Mean)}
	for s := range demoSamples {
		row = append(row, digitPanel(&t, []string{".. of samples:", "each is one digit"}[s%2], samples[s*n:(s+1)*n]))
	}
	sheet := picture.Sheet{Scale: demoScale, Title: fmt.Sprintf(
		"%s, %s, draws what the digit may be, %d pixels at a time, each given those before it", m.Title(), m.Name,
		demoBlock), Rows: [][]picture.Panel{row}}
	r.parts, r.Digits, r.SampledPixels = append(r.parts, sheet.Draw()), &m, raster.Count(im.Mask)
	return nil
}

// curve draws a curve through some points, by the first model of curves.
func (d *Demo) curve(ctx context.Context, r *DemoReport, all []Model) error {
	i := slices.IndexFunc(all, func(m Model) bool {
		return m.Config.Architecture == cnp.EquivCNPCurve && m.Config.DimX == 1 && m.Config.DimY == 1 && strings.Contains(m.Tasks, "rbf")
	})
	if i < 0 {
		return nil
	}
	m := all[i]
	loaded, err := m.Load()
	if err != nil {
		return err
	}
	model, b := loaded.(cnp.Regressor[float32]), demoContext
	b.XTarget = tabletask.Linspace(-2, 2, 200)
	b.Nt = len(b.XTarget)
	p, err := model.Predict(ctx, &b)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	opt := cnp.SampleOptions{Chain: cnp.Chain{Block: 1, Seed: d.Seed, Seeds: []uint64{d.Seed}}, Samples: demoSamples, Function: true}
	opt.Knots = tabletask.Knots(&m.Config, b.Nc)
	samples, err := cnp.SampleCurves(ctx, model, &b, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	var drawn bytes.Buffer
	title := fmt.Sprintf("%s: a curve through %d points, and %d that the model draws", m.Name, b.Nc, demoSamples)
	if err := plot.BatchCurves(&drawn, "png", title, "x", []string{"y"}, &b, p, samples); err != nil {
		return err
	}
	part, err := png.Decode(&drawn)
	if err != nil {
		return err
	}
	r.parts, r.Curve, r.CurvePoints = append(r.parts, part), &m, b.Nc
	return nil
}
