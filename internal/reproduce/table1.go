package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/words"
)

// paperKernels are the columns of table 1.
var paperKernels = []string{"rbf", "matern", "periodic"}

// paperTable1 is table 1 as it is printed.
var paperTable1 = []struct {
	architecture cnp.Architecture
	name         string
	cells        [3]eval.Stat
}{
	{cnp.EquivCNPCurve, "EquivCNP", [3]eval.Stat{{Mean: 1.2930, Std: 1.0113}, {Mean: 0.6616, Std: 0.6728}, {Mean: -0.4037, Std: 0.4968}}},
	{cnp.ConvCNPCurve, "ConvCNP", [3]eval.Stat{{Mean: 1.3271, Std: 1.0324}, {Mean: 0.8189, Std: 0.9366}, {Mean: -0.4787, Std: 0.5448}}},
	{cnp.CNPCurve, "CNP", [3]eval.Stat{{Mean: -1.7468, Std: 1.5415}, {Mean: -1.7808, Std: 1.3124}, {Mean: -1.0034, Std: 0.5174}}},
}

// curveRow is one kind of model, trained once per kernel.
type curveRow struct {
	name    string // what its files have in common
	about   string
	models  [3]*Model // by kernel
	reports [2][3]*eval.Report
	moved   [3]*eval.Difference
	chains  [2][3]*eval.JointReport // by the chain rule, of fewer tasks
}

// curveModels groups the curve models with one input and one output by what their names have in common beside the kernel.
func (p *reproduction) curveModels() ([]*curveRow, error) {
	byName := map[string]*curveRow{}
	var rows []*curveRow
	for i := range p.models {
		m := &p.models[i]
		c := m.Config
		if c.Architecture.Image() || c.DimX != 1 || c.DimY != 1 || m.benchmark() >= 0 {
			continue
		}
		kernel := -1
		var rest []string
		for _, w := range m.words() {
			if k := slices.Index(paperKernels, w); k >= 0 && kernel < 0 {
				kernel = k
			} else {
				rest = append(rest, w)
			}
		}
		if kernel < 0 {
			p.note("left out: the name of %s has none of %s", m.Name, strings.Join(paperKernels, ", "))
			continue
		}
		name := strings.Join(rest, "-")
		row := byName[name]
		if row == nil {
			row = &curveRow{name: name, about: aboutCurve(c)}
			byName[name] = row
			rows = append(rows, row)
		}
		if row.models[kernel] != nil {
			p.note("left out: %s, a second %s for %s", m.Name, name, paperKernels[kernel])
			continue
		}
		row.models[kernel] = m
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no curve model among %s: name folders with --models, of files whose names hold %s",
			words.Plural(len(p.models), "model"), strings.Join(paperKernels, ", "))
	}
	slices.SortStableFunc(rows, func(a, b *curveRow) int {
		return slices.Index(cnp.Architectures, a.architecture()) - slices.Index(cnp.Architectures, b.architecture())
	})
	return rows, nil
}

// architecture is that of the row's first model.
func (r *curveRow) architecture() cnp.Architecture {
	for _, m := range r.models {
		if m != nil {
			return m.Config.Architecture
		}
	}
	return ""
}

func aboutCurve(c cnp.Config) string {
	s := string(c.Architecture)
	if c.Group != "" {
		s += ", " + c.Group
	}
	if c.CoordinateFeature {
		s += ", with the coordinate as a feature"
	}
	return s
}

// curveRanges are where the curves of the two tables lie: the paper's test, and where its models were trained.
var curveRanges = [2][2]float64{{-4, 4}, {-2, 2}}

// curveSource is the paper's test of a kernel on an interval.
func curveSource(kernel string, lo, hi float64) (task.CurveSource[float32], error) {
	k, err := task.KernelByName(kernel)
	if err != nil {
		return task.CurveSource[float32]{}, err
	}
	c := task.PaperTest(k)
	c.Lo, c.Hi = lo, hi
	return task.CurveSource[float32]{Name: kernel, Curves: c}, nil
}

