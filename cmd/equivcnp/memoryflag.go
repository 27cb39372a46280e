package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// memoryFlag bounds what a command may need; what would need more is refused before it begins.
type memoryFlag struct{ text string }

// register adds the flag.
func (m *memoryFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.text, "memory", "",
		"refuse what needs more memory than that, 8G for example (default: three quarters of what the machine has)")
}

// check refuses a need, or passes on the error of its estimate. less names the flags by which it would be smaller.
func (m *memoryFlag) check(need cnp.Need, err error, less string) error {
	if err != nil {
		return err
	}
	limit := cnp.MemoryLimit()
	if m.text != "" {
		n, ok := parseBytes(m.text)
		if !ok {
			return usagef("--memory %q: need a number of bytes, with K, M, G or T for powers of 1024", m.text)
		}
		limit = n
	}
	if err := need.Check(limit); err != nil {
		return fmt.Errorf("%w: less with a smaller %s; --memory allows more", err, less)
	}
	return nil
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

// maxCurve bounds the targets of a drawn curve, whose covariance is factorised.
const maxCurve = 4096

// checkTargets refuses curves at too many places.
func checkTargets(n int) error {
	if n > maxCurve {
		return usagef("--targets %d: the covariance of so many needs %v; need at most %d", n, cnp.Bytes(24*int64(n)*int64(n)), maxCurve)
	}
	return nil
}

// maxThreads bounds --threads.
const maxThreads = 1024

func (a *app) checkThreads() error {
	if a.threads < 0 || a.threads > maxThreads {
		return usagef("--threads %d: need 0 to %d", a.threads, maxThreads)
	}
	return nil
}
