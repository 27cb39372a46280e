// Command ship adds a model to package pretrained: it tests the model as the paper does, writes the result and the model's
// origin into its metadata, and puts it into the folder of the embedded models.
//
//	go run ./cnp/pretrained/ship --name rbf-equivcnp --model rbf.safetensors --kernel rbf --command "equivcnp train regression ..."
//	go run ./cnp/pretrained/ship --name bench-eq --model eq.safetensors --benchmark eq --command "equivcnp train regression ..."
//
// go run ./cnp/pretrained/ship --name globe --model globe.safetensors --sphere matern --place globe --command "equivcnp
// train regression ..."
//
//	go run ./cnp/pretrained/ship --name vectors-rbf --model rbf.safetensors --field rbf --command "equivcnp train regression ..."
//	go run ./cnp/pretrained/ship --name digits-Sim2 --model sim2.safetensors --anywhere --n 64 --command "equivcnp train image ..."
//	go run ./cnp/pretrained/ship --name digits-T2 --model t2.safetensors --command "equivcnp train image ..."
//
// Seed, steps and tasks are taken from the metadata that equivcnp train writes; --seed, --steps and --tasks say them for
// other models.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/simd"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ship:", err)
		os.Exit(1)
	}
}

// seed is that of the test, none that training uses by default.
const seed = 1000

func run() error {
	f := parseFlags()
	if f.name == "" || f.path == "" || f.command == "" {
		return errors.New("--name, --model and --command are required")
	}
	s, err := weights.ReadState(f.path)
	if err != nil {
		return err
	}
	m, err := f.model(s)
	if err != nil {
		return err
	}
	about, err := f.about(s.Metadata)
	if err != nil {
		return err
	}
	src, err := f.source(m.Config())
	if err != nil {
		return err
	}
	tested, c := m, m.Config()
	if reg, ok := m.(cnp.Regressor[float32]); ok && c.HasUnits() {
		tested = cnp.Standardised(reg) // the tasks are in the data's units
	}
	r, err := eval.Run(context.Background(), eval.Model(tested), src, eval.Options{Tasks: f.n, Seed: seed})
	if err != nil {
		return err
	}
	about[pretrained.KeyTest] = fmt.Sprintf("%d tasks with seed %d: %v", f.n, seed, src)
	about[pretrained.KeyLogLikelihood] = fmt.Sprintf("%.4f ± %.4f", r.LogLikelihood.Mean, r.LogLikelihood.Std)
	unsuited, err := rounded(m, src, f.n, r.LogLikelihood.Mean)
	if err != nil {
		return err
	}
	if unsuited = cmp.Or(unsuited, f.bfloat16); unsuited != "" {
		about[pretrained.KeyBFloat16] = unsuited
	}
	out := filepath.Join(f.dir, f.name+".safetensors")
	if err := weights.Save(out, m, about); err != nil {
		return err
	}
	if unsuited != "" {
		fmt.Println("bfloat16:", unsuited)
	}
	fmt.Printf("%s: log-likelihood %s, squared error %.4f, on %s\n", out, about[pretrained.KeyLogLikelihood], r.SquaredError.Mean,
		about[pretrained.KeyTest])
	return nil
}

// flags are the program's.
type flags struct {
	name, path, command, note, dir          string
	kernel, benchmark, sphere, field, place string
	anywhere, turned                        bool
	placement, bfloat16                     string
	densityCap                              float64
	n                                       int
	said                                    map[string]*string
}

func parseFlags() *flags {
	f := &flags{}
	flag.StringVar(&f.name, "name", "", "name of the model")
	flag.StringVar(&f.path, "model", "", "the model's file")
	flag.StringVar(&f.command, "command", "", "the command that trained it")
	flag.StringVar(&f.kernel, "kernel", "", "a curve model's process")
	flag.StringVar(&f.benchmark, "benchmark", "", "the published benchmark that a model was trained on, as in train regression")
	flag.StringVar(&f.sphere, "sphere", "", "the process on the sphere that a model was trained on")
	flag.StringVar(&f.field, "field", "", "the kernel of the vector fields that a model was trained on")
	flag.BoolVar(&f.anywhere, "anywhere", false, "test a model of images on digits anywhere, at any angle and of any size")
	flag.StringVar(&f.place, "place", "", "--sphere: where the stations lie")
	flag.StringVar(&f.placement, "placement", "", "change where a curve model's lattice lies to this; --note should say so")
	flag.Float64Var(&f.densityCap, "density-cap", 0, "cap the density of a curve model's context at this; --note should say so")
	flag.StringVar(&f.bfloat16, "bfloat16", "", "why the model is not suited for bfloat16, on a CPU that cannot measure it")
	flag.BoolVar(&f.turned, "turned", false, "turn the vectors of a model of fields by a quarter, which makes one of "+
		"divergence-free fields one of curl-free fields; --note should say so")
	flag.StringVar(&f.note, "note", "", "what else is to be known about the model")
	flag.IntVar(&f.n, "n", 1000, "tasks of the test")
	flag.StringVar(&f.dir, "dir", "cnp/pretrained/models", "folder of the embedded models")
	f.said = map[string]*string{
		pretrained.KeySeed:  flag.String("seed", "", "seed of the training"),
		pretrained.KeySteps: flag.String("steps", "", "steps of the training"),
		pretrained.KeyTasks: flag.String("tasks", "", "what it was trained on"),
	}
	flag.Parse()
	return f
}

