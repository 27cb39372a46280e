package reproduce

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
)

func (p *reproduction) figures() error {
	rows, curveErr := p.curveModels()
	models := ImageModels(p.models)
	if curveErr != nil && len(models) == 0 {
		return fmt.Errorf("no model of curves or grey images: name folders with --models")
	}
	var mnist *task.ImageSet
	if p.MNIST != "" {
		var err error
		if mnist, err = task.ReadMNIST(p.MNIST); err != nil {
			return err
		}
	}
	p.printf("# Figures\n")
	p.total = p.Tasks * len(models) * (len(figureScales) + len(figureRates))
	if mnist != nil {
		p.total += p.Tasks * len(models)
	}
	if curveErr == nil {
		if err := p.curveFigures(rows); err != nil {
			return err
		}
	} else {
		p.note("no figure of curves: %v", curveErr)
	}
	if len(models) == 0 {
		p.note("no figure of images: no model of grey images")
		return nil
	}
	if err := p.imageFigures(models); err != nil {
		return err
	}
	if mnist == nil {
		p.note("no figure of turned MNIST: its file is not given (--mnist)")
		return nil
	}
	return p.mnistFigures(models, mnist)
}

// scene is one panel of a figure of curves: where its context lies, and how much its middle point is displaced.
type scene struct {
	name    string
	lo, hi  float64
	outlier float64
}

// The scenes, all of one curve: the paper's models know [-2, 2].
var scenes = []scene{
	{"context inside the training range", -2, 2, 0}, {"context outside", 2, 6, 0}, {"context inside, with an outlier", -2, 2, 3},
}

// The curves' targets and their context.
const (
	figureLo, figureHi = -4, 8
	figureTargets      = 601
	figureContext      = 12
)

// curveFigures draws, for every kernel and model, one curve in all scenes.
func (p *reproduction) curveFigures(rows []*curveRow) error {
	p.printf("\n## Curves\n\nOne curve of each process, %d of %d even targets on [%d, %d] observed. "+
		"The vertical lines bound the range that the paper's models were trained on. The last picture of each kernel "+
		"is the process's own prediction.\n", figureContext, figureTargets, figureLo, figureHi)
	file := [][]string{{"kernel", "model", "scene", "x", "truth", "mean", "std", "observed", "observed_value"}}
	for k, kernel := range paperKernels {
		if !slices.ContainsFunc(rows, func(r *curveRow) bool { return r.models[k] != nil }) {
			continue
		}
		src, err := curveSource(kernel, figureLo, figureHi)
		if err != nil {
			return err
		}
		drawn, err := figureTasks(src.Curves, p.Seed)
		if err != nil {
			return err
		}
		one := func(name string, predict eval.Predictor[float32]) error {
			var curves []picture.Curve
			for i, t := range drawn {
				pred, err := predict(p.ctx, t)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				c := drawnCurve(t, pred, 0)
				sum, n := cnp.LogLikelihood(pred.Mean, pred.Std, t.Y, nil)
				c[0].Title = fmt.Sprintf("%s    log-likelihood %.3f per target", scenes[i].name, sum/float64(n))
				c[0].MarkFrom, c[0].MarkTo = -2, 2
				curves = append(curves, c...)
				at := map[float64]float64{}
				for j, x := range c[0].ContextX {
					at[x] = c[0].ContextY[j]
				}
				for j, x := range c[0].X {
					line := []string{kernel, name, scenes[i].name, cell(x), cell(c[0].Truth[j]), cell(c[0].Mean[j]),
						cell(c[0].Std[j]), "0", ""}
					if v, ok := at[x]; ok {
						line[7], line[8] = "1", cell(v)
					}
					file = append(file, line)
				}
			}
			path := fmt.Sprintf("curves-%s-%s.png", kernel, name)
			p.printf("\n![%s, %s](%s)\n", kernel, name, path)
			return p.add(path, func(w io.Writer) error { return picture.WriteCurves(w, "png", "", curves) })
		}
		for _, r := range rows {
			if r.models[k] == nil {
				continue
			}
			m, err := r.models[k].Load()
			if err != nil {
				return err
			}
			if err := one(r.name, eval.Model(m)); err != nil {
				return err
			}
		}
		if err := one("process", eval.Oracle[float32](src.Curves.GP)); err != nil {
			return err
		}
	}
	return p.table("curves.csv", file)
}

