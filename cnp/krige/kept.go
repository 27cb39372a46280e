package krige

import (
	"slices"
	"sync"
)

// keptFits are the fits of the last batch of one task, by output.
type keptFits struct {
	mu  sync.Mutex
	all map[int]keptFit
}

// keptFit is a model with the table that it was fitted to.
type keptFit struct {
	x, y  []float64
	model *Model
}

// Keeping returns the regressor that keeps the fits of the last task that it predicted alone: where the context is the same the next time,
// as when a file of targets is predicted piece by piece, nothing is fitted again, and predictions are those that they were.
func (r *Regressor) Keeping() *Regressor {
	out := *r
	out.kept = &keptFits{all: map[int]keptFit{}}
	return &out
}

// find returns the model of output c of a task alone, nil where it was fitted to other values.
func (k *keptFits) find(c int, x, y []float64) *Model {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.all[c]; f.model != nil && slices.Equal(f.x, x) && slices.Equal(f.y, y) {
		return f.model
	}
	return nil
}

// keep keeps the model of output c of one of so many tasks.
func (k *keptFits) keep(c, tasks int, x, y []float64, m *Model) {
	if k == nil || tasks != 1 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[c] = keptFit{x, y, m}
}
