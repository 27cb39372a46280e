// Package reproduce makes the paper's tables and figures anew, and those of the field: each part is a report in
// Markdown with its numbers as CSV and its drawings as PNG.
package reproduce

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/simd"
)

// Part is one table, or one set of figures.
type Part struct {
	// Name is that of its report, Short and Long say what it is.
	Name, Short, Long string
	// Tasks is the usual number of tasks behind every number. Chain says what Config.Chain is; "": it has no use.
	Tasks int
	Chain string
	// Learns reports whether populations are estimated from Config.Learn tasks. Such parts can measure some of their columns; see
	// Config.Columns.
	Learns bool
	// Keeps reports whether every number is kept in the folder as soon as it is known.
	Keeps bool
	// Steps is the usual number of steps of the models that the part trains itself; 0: it trains none.
	Steps int
	// MNIST says that the part draws images of a file, too. Data says what Config.Data is; "": it has no use.
	MNIST bool
	Data  string
	run   func(*reproduction) error
}

// Resumes reports whether the same command resumes after an interruption: numbers, or models, are kept in the folder.
func (part *Part) Resumes() bool { return part.Keeps || part.Steps > 0 }

// ColumnsUsage says what Config.Columns is.
func (part *Part) ColumnsUsage() string {
	if part.Keeps {
		return "measure the columns with this text in their names, and take known numbers of the others; may be repeated"
	}
	return "measure the columns with this text in their names alone; may be repeated"
}

// Parts are all of them.
var Parts = []Part{
	{Name: "table1", Short: "Log-likelihood on curves (1D)",
		Long: `The paper's table 1: the log-likelihood of a value on curves of three Gaussian processes, at 400 even places
on [-4, 4], of which 3 to 49 are observed. The paper's numbers and the exact posterior, which nothing beats on
average, stand beside the models. A second table is for [-2, 2], where the paper's models were trained.`, Tasks: 1000,
		Chain: "number of tasks to predict by the chain rule as well, 400 predictions each; 0: none",
		run:   (*reproduction).table1},
	{Name: "table2", Short: "Log-likelihood on digits (2D)",
		Long: `The paper's table 2: the log-likelihood of a pixel on digits of a digital clock, 64 x 64 pixels, turned by up
to 90 degrees and scaled by 0.3 to 0.45, with 1 % to 50 % of the pixels observed. The paper's digits are not
public; these are drawn anew.`, Tasks: 1000, run: (*reproduction).table2},
	{Name: "figures", Short: "Curves inside and outside the training range; digits by scale and by rate",
		Long: `The paper's figures: curves from points inside the training range, outside it, and with an outlier;
log-likelihood and squared error on digits by scale and by the share of observed pixels; completed
digits of every scale. --mnist adds completed images of a file, turned by any angle.`, Tasks: 64, MNIST: true,
		run: (*reproduction).figures},
	{Name: "benchmark", Short: "The tasks of the neuralprocesses benchmark",
		Long: `The benchmark of the library neuralprocesses, beside the published table: Gaussian processes, sawtooth waves
and mixtures in one and two coordinates, where training had its points, elsewhere, and beyond the context.
It takes the models whose files say that they were trained on it ("equivcnp train regression --benchmark
eq"). Every number is kept in benchmark.jsonl, from which the same command resumes after an interruption.`, Tasks: 4096,
		Chain: chainTasks, Keeps: true, run: (*reproduction).benchmark},
	{Name: "sphere", Short: "Stations on the globe, moved to the poles, across the date line, and anywhere",
		Long: `The log-likelihood of the same tasks on the globe at middle latitudes, at the poles, across the date line, and
after any rotation of the globe, by models under the globe's rotations and under translations of latitude and
longitude ("equivcnp train regression --sphere eq"), beside the exact posterior, which nothing beats on average.`,
		Tasks: 1024, run: (*reproduction).sphere},
	{Name: "vectors", Short: "Vector fields of Gaussian processes in the plane",
		Long: `The benchmark of vector fields on the disc, beside the published table: log-likelihoods per target of three
processes, independent and by the chain rule, and the exact ones, which nothing beats on average. It takes the
models whose files say that they were trained on them ("equivcnp train regression --field divergence-free").`,
		Tasks: 500, Chain: "number of tasks to predict by the chain rule as well, 623 predictions each; 0: none",
		run: (*reproduction).vectors},
	{Name: "rcnp", Short: "The tasks of the relational neural processes, with 2, 3 and 5 coordinates",
		Long: `The benchmark of relational neural processes, beside the published table: Gaussian processes and sawtooth waves
in 2, 3 and 5 coordinates, where training had its points, and the best independent prediction, a bound. It takes
the models whose files say that they were trained on it ("equivcnp train regression --benchmark rcnp-eq --dx 2").
Numbers are kept in rcnp.jsonl, from which the same command resumes.`, Tasks: 1024,
		Chain: chainTasks, Learns: true, Keeps: true, run: (*reproduction).rcnp},
	{Name: "predprey", Short: "Predator and prey, simulated and from a series of your own",
		Long: `Predator and prey, beside the published table: log-likelihoods per target of interpolation, forecasting and
reconstruction. --data names a table of the real series of hare and lynx, which is not shipped, with columns x,
y1 and y2. It takes the models whose files say that they were trained on such tasks ("equivcnp train regression
--benchmark predprey --likelihood gamma"). Numbers are kept in predprey.jsonl, from which the same command resumes.`, Tasks: 1024,
		Chain: chainTasks, Learns: true, Keeps: true, Data: "table of years, hares and lynxes: columns x, y1 and y2",
		run: (*reproduction).predPrey},
	{Name: "joint", Short: "Joint log-likelihoods of curves, with 16 and 128 targets",
		Long: `Joint log-likelihoods per target of Gaussian processes and of noisy sawtooth waves with 8 to 128 context
points, beside the published ones, by a model's joint distribution and by the chain rule. It takes the models
whose files say that they were trained on them ("equivcnp train regression --benchmark joint-gp"). joint.csv has
the seconds of every number, too. Numbers are kept in joint.jsonl, from which the same command resumes.`, Tasks: 1024,
		Chain: chainTasks, Learns: true, Keeps: true, run: (*reproduction).joint},
	{Name: "globe", Short: "A process on the turned globe, and one in the plane, moved and wider",
		Long: `Log-likelihoods per target of a geodesic exponential process within 10 degrees, unturned and turned, and of
smooth functions in the plane where training has them, moved, and on a wider square, beside the exact ones and
those of interpolation without a model. It takes the models whose files say that they were trained on them
("equivcnp train regression --benchmark globe-geodesic --group "SO(3)"").`, Tasks: 32,
		Learns: true, run: (*reproduction).globe},
	{Name: "gridded", Short: "Contexts of 10,000 points in the plane",
		Long: `Log-likelihoods per target of smooth functions with 10,000 context points, and the seconds they take, beside
the exact ones, which factor a matrix of 11,000 rows (1 GB), and those of interpolation without a model. It takes
the models whose files say that they were trained on them ("equivcnp train regression --benchmark gridded-0.1").`,
		Tasks: 8, Learns: true, run: (*reproduction).gridded},
	{Name: "anywhere", Short: "Digits anywhere, at any angle and of any size",
		Long: `Squared error and log-likelihood of every model of grey images on digits of a digital clock turned by any
angle, scaled by 0.3 to 1 and shifted by up to 16 pixels, with 1 % to 50 % of the pixels observed. Models that
were trained on upright, centred digits know the others by their group alone.`, Tasks: 200, run: (*reproduction).anywhere},
	{Name: "approximate", Short: "Models whose symmetry is approximate, exact or none, on broken symmetries",
		Long: `Trains small models on values on the line whose translations are broken by known amounts, with two seeds each:
one that is equivariant up to a learned departure ("train regression --approximate"), the same without departure,
and two that know no symmetry. It prints log-likelihoods beside the best prediction, and how far predictions
change when tasks move. Models are kept in --out, from which the same command resumes.`, Tasks: 1024, Steps: 3000,
		run: (*reproduction).approximate},
	{Name: "precision", Short: "The loss of accuracy by bfloat16 of image models",
		Long: `Log-likelihood and squared error of every model of grey images that can compute in bfloat16, on the digits of
table 2, in float32 and in bfloat16, and how far predictions move.`, Tasks: 200, run: (*reproduction).precision},
}

