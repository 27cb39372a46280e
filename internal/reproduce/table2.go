package reproduce

import (
	"fmt"
	"image/png"
	"io"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/words"
)

// paperTable2 is table 2 as it is printed, by group.
var paperTable2 = map[string]eval.Stat{
	"T(2)": {Mean: 1.0998, Std: 0.4115}, "SO(2)": {Mean: -2.4275, Std: 6.8856}, "R>0xSO(2)": {Mean: 1.8398, Std: 0.5368},
	"SE(2)": {Mean: 1.1655, Std: 0.5420},
}

// images keeps the image models, or says that there are none.
func (p *reproduction) images() ([]Model, error) {
	models := ImageModels(p.models)
	if len(models) == 0 {
		return nil, fmt.Errorf("no model of grey images among %s: name folders with --models", words.Plural(len(p.models), "model"))
	}
	return models, nil
}

func (p *reproduction) table2() error {
	models, err := p.images()
	if err != nil {
		return err
	}
	src := task.ImageSource[float32]{Pictures: task.TestDigits(), Rates: task.PaperRates}
	p.total = p.Tasks * len(models)
	p.printf("# Table 2: digits\n\nLog-likelihood per pixel, mean ± standard deviation over %d tasks with seed %d: %v. "+
		"The squared error is that of the predicted means. The change under a quarter turn of image and mask is the "+
		"root mean square of that of the means.\n\n"+
		"The paper's digits are not public; these are drawn anew, with edges as sharp as a pixel allows, so the paper's numbers "+
		"and these are close but not on the same images.\n\n"+
		"| group | model | log-likelihood | paper | squared error | calibration error | quarter turn "+
		"|\n|---|---|---:|---:|---:|---:|---:|\n",
		p.Tasks, p.Seed, src)
	file := [][]string{append(append([]string{"model", "group", "lifts"}, reportColumns...), "quarter_turn_mean_rms",
		"quarter_turn_log_likelihood")}
	chart := &picture.Chart{Title: "Log-likelihood per pixel on turned and scaled digits, with standard errors", YLabel: "log-likelihood"}
	here, paper := picture.Series{Name: "here"}, picture.Series{Name: "paper"}
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
		moved, err := eval.Equivariance(p.ctx, m, src, eval.Options{Tasks: min(8, p.Tasks), Batch: 8, Seed: p.Seed})
		if err != nil {
			return err
		}
		turn := moved[slices.IndexFunc(moved, func(d eval.Difference) bool { return d.Move == "quarter turn" })]
		known := ""
		if s, ok := paperTable2[listed.Config.Group]; ok && listed.Config.Lifts <= 1 {
			known = plusMinus(s)
			paper.X, paper.Y, paper.Err = append(paper.X, float64(i)), append(paper.Y, s.Mean), append(paper.Err, 0)
		}
		p.printf("| %s | %s | %s | %s | %.4f | %.3f | %.2g |\n", listed.Title(), listed.Name, plusMinus(rep.LogLikelihood), known,
			rep.SquaredError.Mean, rep.CalibrationError, turn.MeanRMS)
		line := append([]string{listed.Name, listed.Config.Group, fmt.Sprint(listed.Config.Lifts)}, reportCells(rep)...)
		file = append(file, append(line, cell(turn.MeanRMS), cell(turn.LogLikelihood)))
		chart.Names = append(chart.Names, listed.Title())
		here.X, here.Y, here.Err = append(here.X, float64(i)), append(here.Y, rep.LogLikelihood.Mean), append(here.Err, standardError(rep))
		if err := p.addColumn(&sheet, &listed, m, src, min(DrawnTasks, p.Tasks)); err != nil {
			return err
		}
	}
	chart.Series = []picture.Series{here, paper}
	if err := p.table("table2.csv", file); err != nil {
		return err
	}
	if err := p.chart("table2.png", chart); err != nil {
		return err
	}
	return p.sheet("table2-digits.png", &sheet)
}

// sheet keeps a sheet of panels and shows it in the report.
func (p *reproduction) sheet(name string, s *picture.Sheet) error {
	p.printf("\n![%s](%s)\n", s.Title, name)
	return p.add(name, func(w io.Writer) error { return png.Encode(w, s.Draw()) })
}
