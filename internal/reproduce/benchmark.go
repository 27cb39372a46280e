package reproduce

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// publishedBenchmark is the table of J. Bruinsma's thesis: for each of task.BenchmarkProcesses and task.BenchmarkRegions, KL to the process
// for the first three, log-likelihood for the others. With two coordinates points lie as in training ("int") only.
var publishedBenchmark = []struct {
	dx    int
	name  string
	cells [5][]float64
}{
	{1, "best independent prediction", [5][]float64{{.40, .40, .95}, {.40, .40, .84}, {.38, .38, .59}}},
	{1, "ConvCNP", [5][]float64{{.41, .41, .95}, {.40, .40, .84}, {.40, .40, .60}, {3.17, 3.17, .06}, {.10, .12, -1.20}}},
	{1, "ConvGNP, low rank", [5][]float64{{.01, .01, 3.46}, {.01, .01, 2.32}, {.05, .05, .56}, {3.70, 3.71, .19}, {.23, .23, -1.32}}},
	{1, "ConvCNP, autoregressive", [5][]float64{{.01, .01, .01}, {0, 0, 0}, {.05, .05, .04}, {3.65, 3.66, 3.36}, {.53, .53, .31}}},
	{2, "ConvCNP", [5][]float64{{.37}, {.28}, {.20}, {1.93}, {-.49}}},
	{2, "ConvCNP, autoregressive", [5][]float64{{.01}, {.01}, {.05}, {2.59}, {-.10}}},
}

// benchmarkMethods are the ways to predict whole tasks, in the table's order.
var benchmarkMethods = []string{"independent", "low rank", "autoregressive", "low rank, autoregressive"}

// benchmarkMethods are those of a model: its own, and by the chain rule.
func (m *Model) benchmarkMethods() []string {
	l, err := cnp.ParseLikelihood(&m.Config)
	if _, joint := l.(cnp.JointLikelihood); err == nil && joint {
		return []string{"low rank", "low rank, autoregressive"}
	}
	return []string{"independent", "autoregressive"}
}

// benchmarkDensity is a model's joint density by one of benchmarkMethods.
func benchmarkDensity(method string, m cnp.Model[float32], seed uint64) (eval.Density[float32], error) {
	r, ok := m.(cnp.Regressor[float32])
	if c := m.Config(); ok && c.HasUnits() {
		r = cnp.Standardised(r)
		m = r
	}
	if !strings.HasSuffix(method, "autoregressive") {
		return eval.Predicted(eval.Model(m)), nil
	}
	if !ok {
		return nil, fmt.Errorf("a model of architecture %s regresses no curves", m.Config().Architecture)
	}
	chain := cnp.Chain{Seed: seed}
	_, _ = fmt.Sscanf(method, growingBlocks, &chain.Growth) // other methods go target by target
	return eval.Autoregressive(r, chain), nil
}

// benchmarkCell is one number of the table, as the file of cells keeps it.
type benchmarkCell struct {
	benchmarkKey
	Report  eval.JointReport `json:"report"`
	Seconds float64          `json:"seconds"`
}

// benchmarkKey is all that a number depends on.
type benchmarkKey struct {
	Model   string `json:"model"`
	Digest  string `json:"parameters"` // of the model's configuration and parameters
	Method  string `json:"method"`
	Process string `json:"process"`
	Region  string `json:"region"`
	Dx      int    `json:"dx"`
	Tasks   int    `json:"tasks"`
	Seed    uint64 `json:"seed"`
}

// benchmarkRow is a line of the table: one kind of model, a model for each process.
type benchmarkRow struct {
	name   string
	dx     int
	method string
	models [5]*Model
	cells  [5][]*benchmarkCell
}

// benchmark is the number of the process of the benchmark that the model was trained on; -1: none.
func (m *Model) benchmark() int {
	return slices.IndexFunc(task.BenchmarkProcesses, func(name string) bool {
		s := task.BenchmarkSource[float32]{Process: name, Dx: m.Config.DimX}
		chained := s
		chained.Chain = true
		tasks := strings.TrimSuffix(m.Tasks, task.AsExpected)
		return tasks == s.String() || tasks == chained.String()
	})
}

// benchmarkRows sorts the models by what they were trained on, which their files say.
func (p *reproduction) benchmarkRows() (rows []*benchmarkRow) {
	for i := range p.models {
		m := &p.models[i]
		if m.Config.Architecture.Image() || m.Config.DimY != 1 {
			continue
		}
		process := m.benchmark()
		if process < 0 {
			continue
		}
		for _, method := range m.benchmarkMethods() {
			name := fmt.Sprintf("%s, %s", m.Title(), method)
			at := slices.IndexFunc(rows, func(r *benchmarkRow) bool {
				return r.name == name && r.dx == m.Config.DimX && r.models[process] == nil
			})
			if at < 0 {
				at = len(rows)
				rows = append(rows, &benchmarkRow{name: name, dx: m.Config.DimX, method: method})
			}
			rows[at].models[process] = m
		}
	}
	slices.SortStableFunc(rows, func(a, b *benchmarkRow) int {
		if a.dx != b.dx {
			return a.dx - b.dx
		}
		return slices.Index(benchmarkMethods, a.method) - slices.Index(benchmarkMethods, b.method)
	})
	return rows
}

