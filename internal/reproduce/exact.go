package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// exactPopulation says what rows of populations are.
const exactPopulation = "A population is a mixture of Gaussian processes (and of waves, if it has any) that the same package " +
	"estimates from some training tasks, " +
	"once for all tasks of a column."

// exactTable is a table of tasks whose exact predictions are known, every target on its own.
type exactTable struct {
	title, text string
	batch       int // tasks that are drawn together
	columns     []exactColumn
}

// exactColumn is one kind of tasks.
type exactColumn struct {
	name string
	// known draws a batch with the process's own log-densities per target.
	known func(n int, seed uint64, step int) (*task.Tasks[float32], []float64, error)
	// trained begins the name of the tasks that models of this column were trained on; krige names the interpolation of tables that fits
	// its coordinates, and sphere says that models of other tasks on the sphere are asked, too.
	trained, krige string
	sphere         bool
	// training is the source that a population is estimated from.
	training task.Source[float32]
	// same is the number of the column with the same tasks elsewhere; of the column itself: its own.
	same int
}

// exactRow is a way to predict; its log-likelihoods per target are those of every task of a column, nil where it predicts none.
type exactRow struct {
	name    string
	ll      [][]float64
	seconds []float64 // of a task
}

// exactly makes a table.
func (p *reproduction) exactly(t *exactTable) error {
	var rows []*exactRow
	of := func(name string) *exactRow {
		for _, r := range rows {
			if r.name == name {
				return r
			}
		}
		rows = append(rows, &exactRow{name, make([][]float64, len(t.columns)), make([]float64, len(t.columns))})
		return rows[len(rows)-1]
	}
	process := of("the process, with its length")
	var names []string
	for i := range t.columns {
		names = append(names, t.columns[i].name)
	}
	if err := p.checkColumns(names); err != nil {
		return err
	}
	p.total = len(t.columns) * p.Tasks
	trained := false
	for i := range t.columns {
		c := &t.columns[i]
		if !p.measures(c.name) {
			continue
		}
		predictors := map[*exactRow]eval.Density[float32]{}
		if r := krige.Named(c.krige); r != nil {
			predictors[of(c.krige)] = eval.Independent(eval.Model[float32](r))
		}
		if p.Learn > 0 && c.training != nil {
			learned, err := p.learned(c.training, tableKind{Options: krige.Options{Dim: 2, Sphere: c.sphere}})
			if err != nil {
				return err
			}
			predictors[of(fmt.Sprintf(population, p.Learn))] = learned.density(false)
		}
		for k := range p.models {
			m := &p.models[k]
			own := strings.HasPrefix(m.Tasks, c.trained)
			if !own && !(c.sphere && m.Config.OnSphere() && m.Config.Degrees() && m.Config.DimY == 1) {
				continue
			}
			loaded, err := m.Load()
			if err != nil {
				return err
			}
			name := m.Name
			if trained = trained || own; !own {
				name += ", trained on other tasks"
			}
			predictors[of(name)] = eval.Independent(eval.Model(loaded))
		}
		if err := p.exactColumn(c, i, t.batch, process, rows, predictors); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if !trained {
		p.note("no model was trained for this table: docs/benchmarks.md has the commands")
	}
	return p.writeExact(t, rows)
}

// exactColumn measures the rows of column i.
func (p *reproduction) exactColumn(c *exactColumn, i, batch int, process *exactRow, rows []*exactRow,
	predictors map[*exactRow]eval.Density[float32]) error {
	for done, step := 0, 0; done < p.Tasks; done, step = done+batch, step+1 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if p.Progress != nil {
			p.Progress(i*p.Tasks+done, p.total)
		}
		n := min(batch, p.Tasks-done)
		start := time.Now()
		tasks, exact, err := c.known(n, p.Seed, step)
		if err != nil {
			return err
		}
		process.ll[i] = append(process.ll[i], exact...)
		process.seconds[i] += time.Since(start).Seconds() / float64(p.Tasks)
		for _, r := range rows { // in their order
			density := predictors[r]
			if density == nil {
				continue
			}
			start := time.Now()
			found, err := density(p.ctx, tasks)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			for _, v := range found {
				r.ll[i] = append(r.ll[i], v/float64(tasks.Curves.Nt))
			}
			r.seconds[i] += time.Since(start).Seconds() / float64(p.Tasks)
		}
	}
	return nil
}

// taskEstimate is the mean of numbers of tasks that are independent of each other, or given what they share. The error of one task is not
// known, and 0.
func taskEstimate(values []float64) eval.Estimate {
	mean, squares, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return eval.Estimate{Mean: mean, Error: math.Sqrt(squares / max(1, n-1) / n)}
}

