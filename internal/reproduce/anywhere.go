package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/words"
)

// anywhere measures the models of images on digits of any angle and size, anywhere in the image.
func (p *reproduction) anywhere() error {
	models, err := p.images()
	if err != nil {
		return err
	}
	src := task.ImageSource[float32]{Pictures: task.AnywhereDigits(), Rates: task.PaperRates}
	p.total = p.Tasks * len(models)
	p.printf("# Digits anywhere\n\n%s with seed %d: %v. Models that were trained on upright, centred digits in their "+
		"full size know the others by their group alone. "+
		"The squared error is that of the predicted means, the log-likelihood is per pixel; ± is a standard error.\n\n"+
		"| group | model | trained on | squared error | log-likelihood | calibration error |\n|---|---|---|---:|---:|---:|\n",
		words.Plural(p.Tasks, "task"), p.Seed, src)
	file := [][]string{append([]string{"model", "group", "lifts"}, reportColumns...)}
	chart := &picture.Chart{Title: "Squared error on digits anywhere, with standard errors", YLabel: "squared error"}
	here := picture.Series{Name: "squared error"}
	sheet := picture.Sheet{Title: "The first tasks of the test, completed", Scale: 2}
	for i, listed := range models {
		m, err := listed.Load()
		if err != nil {
			return err
		}
		rep, err := eval.Run(p.ctx, eval.Model(m), src, p.options(p.Tasks))
		if err != nil {
			return fmt.Errorf("%s: %w", listed.Name, err)
		}
		trained := "other images"
		switch {
		case strings.Contains(listed.Tasks, task.TrainDigits().String()):
			trained = "upright digits"
		case strings.HasPrefix(listed.Tasks, "clock digits"):
			trained = "turned and scaled digits"
		case listed.Tasks == "":
			trained = "unknown"
		}
		se := rep.SquaredError.Std / math.Sqrt(float64(max(1, rep.Tasks)))
		p.printf("| %s | %s | %s | %.4f ± %.4f | %.3f ± %.3f | %.3f |\n", listed.Title(), listed.Name, trained,
			rep.SquaredError.Mean, se, rep.LogLikelihood.Mean,
			standardError(rep), rep.CalibrationError)
		file = append(file, append([]string{listed.Name, listed.Config.Group, fmt.Sprint(listed.Config.Lifts)}, reportCells(rep)...))
		chart.Names = append(chart.Names, listed.Title())
		here.X, here.Y, here.Err = append(here.X, float64(i)), append(here.Y, rep.SquaredError.Mean), append(here.Err, se)
		if err := p.addColumn(&sheet, &listed, m, src, min(DrawnTasks, p.Tasks)); err != nil {
			return err
		}
	}
	chart.Series = []picture.Series{here}
	if err := p.table("anywhere.csv", file); err != nil {
		return err
	}
	if err := p.chart("anywhere.png", chart); err != nil {
		return err
	}
	return p.sheet("anywhere-digits.png", &sheet)
}