// benchmarkRegions are where a table has points, for tasks of so many coordinates.
func benchmarkRegions(dx int) []string {
	if dx > 1 {
		return task.BenchmarkRegions[:1]
	}
	return task.BenchmarkRegions
}

// benchmark makes the table of the neuralprocesses benchmark. Every number is written to a file as soon as it is known, and is not computed
// again by a command that finds it there.
func (p *reproduction) benchmark() error {
	rows := p.benchmarkRows()
	if len(rows) == 0 {
		p.note("no model was trained on the benchmark: equivcnp train regression --benchmark eq ...")
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
	for _, r := range rows {
		for _, m := range r.models {
			if m != nil {
				p.total += p.tasksBy(r.method) * len(benchmarkRegions(r.dx))
			}
		}
	}
	for _, r := range rows {
		for k, listed := range r.models {
			if listed == nil {
				continue
			}
			m, err := listed.Load()
			if err != nil {
				return err
			}
			digest, err := modelDigest(m)
			if err != nil {
				return err
			}
			for _, region := range benchmarkRegions(r.dx) {
				key := benchmarkKey{listed.Name, digest, r.method, task.BenchmarkProcesses[k], region, r.dx, p.Tasks, p.Seed}
				opt, cell := p.options(p.tasksBy(r.method)), known.of(key, p.tasksBy(r.method))
				if cell == nil {
					key.Tasks = p.tasksBy(r.method)
					src := task.BenchmarkSource[float32]{Process: key.Process, Region: key.Region, Dx: key.Dx}
					if cell, err = p.measure(key, m, src, opt, file); err != nil {
						return err
					}
				}
				r.cells[k] = append(r.cells[k], cell)
			}
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	return p.writeBenchmark(rows)
}

// tasksBy is how many tasks are behind a number by a method.
func (p *reproduction) tasksBy(method string) int {
	if strings.HasSuffix(method, "autoregressive") || isJoint(method) {
		return p.fewer()
	}
	return p.Tasks
}

// measure computes one number and keeps it in the file.
func (p *reproduction) measure(key benchmarkKey, m cnp.Model[float32], src task.Source[float32], opt eval.Options,
	file *os.File) (*benchmarkCell, error) {
	density, err := benchmarkDensity(key.Method, m, p.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key.Model, err)
	}
	return p.measureBy(key, density, src, opt, file)
}

// measureBy is measure for any density.
func (p *reproduction) measureBy(key benchmarkKey, density eval.Density[float32], src task.Source[float32], opt eval.Options,
	file *os.File) (*benchmarkCell, error) {
	start := time.Now()
	report, err := eval.Joint(p.ctx, density, src, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key.Model, err)
	}
	cell := &benchmarkCell{key, *report, time.Since(start).Seconds()}
	line, err := json.Marshal(cell)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key.Model, err)
	}
	_, err = file.Write(append(line, '\n'))
	return cell, err
}

// cellsFile holds the numbers, one JSON object a line.
func (p *reproduction) cellsFile() string { return filepath.Join(p.Out, p.part+".jsonl") }

// cells are numbers that earlier commands have computed.
type cells map[benchmarkKey]*benchmarkCell

// of is the number of a key, or of fewer tasks, but not fewer than least: that of the most; nil: none is known.
func (c cells) of(key benchmarkKey, least int) (found *benchmarkCell) {
	for k, cell := range c {
		tasks := k.Tasks
		if k.Tasks = key.Tasks; k == key && tasks >= least && tasks <= key.Tasks && (found == nil || tasks > found.Tasks) {
			found = cell
		}
	}
	return found
}