// LearnUsage says what Config.Learn is.
const LearnUsage = "number of tasks to learn a population of Gaussian processes from; 0: no rows without a network"

// chainTasks is what Config.Chain is for tables with their own kind of models.
const chainTasks = "number of tasks for each number by the chain rule, which takes a prediction for each target; 0: --tasks"

// Config says with which models and on which tasks a part is made.
type Config struct {
	// Folders are those of the models; none: the shipped models.
	Folders []string
	// Out is the folder in which numbers are kept that take long.
	Out   string
	Tasks int
	Seed  uint64
	Chain int // tasks by the chain rule
	Steps int // of trainings
	Learn int // tasks that populations are estimated from; 0: no rows without a network
	// Columns are parts of the names of columns that are measured. Others have the numbers that earlier commands have kept. None: all.
	Columns []string
	MNIST   string
	Data    string // a table of the user's
	// Version is that of the program, for the report.
	Version string
	// Progress is told how many tasks are done; nil: nobody is.
	Progress func(done, total int)
}

// Result lists what was made.
type Result struct {
	Files []File
	Notes []string
}

// File is one file of the result.
type File struct {
	Name    string
	Content []byte
}

// reproduction is one table or set of figures in the making.
type reproduction struct {
	Config
	Result
	ctx    context.Context
	part   string // its name
	models []Model
	report strings.Builder // Markdown
	done   int             // tasks, of total
	total  int

	populations map[string]*populations // by the source that they were estimated from
}

