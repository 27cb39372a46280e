package tabletask

import (
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
)

// piece is some tasks, and of a single one some targets, that are predicted at a time.
type piece struct{ from, to, first, last int }

// together and targetsTogether are how many tasks are predicted at a time at most, and how many of their targets.
const (
	together        = 64
	targetsTogether = 1 << 16
)

// pieces takes the tasks apart. Models that lay one lattice over a batch get a task at a time; those that compute each
// target on its own get parts of large ones, unless samples tie the targets together.
func (t *Tasks) pieces(cfg *cnp.Config, samples bool) (out []piece) {
	alone, together := cfg.Placement != cnp.PlacementContext || cfg.PointsPerUnit == 0, t.field.Tasks(together)
	company := !alone || slices.Contains([]cnp.Architecture{krige.Architecture, krige.PopulationArchitecture}, cfg.Architecture)
	for k := 0; k < len(t.targets); {
		n := len(t.targets[k])
		if n > targetsTogether && !alone && !samples {
			for first := 0; first < n; first += targetsTogether {
				out = append(out, piece{k, k + 1, first, min(first+targetsTogether, n)})
			}
			k++
			continue
		}
		to, most := k+1, n
		for company && to < len(t.targets) && to-k < together {
			if wider := max(most, len(t.targets[to])); wider*(to+1-k) <= targetsTogether {
				most, to = wider, to+1
				continue
			}
			break
		}
		out = append(out, piece{k, to, 0, most})
		k = to
	}
	return out
}

// batch is that of a piece, whose targets are the rows [tasks, targets] of the output; -1 at padding.
func (t *Tasks) batch(p piece, dx, dy, da int) (b *cnp.Batch[float32], rows []int) {
	b = &cnp.Batch[float32]{B: p.to - p.from, Nt: p.last - p.first}
	for k := p.from; k < p.to; k++ {
		b.Nc = max(b.Nc, len(t.context[k]))
	}
	b.XContext, b.YContext, b.ContextMask = make([]float64, b.B*b.Nc*dx), make([]float32, b.B*b.Nc*dy), make([]bool, b.B*b.Nc)
	b.AuxContext, b.AuxTarget = make([]float32, b.B*b.Nc*da), make([]float32, b.B*b.Nt*da)
	b.XTarget, b.TargetMask, rows = make([]float64, b.B*b.Nt*dx), make([]bool, b.B*b.Nt), slices.Repeat([]int{-1}, b.B*b.Nt)
	for k := p.from; k < p.to; k++ {
		for i, row := range t.context[k] {
			at := (k-p.from)*b.Nc + i
			copy(b.XContext[at*dx:(at+1)*dx], t.rows.X[row*dx:])
			copy(b.YContext[at*dy:(at+1)*dy], Single(t.rows.Y[row*dy:(row+1)*dy]))
			copy(b.AuxContext[at*da:(at+1)*da], Single(t.rows.Aux[row*da:(row+1)*da]))
			b.ContextMask[at] = true
		}
		for i, row := range t.targets[k][min(p.first, len(t.targets[k])):min(p.last, len(t.targets[k]))] {
			at := (k-p.from)*b.Nt + i
			place := t.out[row].place
			copy(b.XTarget[at*dx:(at+1)*dx], t.at.X[place*dx:])
			copy(b.AuxTarget[at*da:(at+1)*da], Single(t.at.Aux[place*da:(place+1)*da]))
			b.TargetMask[at], rows[at] = true, row
		}
	}
	t.field.Join(b)
	return b, rows
}

// How many tasks' contexts are gathered for a check, and to learn what tasks have in common, at most.
const mostChecked, mostLearned = 8, 64

// contexts returns the contexts of some tasks, at most so many, without targets.
func (t *Tasks) contexts(most, dx, dy, da int) (all []*cnp.Batch[float32]) {
	for k := 0; k < len(t.context); k += max(1, (len(t.context)+most-1)/most) {
		b, _ := t.batch(piece{k, k + 1, 0, 0}, dx, dy, da)
		all = append(all, b)
	}
	return all
}