// knownCells reads the numbers that earlier commands have computed; a last line that one of them did not finish is no number.
func (p *reproduction) knownCells() (cells, error) {
	b, err := os.ReadFile(p.cellsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := cells{}
	whole := b[:bytes.LastIndexByte(b, '\n')+1]
	for lines := bufio.NewScanner(bytes.NewReader(whole)); lines.Scan(); {
		cell := new(benchmarkCell)
		if err := json.Unmarshal(lines.Bytes(), cell); err != nil {
			return nil, fmt.Errorf("%s: %w", p.cellsFile(), err)
		}
		known[cell.benchmarkKey] = cell
	}
	if len(whole) < len(b) {
		err = os.Truncate(p.cellsFile(), int64(len(whole)))
	} else {
		err = nil
	}
	return known, err
}

// modelDigest tells a model from others of its name.
func modelDigest(m cnp.Model[float32]) (string, error) {
	h := sha256.New()
	config, err := json.Marshal(m.Config())
	if err != nil {
		return "", err
	}
	h.Write(config)
	for _, p := range m.State() {
		fmt.Fprintln(h, p.Name)
		if err := binary.Write(h, binary.LittleEndian, p.Data); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

func (p *reproduction) writeBenchmark(rows []*benchmarkRow) error {
	p.printf("# The neuralprocesses benchmark\n\nTasks of the library neuralprocesses, %d for every number unless it "+
		"says another, with seed %d. Of Gaussian processes (eq, matern, weakly-periodic): "+
		"the Kullback-Leibler divergence to the process, per target; less is better, 0 the best. Of the others: the log-likelihood "+
		"per target; more is better; of the mixture, the mean of those of its four processes, however many tasks each has. "+
		"± is a standard error, which the context's size, one for every 16 tasks, makes larger; the best independent prediction "+
		"is that on the very same tasks. Published numbers are those of J. Bruinsma's thesis, to two digits.\n", p.Tasks, p.Seed)
	file := [][]string{{"name", "dx", "process", "region", "model", "method", "tasks", "kl", "kl_standard_error", "log_likelihood",
		"log_likelihood_standard_error", "best_independent_kl", "not_finite"}}
	for dx := 1; dx <= 2; dx++ {
		p.printf("\n## dx = %d\n\nIn every cell: %s.\n\n|", dx, map[int]string{
			1: "all points where training had them, on [-2, 2]; all on [2, 6]; the context on [-2, 2] and the targets on [2, 6]",
			2: "all points where training had them, on [-2, 2] along each coordinate"}[dx])
		for i, process := range task.BenchmarkProcesses {
			p.printf(" | %s, %s", process, map[bool]string{true: "KL", false: "log-likelihood"}[i < 3])
		}
		p.printf(" |\n|---|---|---|---|---|---|\n")
		for _, r := range publishedBenchmark {
			if r.dx != dx {
				continue
			}
			p.printf("| published: %s |", r.name)
			for _, c := range r.cells {
				p.printf(" %s |", joined(c, func(v float64) string { return fmt.Sprintf("%.2f", v) }))
			}
			p.printf("\n")
		}
		var mine []*benchmarkRow
		for _, r := range rows {
			if r.dx == dx {
				mine = append(mine, r)
			}
		}
		if len(mine) == 0 {
			p.printf("| here | not trained yet | not trained yet | not trained yet | not trained yet | not trained yet |\n")
			continue
		}
		file = p.ownBenchmark(file, dx, mine)
	}
	p.printf("\nEvery number with the model behind it: [benchmark.csv](benchmark.csv), and as one JSON object a line, " +
		"benchmark.jsonl, from which the " +
		"command resumes after an interruption.\n")
	return p.table("benchmark.csv", file)
}

// ownBenchmark writes the lines of the models' own numbers for dx coordinates, and appends them to the rows of a table.
func (p *reproduction) ownBenchmark(file [][]string, dx int, mine []*benchmarkRow) [][]string {
	p.printf("| here: best independent prediction |")
	for k := range task.BenchmarkProcesses {
		at := slices.IndexFunc(mine, func(r *benchmarkRow) bool { return len(r.cells[k]) > 0 && r.cells[k][0].Report.Diagonal != nil })
		if at < 0 {
			p.printf(" |")
			continue
		}
		p.printf(" %s |", joined(mine[at].cells[k], func(c *benchmarkCell) string { return withError(*c.Report.Diagonal) }))
	}
	p.printf("\n")
	for _, r := range mine {
		p.printf("| here: %s |", r.name)
		for k := range task.BenchmarkProcesses {
			if r.models[k] == nil {
				p.printf(" not trained yet |")
				continue
			}
			fewer := ""
			if n := r.cells[k][0].Tasks; n < p.Tasks {
				fewer = fmt.Sprintf(" (%d tasks)", n)
			}
			p.printf(" %s%s |", joined(r.cells[k], func(c *benchmarkCell) string {
				if c.Report.KL != nil {
					return withError(*c.Report.KL)
				}
				return withError(c.Report.LogLikelihood)
			}), fewer)
			for _, c := range r.cells[k] {
				kl, klError, alone := "", "", ""
				if c.Report.KL != nil {
					kl, klError = cell(c.Report.KL.Mean), cell(c.Report.KL.Error)
					alone = cell(c.Report.Diagonal.Mean)
				}
				file = append(file, []string{r.name, fmt.Sprint(dx), c.Process, c.Region, c.Model, c.Method,
					fmt.Sprint(c.Report.Tasks), kl, klError,
					cell(c.Report.LogLikelihood.Mean), cell(c.Report.LogLikelihood.Error), alone, fmt.Sprint(c.Report.NotFinite)})
			}
		}
		p.printf("\n")
	}
	return file
}

// joined writes a cell of several numbers.
func joined[T any](cells []T, text func(T) string) string {
	var out []string
	for _, c := range cells {
		out = append(out, text(c))
	}
	return strings.Join(out, " / ")
}

// withError writes a mean with its standard error, where that is known.
func withError(e eval.Estimate) string {
	if e.Error == 0 {
		return fmt.Sprintf("%.4f", e.Mean)
	}
	return fmt.Sprintf("%.4f±%.4f", e.Mean, e.Error)
}