// movedTasks is the number of tasks on which equivariance is measured.
const movedTasks = 32

func (p *reproduction) table1() error {
	rows, err := p.curveModels()
	if err != nil {
		return err
	}
	oracle := &curveRow{name: "the process itself", about: "the best possible prediction"}
	models := 0
	for _, r := range rows {
		for _, m := range r.models {
			if m != nil {
				models++
			}
		}
	}
	p.total = 2 * (p.Tasks + p.Chain) * (len(paperKernels) + models)
	for k, kernel := range paperKernels {
		for i, lim := range curveRanges {
			src, err := curveSource(kernel, lim[0], lim[1])
			if err != nil {
				return err
			}
			if oracle.reports[i][k], err = eval.Run(p.ctx, eval.Oracle[float32](src.Curves.GP), src, p.options(p.Tasks)); err != nil {
				return err
			}
			if oracle.chains[i][k], err = p.chain(eval.Process[float32](src.Curves.GP), src); err != nil {
				return err
			}
			for _, r := range rows {
				if r.models[k] == nil {
					continue
				}
				m, err := r.models[k].Load()
				if err != nil {
					return err
				}
				if c, ok := m.(cnp.Regressor[float32]); ok {
					if r.chains[i][k], err = p.chain(eval.Autoregressive(c, cnp.Chain{Seed: p.Seed}), src); err != nil {
						return fmt.Errorf("%s: %w", r.models[k].Name, err)
					}
				}
				if r.reports[i][k], err = eval.Run(p.ctx, eval.Model(m), src, p.options(p.Tasks)); err != nil {
					return fmt.Errorf("%s: %w", r.models[k].Name, err)
				}
				if i > 0 {
					continue
				}
				d, err := eval.Equivariance(p.ctx, m, src, eval.Options{Tasks: min(movedTasks, p.Tasks), Seed: p.Seed})
				if err != nil {
					return err
				}
				r.moved[k] = &d[0]
			}
		}
	}
	return p.writeTable1(append([]*curveRow{oracle}, rows...))
}

// chain measures a density of whole curves on the first tasks, if any are asked for.
func (p *reproduction) chain(density eval.Density[float32], src task.Source[float32]) (*eval.JointReport, error) {
	if p.Chain == 0 {
		return nil, nil
	}
	return eval.Joint(p.ctx, density, src, p.options(p.Chain))
}

