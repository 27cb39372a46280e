package reproduce

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// livingTable is a table of a published benchmark: a column for each kind of tasks, and a row for each way to predict them.
type livingTable struct {
	title, text string
	columns     []livingColumn
	published   []livingRow
	// growths are those of blocks by which the chain rule is gone through, too, besides target by target; see cnp.Chain.
	growths []float64
}

// methods are the ways in which a model predicts the table's tasks.
func (t *livingTable) methods(m *Model) []string {
	out := m.benchmarkMethods()
	for _, g := range t.growths {
		out = append(out, fmt.Sprintf(growingBlocks, g))
	}
	return out
}

// growingBlocks is the method of a chain whose blocks grow.
const growingBlocks = "blocks of %g times the known points, autoregressive"

// livingColumn is one kind of tasks.
type livingColumn struct {
	name string
	src  task.Source[float32]
	// trained are the names of the sources that models of this column were trained on; they begin the name that a file says.
	trained []string
	// process is the density of who knows how the tasks were drawn; nil where nobody does.
	process eval.Density[float32]
	batch   int // tasks of a batch; 0: the usual number
	// training is the source that a population is estimated from; nil: the column is not predicted without a network.
	training task.Source[float32]
	tables   tableKind
	fits     int    // tasks that interpolation fits, at most; 0: as many as other methods predict
	data     string // digest of the user's table that the tasks are of; "": they are drawn
}

// tasks names the column's tasks as the file of cells does: two tables of one name are not the same tasks.
func (c *livingColumn) tasks() string {
	if c.data == "" {
		return c.src.String()
	}
	return c.src.String() + ", " + c.data
}

// livingRow is a published row; a NaN is a cell that it has not.
type livingRow struct {
	name  string
	cells []float64
}

// livingParts are the names of the sources that models of each part were trained on.
var livingParts = map[string][]string{
	"rcnp":     {" of the rcnp benchmark"},
	"predprey": {"predator and prey of the neuralprocesses benchmark"},
	"joint":    {" of the joint benchmark"},
	"globe":    {" of the globe benchmark"},
	"gridded":  {" of the gridded benchmark"},
}

// living is the part that the model was trained for; "": none of livingParts.
func (m *Model) living() string {
	for part, names := range livingParts {
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(m.Tasks, name) }) {
			return part
		}
	}
	return ""
}

// of reports whether a model belongs into a column.
func (c *livingColumn) of(m *Model) bool {
	return slices.ContainsFunc(c.trained, func(name string) bool { return strings.HasPrefix(m.Tasks, name) })
}

// measures reports whether numbers of a column are computed that no earlier command has.
func (p *reproduction) measures(column string) bool {
	return len(p.Columns) == 0 || slices.ContainsFunc(p.Columns, func(part string) bool { return strings.Contains(column, part) })
}

// checkColumns reports a part of a name that no column has.
func (p *reproduction) checkColumns(names []string) error {
	for _, part := range p.Columns {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, part) }) {
			return fmt.Errorf("no column has %q in its name: they are %q", part, names)
		}
	}
	return nil
}