// Run makes a part.
func (part *Part) Run(ctx context.Context, c Config) (*Result, error) {
	p := &reproduction{ctx: ctx, part: part.Name, Config: c}
	var err error
	if p.models, p.Notes, err = Models(c.Folders); err != nil {
		return nil, err
	}
	if err := part.run(p); err != nil {
		return nil, err
	}
	p.madeBy(part)
	if len(p.Notes) > 0 {
		p.printf("\n## Notes\n\n")
		for _, n := range p.Notes {
			p.printf("- %s\n", n)
		}
	}
	p.Files = append(p.Files, File{part.Name + ".md", []byte(p.report.String())})
	return &p.Result, ctx.Err()
}

// note adds a note to the report.
func (p *reproduction) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// madeBy says in the report which command and which models made it; files and folders go by their own names, not by where they lie.
func (p *reproduction) madeBy(part *Part) {
	p.printf("\n## Made by\n\n    equivcnp reproduce %s --tasks %d --seed %d", part.Name, p.Tasks, p.Seed)
	if part.Learns && p.Learn != DefaultLearn {
		p.printf(" --learn %d", p.Learn)
	}
	if p.Chain > 0 {
		p.printf(" --chain %d", p.Chain)
	}
	if p.Steps > 0 {
		p.printf(" --steps %d", p.Steps)
	}
	for _, part := range p.Columns {
		p.printf(" --columns %q", part)
	}
	for _, dir := range p.Folders {
		p.printf(" --models %s", argument(dir))
	}
	if p.Data != "" {
		p.printf(" --data %s", argument(p.Data))
	}
	if p.MNIST != "" {
		p.printf(" --mnist %s", argument(p.MNIST))
	}
	p.printf("\n\nversion %s, %s, kernels %v.", p.Version, runtime.Version(), simd.CurrentLevel())
	if len(p.Folders) > 0 || p.Steps > 0 {
		p.printf("\n")
		return
	}
	p.printf(" The shipped models:\n\n")
	for _, m := range p.models {
		info, err := pretrained.About(m.Name)
		if err == nil && m.partOf(part.Name) {
			p.printf("- %s: `%s`, seed %s, %s steps, on %s\n", info.Name, info.Command, info.Seed, info.Steps, info.Tasks)
		}
	}
}

// argument is the name of a file in a command.
func argument(path string) string {
	name := filepath.Base(path)
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("._-+", r) }) {
		return strconv.Quote(name)
	}
	return name
}

// partOf reports whether a part's report is about the model.
func (m *Model) partOf(part string) bool {
	_, sphere := m.sphereSource()
	if part == "anywhere" {
		return m.Config.Architecture.Image() && m.Config.DimY == 1
	}
	if livingParts[part] != nil || m.living() != "" {
		return m.living() == part
	}
	return (part == "benchmark") == (m.benchmark() >= 0) && (part == "sphere") == sphere && (part == "vectors") == (m.vectorKernel() >= 0)
}

func (p *reproduction) printf(format string, args ...any) { fmt.Fprintf(&p.report, format, args...) }

// add keeps a file of the result.
func (p *reproduction) add(name string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.Files = append(p.Files, File{name, b.Bytes()})
	return nil
}

// table keeps a CSV file.
func (p *reproduction) table(name string, rows [][]string) error {
	return p.add(name, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// chart keeps a drawing and shows it in the report.
func (p *reproduction) chart(name string, c *picture.Chart) error {
	p.printf("\n![%s](%s)\n", c.Title, name)
	return p.add(name, func(w io.Writer) error { return picture.WriteCharts(w, "png", c) })
}

// options are those of a measurement of n tasks, which moves the progress bar on.
func (p *reproduction) options(n int) eval.Options {
	base := p.done
	p.done += n
	opt := eval.Options{Tasks: n, Seed: p.Seed}
	if p.Progress != nil {
		opt.Progress = func(done, _ int) { p.Progress(min(base+done, p.total), p.total) }
	}
	return opt
}

// plusMinus writes a mean and a standard deviation.
func plusMinus(s eval.Stat) string { return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.Std) }

// cell writes a number for a CSV file.
func cell(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// standardError is that of a mean over the report's tasks.
func standardError(r *eval.Report) float64 {
	return r.LogLikelihood.Std / math.Sqrt(float64(max(1, r.Tasks)))
}

// reportColumns and reportCells are what CSV files say about a measurement.
var reportColumns = []string{"tasks", "log_likelihood", "log_likelihood_std", "squared_error", "squared_error_std", "rmse",
	"calibration_error", "z_square", "not_finite"}

func reportCells(r *eval.Report) []string {
	return []string{strconv.Itoa(r.Tasks), cell(r.LogLikelihood.Mean), cell(r.LogLikelihood.Std), cell(r.SquaredError.Mean),
		cell(r.SquaredError.Std), cell(r.RMSE), cell(r.CalibrationError), cell(r.ZSquare), strconv.Itoa(r.NotFinite)}
}
