package krige

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Doubts collects, over batches of tasks, why their interpolation says less than it seems to.
type Doubts struct {
	outputs int
	columns []string // names of those of the drift
	tasks   int
	unknown int // tasks without any value of an output
	equal   int // others, with one value of an output, or equal ones
	ranges  []columnRange
	several bool // tasks have different ranges
}

// columnRange is the range of a column in the contexts, and how many targets lie outside those of their tasks.
type columnRange struct {
	lo, hi float64
	beyond int
}

// NewDoubts returns the doubts about tasks with so many outputs and a drift of columns of these names.
func NewDoubts(outputs int, columns []string) *Doubts {
	d := &Doubts{outputs: outputs, columns: slices.Clone(columns), ranges: make([]columnRange, len(columns))}
	for k := range d.ranges {
		d.ranges[k].lo, d.ranges[k].hi = math.Inf(1), math.Inf(-1)
	}
	return d
}

// Doubts returns the doubts about tasks of the regressor, of which none were added yet.
func (r *Regressor) Doubts() *Doubts { return NewDoubts(r.outputs, r.columns) }

// Add adds a batch: its outputs, and its auxiliary inputs, are as many as NewDoubts was told.
func (d *Doubts) Add(b *cnp.Batch[float32]) {
	if b.Nt == 0 { // however many tasks there are
		return
	}
	for t := range b.B {
		var rows, targets []int
		for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
			if d.counts(b, i) {
				rows = append(rows, i)
			}
		}
		for i := t * b.Nt; i < (t+1)*b.Nt; i++ {
			if b.TargetMask == nil || b.TargetMask[i] {
				targets = append(targets, i)
			}
		}
		if len(targets) > 0 {
			d.tasks++
			d.values(b, rows)
			d.beyond(b, rows, targets)
		}
	}
}

// counts reports whether row i of the context counts: it has a value, and all columns of the drift.
func (d *Doubts) counts(b *cnp.Batch[float32], i int) bool {
	missing, da := func(v float32) bool { return v != v }, len(d.columns)
	return (b.ContextMask == nil || b.ContextMask[i]) && !slices.ContainsFunc(b.AuxContext[i*da:(i+1)*da], missing) &&
		slices.ContainsFunc(b.YContext[i*d.outputs:(i+1)*d.outputs], func(v float32) bool { return v == v })
}

// values looks at the values of a task, whose context has these rows.
func (d *Doubts) values(b *cnp.Batch[float32], rows []int) {
	unknown, equal := false, false
	for c := range d.outputs {
		lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, i := range rows {
			if v := b.YContext[i*d.outputs+c]; v == v {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		unknown, equal = unknown || lo > hi, equal || lo == hi
	}
	switch {
	case unknown:
		d.unknown++
	case equal:
		d.equal++
	}
}

// beyond counts the targets of a task that lie outside the ranges of its context.
func (d *Doubts) beyond(b *cnp.Batch[float32], rows, targets []int) {
	da := len(d.columns)
	for k := range d.ranges {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range rows {
			v := float64(b.AuxContext[i*da+k])
			lo, hi = min(lo, v), max(hi, v)
		}
		if lo > hi {
			continue
		}
		r := &d.ranges[k]
		d.several = d.several || r.lo <= r.hi && (r.lo != lo || r.hi != hi)
		r.lo, r.hi = lo, hi
		for _, i := range targets {
			if v := float64(b.AuxTarget[i*da+k]); v < lo || v > hi {
				r.beyond++
			}
		}
	}
}

// Texts returns all doubts, none where there are none.
func (d *Doubts) Texts() (texts []string) {
	of := ""
	if d.outputs > 1 {
		of = " of an output"
	}
	switch {
	case d.unknown > 0 && d.unknown == d.tasks:
		texts = append(texts, "there are no values"+of+": nothing is known, and predictions are 0 with a deviation of 1, whatever the unit")
	case d.unknown > 0:
		texts = append(texts, fmt.Sprintf("%d of %d tasks have no values%s: nothing is known of them, and predictions are 0 with a "+
			"deviation of 1, whatever the unit", d.unknown, d.tasks, of))
	}
	switch {
	case d.equal > 0 && d.equal == d.tasks:
		texts = append(texts, "one value"+of+", or equal ones: their spread is not known")
	case d.equal > 0:
		texts = append(texts, fmt.Sprintf("%d of %d tasks have one value%s, or equal ones: their spread is not known", d.equal,
			d.tasks, of))
	}
	if beyond := d.Beyond(); beyond != "" {
		texts = append(texts, beyond)
	}
	return texts
}

// Beyond says of which columns of the drift targets lie outside the range of their task's context, "" where none do: nothing tells
// whether values depend on a column linearly there, too.
func (d *Doubts) Beyond() string {
	var beyond []string
	for k, r := range d.ranges {
		inside := fmt.Sprintf("%.6g to %.6g", r.lo, r.hi)
		if d.several {
			inside = "the ranges of their tasks"
		}
		if r.beyond > 0 {
			beyond = append(beyond, fmt.Sprintf("%s, %s outside %s", d.columns[k], words.Plural(r.beyond, "target"), inside))
		}
	}
	if beyond == nil {
		return ""
	}
	return "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: " +
		strings.Join(beyond, "; ")
}