// figureTasks draws one curve and its context in every scene.
func figureTasks(c task.Curves, seed uint64) ([]*task.Tasks[float32], error) {
	x := tabletask.Linspace(figureLo, figureHi, figureTargets)
	rng := task.StepRand(seed, 0)
	y, err := c.GP.Sample(x, rng)
	if err != nil {
		return nil, err
	}
	picks := rng.Perm(figureTargets)
	var out []*task.Tasks[float32]
	for _, s := range scenes {
		t := &task.Tasks[float32]{Curves: &cnp.Batch[float32]{B: 1, Nt: len(x), XTarget: x}}
		b := t.Curves
		for _, v := range y {
			t.Y = append(t.Y, float32(v))
		}
		for _, i := range picks {
			if b.Nc < figureContext && x[i] >= s.lo && x[i] <= s.hi {
				b.XContext, b.YContext = append(b.XContext, x[i]), append(b.YContext, float32(y[i]))
				b.Nc++
			}
		}
		b.YContext[b.Nc/2] += float32(s.outlier)
		out = append(out, t)
	}
	return out, nil
}

// The scales and rates that are measured, and the rate and scale that the others have.
var (
	figureScales = []float64{0.2, 0.3, 0.45, 0.6, 0.8, 1}
	figureRates  = []float64{0.01, 0.03, 0.1, 0.2, 0.3, 0.5}
)

const (
	usualScale = 0.45
	usualRate  = 0.25
)

// digitSource is digits of one scale and rate, turned by up to a quarter turn.
func digitSource(scale, rate float64) task.ImageSource[float32] {
	d := task.TestDigits()
	d.Motions.MinScale, d.Motions.MaxScale = scale, scale
	return task.ImageSource[float32]{Pictures: d, Rates: task.Rates{Min: rate, Max: rate}}
}

// imageFigures draws likelihood and squared error by scale and by rate, and completed digits of every scale.
func (p *reproduction) imageFigures(models []Model) error {
	file := [][]string{append([]string{"model", "group", "scale", "rate"}, reportColumns...)}
	byScale, byRate := picture.Sheet{Title: "Digits by scale", Scale: 2},
		picture.Sheet{Title: "Digits by share of observed pixels", Scale: 2}
	var series [2][2][]picture.Series // by what is varied, by what is measured
	for i := range models {
		listed := &models[i]
		m, err := listed.Load()
		if err != nil {
			return err
		}
		for k, values := range [][]float64{figureScales, figureRates} {
			ll, mse := picture.Series{Name: listed.Name}, picture.Series{Name: listed.Name}
			for _, v := range values {
				scale, rate := v, usualRate
				if k == 1 {
					scale, rate = usualScale, v
				}
				src := digitSource(scale, rate)
				rep, err := eval.Run(p.ctx, eval.Model(m), src, p.options(p.Tasks))
				if err != nil {
					return fmt.Errorf("%s: %w", listed.Name, err)
				}
				file = append(file, append([]string{listed.Name, listed.Config.Group, cell(scale), cell(rate)}, reportCells(rep)...))
				ll.X, ll.Y, ll.Err = append(ll.X, v), append(ll.Y, rep.LogLikelihood.Mean), append(ll.Err, standardError(rep))
				mse.X, mse.Y = append(mse.X, v), append(mse.Y, rep.SquaredError.Mean)
				mse.Err = append(mse.Err, rep.SquaredError.Std/math.Sqrt(float64(max(1, rep.Tasks))))
			}
			series[k][0], series[k][1] = append(series[k][0], ll), append(series[k][1], mse)
		}
		if err := p.addColumns(&byScale, listed, m, figureScales,
			func(v float64) task.Source[float32] { return digitSource(v, usualRate) }); err != nil {
			return err
		}
		if err := p.addColumns(&byRate, listed, m, figureRates,
			func(v float64) task.Source[float32] { return digitSource(usualScale, v) }); err != nil {
			return err
		}
	}
	if err := p.table("digits.csv", file); err != nil {
		return err
	}
	p.printf("\n## Digits\n\nEvery point is the mean over %d digits, turned by up to 90 degrees, with its standard error. "+
		"By scale, a quarter of the pixels is observed on average; by rate, the scale is %g. The paper trains on digits of scale 1.\n",
		p.Tasks, usualScale)
	for k, by := range []string{"scale", "rate"} {
		for j, what := range []string{"log-likelihood", "squared error"} {
			c := &picture.Chart{Title: what + " by " + by, XLabel: by, YLabel: what + " per pixel", Series: series[k][j]}
			if err := p.chart(fmt.Sprintf("digits-%s-by-%s.png", []string{"likelihood", "error"}[j], by), c); err != nil {
				return err
			}
		}
	}
	if err := p.sheet("digits-by-scale.png", &byScale); err != nil {
		return err
	}
	return p.sheet("digits-by-rate.png", &byRate)
}

