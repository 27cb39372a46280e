// Package conformance holds the shipped models to their own numbers: for each a file of tasks and of what the model predicts for
// them, computed in float64, with tolerances. Another implementation can read the same files; docs/conformance.md says how.
package conformance

import (
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Seed is that of the tasks, none that a training or a test uses.
const Seed = 2026

// Case is a shipped model with tasks for it.
type Case struct {
	Model string
	// Tasks are in one batch: models under cnp.PlacementBatch take it as a whole.
	Tasks  int
	Source task.Source[float32]
}

// Cases lists a case for every shipped model, on the tasks that its own test was made on.
func Cases() ([]Case, error) {
	var all []Case
	for _, name := range pretrained.Names() {
		about, err := pretrained.About(name)
		if err != nil {
			return nil, err
		}
		src, err := source(name, &about.Config)
		if err != nil {
			return nil, err
		}
		tasks := 4
		if about.Config.Architecture.Image() || about.Config.Vectors() {
			tasks = 1
		}
		all = append(all, Case{name, tasks, src})
	}
	return all, nil
}

// source returns the tasks of the model of that name.
func source(name string, c *cnp.Config) (task.Source[float32], error) {
	kind, rest, _ := strings.Cut(name, "-")
	switch kind {
	case "rbf", "matern", "periodic":
		p, err := task.ProcessByName(kind)
		if err != nil {
			return nil, err
		}
		return task.CurveSource[float32]{Name: kind, Curves: task.PaperTestOf(p)}, nil
	case "bench", "bench2":
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "-lowrank"), "-SE2x4")
		return task.BenchmarkSource[float32]{Process: rest, Dx: c.DimX}, nil
	case "rcnp2":
		return task.RCNPSource[float32]{Process: rest, Dx: c.DimX}, nil
	case "joint":
		return task.JointSource[float32]{Process: rest}, nil
	case "predprey": // in the model's own units
		return task.Standardised[float32]{Source: task.PredPreySource[float32]{}, Config: *c}, nil
	case "globe":
		return task.SphereSource[float32]{Process: "matern", Dx: c.DimX}, nil
	case "vectors":
		return task.VectorSource[float32]{Kernel: rest, Targets: 200}, nil
	case "digits":
		digits := task.TestDigits()
		if rest == "Sim2" {
			digits = task.AnywhereDigits()
		}
		return task.ImageSource[float32]{Pictures: digits, Rates: task.PaperRates}, nil
	}
	return nil, fmt.Errorf("conformance: no tasks are known for the model %s", name)
}