// living makes a table, with the numbers that an earlier command has computed.
func (p *reproduction) living(t *livingTable) error {
	var names []string
	for i := range t.columns {
		names = append(names, t.columns[i].name)
	}
	if err := p.checkColumns(names); err != nil {
		return err
	}
	known, err := p.knownCells()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(p.cellsFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := p.livingRows(t, known, file)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return p.writeLiving(t, rows)
}

// writeLiving writes the report and the file of a table.
func (p *reproduction) writeLiving(t *livingTable, rows []*measuredRow) error {
	p.printf("# %s\n\n%s\n\n%d tasks for every number unless it says another, with seed %d; ± is a standard error. ", t.title, t.text,
		p.Tasks, p.Seed)
	p.printf("\"Best independent\" is what nothing beats that predicts targets independently of each other, " +
		"computed from the process itself.\n\n|")
	for _, c := range t.columns {
		p.printf(" | %s", c.name)
	}
	p.printf(" |\n|---|%s\n", strings.Repeat("---:|", len(t.columns)))
	for _, r := range t.published {
		p.printf("| published: %s |", r.name)
		for _, v := range r.cells {
			if math.IsNaN(v) {
				p.printf(" |")
			} else {
				p.printf(" %.2f |", v)
			}
		}
		p.printf("\n")
	}
	made := [][]string{{"row", "column", "model", "method", "tasks", "value", "standard_error", "kl", "not_finite", "seconds"}}
	for _, r := range rows {
		if r.bound && !slices.ContainsFunc(r.cells, func(c *benchmarkCell) bool { return c != nil }) {
			continue
		}
		p.printf("| here: %s |", r.name)
		for i, c := range r.cells {
			switch {
			case c == nil && r.bound:
				p.printf(" |")
				continue
			case c == nil && !p.measures(t.columns[i].name):
				p.printf(" not measured |")
				continue
			case c == nil:
				p.printf(" not trained yet |")
				continue
			}
			v, fewer := r.score(c), ""
			if c.Tasks < p.Tasks {
				fewer = fmt.Sprintf(" (%d tasks)", c.Tasks)
			}
			p.printf(" %s%s |", withError(v), fewer)
			made = append(made, []string{r.name, t.columns[i].name, c.Model, c.Method, fmt.Sprint(c.Report.Tasks), cell(v.Mean),
				cell(v.Error), fmt.Sprint(c.Report.KL != nil), fmt.Sprint(c.Report.NotFinite), cell(c.Seconds)})
		}
		p.printf("\n")
	}
	p.printf("\nEvery number: [%s.csv](%s.csv).\n", p.part, p.part)
	if err := p.table(p.part+".csv", made); err != nil || len(t.growths) == 0 {
		return err
	}
	return p.paces(t, rows)
}

// paces draws the likelihoods of a table against the time that they took.
func (p *reproduction) paces(t *livingTable, rows []*measuredRow) error {
	c := &picture.Chart{Title: "Log-likelihood per target by time", XLabel: "decimal logarithm of the seconds of a task",
		YLabel: "log-likelihood"}
	for i, column := range t.columns {
		s := picture.Series{Name: column.name}
		for _, r := range rows {
			if found := r.cells[i]; found != nil && !r.bound {
				s.X = append(s.X, math.Log10(found.Seconds/float64(max(1, found.Report.Tasks))))
				s.Y, s.Err = append(s.Y, found.Report.LogLikelihood.Mean), append(s.Err, found.Report.LogLikelihood.Error)
			}
		}
		sort.Sort(byX(s))
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	return p.chart(p.part+".png", c)
}

// byX sorts the points of a series.
type byX picture.Series

func (s byX) Len() int           { return len(s.X) }
func (s byX) Less(i, j int) bool { return s.X[i] < s.X[j] }
func (s byX) Swap(i, j int) {
	s.X[i], s.X[j], s.Y[i], s.Y[j], s.Err[i], s.Err[j] = s.X[j], s.X[i], s.Y[j], s.Y[i], s.Err[j], s.Err[i]
}

// measuredRow is a row of our own numbers.
type measuredRow struct {
	name  string
	bound bool // of the process, not of a model
	cells []*benchmarkCell
}

// score is the number of a cell: how far it is behind the process where that is known, else the log-likelihood.
func (r *measuredRow) score(c *benchmarkCell) eval.Estimate {
	switch {
	case r.bound && c.Report.Diagonal != nil:
		return *c.Report.Diagonal
	case !r.bound && c.Report.KL != nil:
		return *c.Report.KL
	}
	return c.Report.LogLikelihood
}

// livingRows measures the bounds and the models of a table.
func (p *reproduction) livingRows(t *livingTable, known cells, file *os.File) ([]*measuredRow, error) {
	bound := &measuredRow{name: "best independent, or the process itself where only that is known", bound: true,
		cells: make([]*benchmarkCell, len(t.columns))}
	rows := []*measuredRow{bound}
	for range optimalMethods {
		rows = append(rows, &measuredRow{bound: true, cells: make([]*benchmarkCell, len(t.columns))})
	}
	for k, method := range optimalMethods {
		rows[1+k].name = "best that knows how tasks are drawn, " + method
	}
	for i := range t.columns {
		if !p.measures(t.columns[i].name) {
			continue
		}
		if t.columns[i].optimal() != nil {
			p.total += len(optimalMethods) * p.fewer()
		}
		for k := range p.models {
			if t.columns[i].of(&p.models[k]) {
				for _, method := range t.methods(&p.models[k]) {
					p.total += p.tasksBy(method)
				}
			}
		}
		if t.columns[i].process != nil {
			p.total += p.Tasks
		}
		for _, method := range t.columns[i].untrainedMethods(p.Learn) {
			p.total += p.untrainedTasks(&t.columns[i], method)
		}
	}
	for i := range t.columns {
		c := &t.columns[i]
		if c.process != nil {
			key := benchmarkKey{"", "", "process", c.tasks(), "", 0, p.Tasks, p.Seed}
			opt := p.options(p.Tasks)
			opt.Batch = c.batch
			found := known.of(key, p.Tasks)
			if found == nil && p.measures(c.name) {
				var err error
				if found, err = p.measureBy(key, c.process, c.src, opt, file); err != nil {
					return nil, err
				}
			}
			bound.cells[i] = found
		}
		if err := p.optimal(c, known, file, func(k int, found *benchmarkCell) { rows[1+k].cells[i] = found }); err != nil {
			return nil, err
		}
		if err := p.untrained(c, known, file, func(method string, found *benchmarkCell) {
			place(&rows, method, i, len(t.columns), found)
		}); err != nil {
			return nil, err
		}
		for k := range p.models {
			listed := &p.models[k]
			if !c.of(listed) {
				continue
			}
			m, err := listed.Load()
			if err != nil {
				return nil, err
			}
			digest, err := modelDigest(m)
			if err != nil {
				return nil, err
			}
			for _, method := range t.methods(listed) {
				n := p.tasksBy(method)
				key := benchmarkKey{listed.Name, digest, method, c.tasks(), "", listed.Config.DimX, p.Tasks, p.Seed}
				opt, found := p.options(n), known.of(key, n)
				opt.Batch = c.batch
				if found == nil && p.measures(c.name) {
					key.Tasks = n
					if found, err = p.measure(key, m, c.src, opt, file); err != nil {
						return nil, err
					}
				}
				place(&rows, fmt.Sprintf("%s, %s", listed.Title(), method), i, len(t.columns), found)
			}
		}
	}
	if !slices.ContainsFunc(t.columns, func(c livingColumn) bool {
		return slices.ContainsFunc(p.models, func(m Model) bool { return c.of(&m) })
	}) {
		rows = append(rows, &measuredRow{name: "models", cells: make([]*benchmarkCell, len(t.columns))})
		p.note("no model was trained for this table: docs/benchmarks.md has the commands")
	}
	return rows, nil
}

// optimalMethods are the two ways in which the best predictions of a column are scored.
var optimalMethods = []string{"joint", "independent"}

// optimal is the source of a column as one whose best predictions are known, nil if they are not.
func (c *livingColumn) optimal() task.OptimalSource[float32] {
	if s, ok := c.src.(task.OptimalSource[float32]); ok && s.KnowsOptimal() {
		return s
	}
	return nil
}

// fewer is the number of tasks of slow methods.
func (p *reproduction) fewer() int {
	if p.Chain > 0 {
		return p.Chain
	}
	return p.Tasks
}

// optimal measures the best predictions of a column.
func (p *reproduction) optimal(c *livingColumn, known cells, file *os.File, measured func(k int, found *benchmarkCell)) error {
	src := c.optimal()
	if src == nil {
		return nil
	}
	var independent [][]float64 // of batches in the order of their steps, which come with the joint densities
	densities := []eval.Density[float32]{
		func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
			joint, alone, err := src.Optimal(b)
			independent = append(independent, alone)
			return joint, err
		},
		func(_ context.Context, b *task.Tasks[float32]) (alone []float64, err error) {
			if len(independent) > 0 {
				alone, independent = independent[0], independent[1:]
				return alone, nil
			}
			_, alone, err = src.Optimal(b)
			return alone, err
		},
	}
	for k, density := range densities {
		key := benchmarkKey{"", "", "best, " + optimalMethods[k], c.tasks(), "", 0, p.Tasks, p.Seed}
		found := known.of(key, p.fewer())
		if found == nil && p.measures(c.name) {
			key.Tasks = p.fewer()
			opt := p.options(key.Tasks)
			opt.Batch = c.batch
			var err error
			if found, err = p.measureBy(key, ofTargets(density), c.src, opt, file); err != nil {
				return err
			}
		}
		measured(k, found)
	}
	return nil
}

// ofTargets makes densities of all targets together of those per target.
func ofTargets(density eval.Density[float32]) eval.Density[float32] {
	return func(ctx context.Context, b *task.Tasks[float32]) ([]float64, error) {
		out, err := density(ctx, b)
		for i := range out {
			out[i] *= float64(b.Curves.Nt)
		}
		return out, err
	}
}

// place sets a cell of the first row of that name that has none in the column, or of a new row. A cell that was not measured is nil.
func place(rows *[]*measuredRow, name string, column, columns int, c *benchmarkCell) {
	for _, r := range *rows {
		if r.name == name && r.cells[column] == nil {
			r.cells[column] = c
			return
		}
	}
	r := &measuredRow{name: name, cells: make([]*benchmarkCell, columns)}
	r.cells[column] = c
	*rows = append(*rows, r)
}

// exactDensity is the density of who knows the process of a source.
func exactDensity(src task.ExactSource[float32]) eval.Density[float32] {
	return ofTargets(func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
		joint, _, err := src.Exact(b)
		return joint, err
	})
}