// model builds the file's model, with what the flags change of it.
func (f *flags) model(s *weights.State) (cnp.Model[float32], error) {
	m, err := weights.Build[float32](s, weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	if f.placement != "" || f.densityCap != 0 {
		c := m.Config()
		if f.placement != "" {
			c.Placement = cnp.Placement(f.placement)
		}
		if f.densityCap != 0 {
			c.DensityCap = f.densityCap
		}
		other, err := cnp.New[float32](c, 0)
		if err != nil {
			return nil, err
		}
		for i, p := range other.State() {
			copy(p.Data, m.State()[i].Data)
		}
		m = other
	}
	if f.turned {
		if err := turnVectors(m); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return m, nil
}

// about is what the flags, or else the file, say of the training.
func (f *flags) about(file map[string]string) (map[string]string, error) {
	about := map[string]string{pretrained.KeyCommand: f.command}
	if f.note != "" {
		about[pretrained.KeyNote] = f.note
	}
	for key, v := range f.said {
		about[key] = file[key]
		if *v != "" {
			about[key] = *v
		}
		if about[key] == "" {
			return nil, fmt.Errorf("%s does not say its %s, and --%s is not given", f.path, key, key)
		}
	}
	return about, nil
}

// source is what the model is tested on.
func (f *flags) source(c cnp.Config) (task.Source[float32], error) {
	switch {
	case f.anywhere:
		return task.ImageSource[float32]{Pictures: task.AnywhereDigits(), Rates: task.PaperRates}, nil
	case f.benchmark != "":
		src, _, _, err := task.NewBenchmark[float32](f.benchmark, task.BenchmarkOptions{Dx: c.DimX})
		return src, err
	case f.sphere != "":
		return task.SphereSource[float32]{Process: f.sphere, Place: f.place, Dx: c.DimX}, nil
	case f.field != "":
		return task.VectorSource[float32]{Kernel: f.field}, nil
	case c.Architecture.Image():
		return task.ImageSource[float32]{Pictures: task.TestDigits(), Rates: task.PaperRates}, nil
	}
	p, err := task.ProcessByName(f.kernel)
	if err != nil {
		return nil, err
	}
	return task.CurveSource[float32]{Name: f.kernel, Curves: task.PaperTestOf(p)}, nil
}

// turnVectors changes the first map and the head of a model with levels so that it predicts vectors turned by a quarter
// from vectors that are turned, as it predicted the others: (v, -u) for (u, v).
func turnVectors(m cnp.Model[float32]) error {
	c := m.Config()
	if c.Levels == 0 || c.DimX != 2 || c.DimY != 2 || !c.Vectors() || c.Likelihood != "full" {
		return errors.New("--turned is for models with levels of one vector in the plane, with a full covariance")
	}
	for _, p := range m.State() {
		old := slices.Clone(p.Data)
		switch p.Name {
		case "pyramid.pre.weight": // columns: the densities of both components, and their values
			for r := 0; r < len(old); r += 4 {
				copy(p.Data[r:r+4], []float32{old[r+1], old[r], old[r+3], -old[r+2]})
			}
		case "raw_linear.weight", "raw_linear.bias": // for each component its mean, and the covariance's row: own and mixed term
			n := len(old) / 6
			for r, from := range []struct {
				row  int
				sign float32
			}{{3, 1}, {4, 1}, {5, -1}, {0, -1}, {1, 1}, {2, -1}} {
				for k := range n {
					p.Data[r*n+k] = from.sign * old[from.row*n+k]
				}
			}
		}
	}
	return nil
}

// rounded says why a model is not suited for bfloat16, or nothing. exact is its log-likelihood in float32.
func rounded(m cnp.Model[float32], src task.Source[float32], n int, exact float64) (string, error) {
	rounds, err := cnp.With(m, cnp.Options{Precision: cnp.BFloat16})
	if errors.Is(err, cnp.ErrConfig) {
		return "", nil // a model that computes in float32 alone
	} else if err != nil {
		return "", err
	}
	if simd.CurrentLevel() != simd.AMX {
		fmt.Fprintln(os.Stderr, "ship: bfloat16 was not measured: this CPU multiplies no tiles of it")
		return "", nil
	}
	r, err := eval.Run(context.Background(), eval.Model(rounds), src, eval.Options{Tasks: n, Seed: seed})
	if err != nil {
		return "", err
	}
	if lost := exact - r.LogLikelihood.Mean; !(lost <= pretrained.BFloat16Loss) {
		return fmt.Sprintf("not suited: it costs %.3f of log-likelihood per value", lost), nil
	}
	return "", nil
}