func (p *reproduction) writeTable1(rows []*curveRow) error {
	p.printf("# Table 1: curves\n\nLog-likelihood per target, mean ± standard deviation over %d tasks with seed %d: "+
		"400 even targets on the interval, "+
		"3 to 49 of them observed, curves of Gaussian processes with length scale 1, period 1 and jitter 1e-8. "+
		"The squared error is that of the predicted means.\n", p.Tasks, p.Seed)
	head := append([]string{"model", "about", "kernel", "from", "to"}, reportColumns...)
	file := [][]string{append(head, "gap_to_process", "moved_mean_rms", "moved_log_likelihood")}
	for i, lim := range curveRanges {
		p.printf("\n## On [%g, %g]\n\n| model | | rbf | matern | periodic |\n|---|---|---:|---:|---:|\n", lim[0], lim[1])
		if i == 0 {
			for _, r := range paperTable1 {
				p.printf("| paper: %s | %s | %s | %s | %s |\n", r.name, r.architecture, plusMinus(r.cells[0]),
					plusMinus(r.cells[1]), plusMinus(r.cells[2]))
			}
		}
		cells := func(r *curveRow, content func(k int, rep *eval.Report) string) {
			p.printf("| %s | %s |", r.name, r.about)
			for k, rep := range r.reports[i] {
				if rep == nil {
					p.printf(" |")
				} else {
					p.printf(" %s |", content(k, rep))
				}
			}
			p.printf("\n")
		}
		for _, r := range rows {
			cells(r, func(_ int, rep *eval.Report) string { return plusMinus(rep.LogLikelihood) })
		}
		p.printf("\nHow far each is from the best possible, on the same tasks; squared error in brackets:\n\n" +
			"| model | | rbf | matern | periodic |\n|---|---|---:|---:|---:|\n")
		for _, r := range rows {
			cells(r, func(k int, rep *eval.Report) string {
				return fmt.Sprintf("%.4f (%.4f)", rep.LogLikelihood.Mean-rows[0].reports[i][k].LogLikelihood.Mean, rep.SquaredError.Mean)
			})
			for k, rep := range r.reports[i] {
				if rep == nil {
					continue
				}
				line := append([]string{r.name, r.about, paperKernels[k], cell(lim[0]), cell(lim[1])}, reportCells(rep)...)
				line = append(line, cell(rep.LogLikelihood.Mean-rows[0].reports[i][k].LogLikelihood.Mean))
				if d := r.moved[k]; d != nil && i == 0 {
					line = append(line, cell(d.MeanRMS), cell(d.LogLikelihood))
				} else {
					line = append(line, "", "")
				}
				file = append(file, line)
			}
		}
	}
	if p.Chain > 0 {
		if err := p.writeChains(rows); err != nil {
			return err
		}
	}
	p.writeMoved(rows)
	if err := p.table("table1.csv", file); err != nil {
		return err
	}
	c := &picture.Chart{Title: "Log-likelihood per target on [-4, 4], with standard errors", YLabel: "log-likelihood", Names: paperKernels}
	for _, r := range rows {
		s := picture.Series{Name: r.name}
		for k, rep := range r.reports[0] {
			if rep != nil {
				s.X, s.Y, s.Err = append(s.X, float64(k)), append(s.Y, rep.LogLikelihood.Mean), append(s.Err, standardError(rep))
			}
		}
		c.Series = append(c.Series, s)
	}
	return p.chart("table1.png", c)
}

// writeChains writes the densities of whole curves.
func (p *reproduction) writeChains(rows []*curveRow) error {
	p.printf("\n## By the chain rule\n\nLog-likelihood per target of whole curves, with its standard error, over the "+
		"first %s: every target is predicted given the "+
		"context and the targets before it, in random order. The process's own knows how targets depend on each other.\n",
		words.Plural(p.Chain, "task"))
	chains := [][]string{{"model", "about", "kernel", "from", "to", "tasks", "log_likelihood", "standard_error", "not_finite"}}
	for i, lim := range curveRanges {
		p.printf("\n| on [%g, %g] | | rbf | matern | periodic |\n|---|---|---:|---:|---:|\n", lim[0], lim[1])
		for _, r := range rows {
			p.printf("| %s | %s |", r.name, r.about)
			for k, c := range r.chains[i] {
				if c == nil {
					p.printf(" |")
					continue
				}
				p.printf(" %s |", withError(c.LogLikelihood))
				chains = append(chains, []string{r.name, r.about, paperKernels[k], cell(lim[0]), cell(lim[1]), fmt.Sprint(c.Tasks),
					cell(c.LogLikelihood.Mean), cell(c.LogLikelihood.Error), fmt.Sprint(c.NotFinite)})
			}
			p.printf("\n")
		}
	}
	return p.table("table1-chain.csv", chains)
}

// writeMoved writes by how much predictions change when tasks are shifted.
func (p *reproduction) writeMoved(rows []*curveRow) {
	p.printf("\n## Equivariance\n\nContext and targets shifted together by up to 4, a shift of its own for each of %d tasks: "+
		"root mean square of the change of the predicted means, largest change in brackets. An equivariant model has "+
		"0, up to rounding and its lattice's step.\n\n"+
		"| model | | rbf | matern | periodic |\n|---|---|---:|---:|---:|\n", min(movedTasks, p.Tasks))
	for _, r := range rows[1:] {
		p.printf("| %s | %s |", r.name, r.about)
		for _, d := range r.moved {
			if d == nil {
				p.printf(" |")
			} else {
				p.printf(" %.2g (%.2g) |", d.MeanRMS, d.MeanMax)
			}
		}
		p.printf("\n")
	}
}