// differences are those of two rows of numbers of the same tasks.
func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// writeExact writes the report and the file of a table.
func (p *reproduction) writeExact(t *exactTable, rows []*exactRow) error {
	p.printf("# %s\n\n%s\n\nLog-likelihood per target, in nats, every target on its own, of %d tasks with seed %d; "+
		"± is a standard error over tasks. \"Behind\" is the mean difference to the process on the same tasks, "+
		"and \"moved\" that to the same tasks where training had them. Seconds are those of a task, of the process with drawing it.\n\n| |",
		t.title, t.text, p.Tasks, p.Seed)
	for _, c := range t.columns {
		p.printf(" %s |", c.name)
	}
	p.printf("\n|---|%s\n", strings.Repeat("---:|", len(t.columns)))
	file := [][]string{{"row", "column", "tasks", "log_likelihood", "standard_error", "behind", "behind_standard_error", "moved",
		"moved_standard_error", "seconds"}}
	for k, r := range rows {
		p.printf("| %s |", r.name)
		for i, ll := range r.ll {
			if ll == nil {
				p.printf(" |")
				continue
			}
			v, behind := taskEstimate(ll), taskEstimate(differences(rows[0].ll[i], ll))
			p.printf(" %s", withError(v))
			line := []string{r.name, t.columns[i].name, fmt.Sprint(len(ll)), cell(v.Mean), cell(v.Error), cell(behind.Mean),
				cell(behind.Error), "", "", cell(r.seconds[i])}
			if k > 0 {
				p.printf(", behind %s", withError(behind))
			}
			if same := t.columns[i].same; same != i && r.ll[same] != nil {
				moved := taskEstimate(differences(ll, r.ll[same]))
				p.printf(", moved %+.6f ± %.6f", moved.Mean, moved.Error)
				line[7], line[8] = cell(moved.Mean), cell(moved.Error)
			}
			p.printf(", %.2f s |", r.seconds[i])
			file = append(file, line)
		}
		p.printf("\n")
	}
	for _, c := range t.columns {
		if !slices.ContainsFunc(p.models, func(m Model) bool { return strings.HasPrefix(m.Tasks, c.trained) }) {
			p.printf("\nModels of %s: not trained yet.\n", c.name)
		}
	}
	p.printf("\nEvery number: [%s.csv](%s.csv).\n", p.part, p.part)
	return p.table(p.part+".csv", file)
}

// globe makes the table of the turned globe, and of moved and wider squares.
func (p *reproduction) globe() error {
	t := &exactTable{title: "The turned globe", batch: 1,
		text: "The tasks of dl4bi (see docs/benchmarks.md): 128 to 512 context points and 1,024 targets of a geodesic " +
			"exponential process within 10 degrees, unturned and turned, and of smooth functions in the plane, where training had them, " +
			"moved and wider. " +
			"universal-globe and universal-2 are package cnp/krige, which is fitted to every task and was trained on none; " +
			"it predicts values with noise, and targets have none. " + exactPopulation}
	for _, process := range task.GlobeProcesses {
		first := len(t.columns)
		for i, place := range task.GlobePlaces[process] {
			src := task.GlobeSource[float32]{Process: process, Place: place}
			c := exactColumn{name: process + ", " + place, known: src.Known, trained: process + " of the globe benchmark",
				krige: "universal-2", same: first, training: task.GlobeSource[float32]{Process: process}}
			if process == "geodesic" {
				c.krige, c.sphere = "universal-globe", true
			} else if i == 2 { // other tasks
				c.same = first + 2
			}
			t.columns = append(t.columns, c)
		}
	}
	return p.exactly(t)
}

// gridded makes the table of large contexts.
func (p *reproduction) gridded() error {
	t := &exactTable{title: "Large contexts", batch: 4,
		text: "The tasks of gridded-tnp (see docs/benchmarks.md): 10,000 context points and 1,000 targets on [-6, 6]². The process " +
			"is the exact Gaussian process, by a Cholesky factorisation for every four tasks. universal-2 is package cnp/krige, " +
			"which knows no kernel: it is fitted to every task. These four tasks share their places, whose chance is not in ±. " +
			exactPopulation}
	for i, l := range task.GriddedLengths {
		src := task.GriddedSource[float32]{Length: l}
		t.columns = append(t.columns, exactColumn{name: fmt.Sprintf("rbf of length %g", l), known: src.Known, krige: "universal-2", same: i,
			trained: fmt.Sprintf("rbf of length %g of the gridded benchmark", l), training: src.Small()})
	}
	return p.exactly(t)
}
