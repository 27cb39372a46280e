package krige

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/equivcnp/equivcnp/cnp"
)

// leftOut counts the outliers of the tables that a regressor fitted.
type leftOut struct {
	mu sync.Mutex
	of map[uint64]int // by table
}

var leftOutSeed = maphash.MakeSeed()

// add notes the outliers of output c of a table, once, however often it is fitted.
func (l *leftOut) add(c int, x, y []float64, m *Model) {
	if l == nil || len(m.report.Outliers) == 0 {
		return
	}
	var h maphash.Hash
	h.SetSeed(leftOutSeed)
	maphash.WriteComparable(&h, c)
	for _, v := range x {
		maphash.WriteComparable(&h, v)
	}
	for _, v := range y {
		maphash.WriteComparable(&h, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[h.Sum64()] = len(m.report.Outliers)
}

// LeftOut returns how many values were left out as outliers (Options.Robust), of how many outputs of tasks, since it was called last.
func (r *Regressor) LeftOut() (values, tasks int) {
	l := r.leftOut
	if l == nil {
		return 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.of {
		values, tasks = values+n, tasks+1
	}
	clear(l.of)
	return values, tasks
}

// Outliers returns which values of the context of a task are left out as outliers (Options.Robust), as places in YContext.
func (r *Regressor) Outliers(ctx context.Context, b *cnp.Batch[float32], task int) (places []int, err error) {
	if !r.opt.Robust {
		return nil, nil
	}
	for c := range r.outputs {
		x, y, _, _ := r.task(b, task, c)
		if len(y) == 0 {
			continue
		}
		m, err := r.fit(ctx, c, x, y, r.optionsOf(c))
		if err != nil {
			return nil, err
		}
		rows := observedRows(b, r.opt.Drift, r.outputs, task, c)
		for _, i := range m.report.Outliers {
			places = append(places, rows[i]*r.outputs+c)
		}
	}
	return places, nil
}
