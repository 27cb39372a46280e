package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// memoryFlag bounds what a command may need; what would need more is refused before it begins.
type memoryFlag struct{ text string }

// register adds the flag.
func (m *memoryFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.text, "memory", "",
		"refuse what needs more memory than this, for example 8G (default: three quarters of the machine's)")
}

// check refuses a need, or passes on the error of its estimate. less names the flags by which it would be smaller.
func (m *memoryFlag) check(need cnp.Need, err error, less string) error {
	if err != nil {
		return err
	}
	limit, err := m.limit()
	if err != nil {
		return err
	}
	if err := need.Check(limit); err != nil {
		return fmt.Errorf("%w: less with a smaller %s; --memory allows more", err, less)
	}
	return nil
}

// limit is what a command may need, in bytes.
func (m *memoryFlag) limit() (int64, error) {
	if m.text == "" {
		return cnp.MemoryLimit(), nil
	}
	n, ok := cli.ParseBytes(m.text)
	if !ok {
		return 0, cli.Usagef("--memory %q: need a number of bytes, with K, M, G or T for powers of 1024", m.text)
	}
	return n, nil
}

// within returns the model or, where images would need more memory than allowed, one that completes them in more and coarser parts, with a
// note that says so.
func within[M cnp.Model[float32]](r *result, model M, w cnp.Work, memory int64) (M, error) {
	if w.H < 1 || w.W < 1 {
		return model, nil
	}
	view, err := cnp.Within[float32](model, w, memory)
	if err != nil || view == cnp.Model[float32](model) {
		return model, err
	}
	r.divided(cnp.Parts(view, w.H, w.W), memory)
	return view.(M), nil
}

// divided notes that images are completed as so many coarser ones.
func (r *result) divided(parts int, memory int64) {
	if parts > 1 {
		var n predict.Notes
		n.Divided(parts, memory)
		r.add(&n)
	}
}

// workOf is what a batch of a source asks of a model.
func workOf(src task.Source[float32], batch int) cnp.Work {
	if s, ok := src.(task.Sized); ok {
		return s.Work(batch)
	}
	return cnp.Work{Batch: batch}
}

// implicitWeights is what Complete keeps of convolution weights.
const implicitWeights = 160 << 20

// maxThreads bounds --threads.
const maxThreads = 1024

func (a *app) checkThreads() error {
	if a.threads < 0 || a.threads > maxThreads {
		return cli.Usagef("--threads %d: need 0 to %d", a.threads, maxThreads)
	}
	return nil
}