// addColumn adds context and truth of the first tasks of a source to a sheet, one per row, if they are not there yet, and a
// column with what a model makes of them.
func (p *reproduction) addColumn(s *picture.Sheet, listed *Model, m cnp.Model[float32], src task.Source[float32], n int) error {
	t, err := src.Batch(n, p.Seed, 0)
	if err != nil {
		return err
	}
	return p.addTasks(s, 0, listed, m, t)
}

// addColumns is addColumn with one task for each value, a row each.
func (p *reproduction) addColumns(s *picture.Sheet, listed *Model, m cnp.Model[float32], values []float64,
	source func(v float64) task.Source[float32]) error {
	for row, v := range values {
		t, err := source(v).Batch(1, p.Seed, 0)
		if err != nil {
			return err
		}
		if err := p.addTasks(s, row, listed, m, t); err != nil {
			return err
		}
	}
	return nil
}

// addTasks adds a batch's tasks to the rows of a sheet from row on.
func (p *reproduction) addTasks(s *picture.Sheet, row int, listed *Model, m cnp.Model[float32], t *task.Tasks[float32]) error {
	pred, err := eval.Model(m)(p.ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", listed.Name, err)
	}
	im := t.Images
	per, n := im.C*im.H*im.W, im.H*im.W
	for i := range im.B {
		panel := func(label string, pix []float32) picture.Panel {
			return picture.Panel{Label: label, C: im.C, H: im.H, W: im.W, Pix: pix[i*per : (i+1)*per]}
		}
		if row+i == len(s.Rows) {
			context := panel("context", t.Y)
			context.Mask = im.Mask[i*n : (i+1)*n]
			context.Label = fmt.Sprintf("%.1f %%", 100*Share(context.Mask))
			s.Rows = append(s.Rows, []picture.Panel{panel("truth", t.Y), context})
		}
		var meter eval.Meter
		mean := panel("", pred.Mean)
		eval.Add(&meter, mean.Pix, pred.Std[i*per:(i+1)*per], t.Y[i*per:(i+1)*per], nil)
		mean.Label = fmt.Sprintf("%s\n%.3f", listed.Name, meter.Report().LogLikelihood.Mean)
		s.Rows[row+i] = append(s.Rows[row+i], mean)
	}
	return nil
}

// mnistFigures completes images of a file at any angle.
func (p *reproduction) mnistFigures(models []Model, set *task.ImageSet) error {
	motions := task.Upright
	motions.MaxAngle = math.Pi
	src := task.ImageSource[float32]{Pictures: task.Moved{ImageSet: set, Motions: motions}, Rates: task.PaperRates}
	p.printf("\n## Turned MNIST\n\nLog-likelihood per pixel, mean ± standard deviation over %d images of %s, turned by any angle.\n\n"+
		"| group | model | log-likelihood | squared error |\n|---|---|---:|---:|\n", p.Tasks, set.Name)
	file := [][]string{append([]string{"model", "group"}, reportColumns...)}
	sheet := picture.Sheet{Title: "Images of a file, turned and completed", Scale: max(1, 128/max(set.H, set.W))}
	for i := range models {
		listed := &models[i]
		m, err := listed.Load()
		if err != nil {
			return err
		}
		rep, err := eval.Run(p.ctx, eval.Model(m), src, p.options(p.Tasks))
		if err != nil {
			return fmt.Errorf("%s: %w", listed.Name, err)
		}
		p.printf("| %s | %s | %s | %.4f |\n", listed.Title(), listed.Name, plusMinus(rep.LogLikelihood), rep.SquaredError.Mean)
		file = append(file, append([]string{listed.Name, listed.Config.Group}, reportCells(rep)...))
		if err := p.addColumn(&sheet, listed, m, src, min(DrawnTasks, p.Tasks)); err != nil {
			return err
		}
	}
	if err := p.table("mnist.csv", file); err != nil {
		return err
	}
	return p.sheet("mnist.png", &sheet)
}
