// Package posetable finds the distinct relative poses of the pairs of a neighbourhood, and which of them each pair has.
//
// The table is defined by going through the pairs in order: a pair takes the earliest entry within the tolerance of its own pose,
// in every coordinate, or else becomes a new entry. Every strategy gives exactly that table, with the same bits, whatever GOMAXPROCS
// is; they differ in how many poses they have to look up. They are tried in this order, once there are enough pairs for any but the
// last to pay:
//
//   - by lattice: points stand on a lattice that the group moves along, as pixels do under translations. A pair's pose follows from
//     the difference of two cells.
//   - by seeds: a few rows show nearly all poses. Each pair is compared with one of those.
//   - by rotations: rotations of the group take the points to themselves, as quarter turns do with an image. Most pairs repeat the
//     pose of their rotated copy.
//   - by hashing: every pose is looked up in a hash table, of which each core has one for its own part of the space of poses.
//
// Strategies guess, and a wrong guess costs time; what they use, they have proved. Each file says how.
package posetable

import (
	"fmt"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// strategy is a way to find the table. It returns false, and leaves Pose all zero, where it does not apply.
type strategy struct {
	name string
	try  func(p *Pairs, s *survey) (*Table, bool)
}

// merging are the strategies where poses merge, in the order in which they are tried; separate is the only one where they do not.
var (
	merging = []strategy{
		{"few", few}, {"lattice", byLattice}, {"seeds", bySeeds}, {"rotations", byRotations}, {"hashing", byHashing},
	}
	separate = []strategy{{"apart", apart}}
)

// Build fills p.Pose and returns the table. It fails only if it needs more than MaxBytes, and the error says how many bytes it
// needs.
func Build(p *Pairs) (*Table, error) {
	p.e = group.PoseDim(p.Group)
	strategies, found := merging, &survey{}
	if p.Tolerance < 0 {
		strategies = separate
	}
	for _, s := range strategies {
		if table, ok := s.try(p, found); ok {
			return table, nil
		}
	}
	return nil, fmt.Errorf("%d pairs with poses of %d numbers need at least %d bytes, more than the limit of %d", len(p.Index),
		p.e, p.need, p.MaxBytes)
}

// survey is what the strategies for many pairs start from. What is nil was not found, or is not needed.
type survey struct {
	done    bool
	seeds   *seeds
	lattice *lattice
	probe   *rotationProbe
}

// look fills the survey, once. It looks for seeds and, at the same time, for a lattice if the group moves along one, or else for
// rotations. A search whose result turns out to be needless ends early.
func (s *survey) look(p *Pairs) {
	if s.done {
		return
	}
	s.done = true
	var needless atomic.Int32 // a task
	_, shifts := p.Group.(group.TranslationInvariant)
	parallel.For(3, 1, func(task, _ int) {
		switch {
		case task == 0:
			if s.seeds = findSeeds(p); s.seeds != nil {
				needless.Store(2)
			} else {
				needless.Store(1)
			}
		case task == int(needless.Load()):
		case task == 1 && shifts:
			s.lattice = findLattice(p, 0.75*memberReach*p.Tolerance)
		case task == 2 && !shifts:
			s.probe = probeRotations(p)
		}
	})
	if shifts && s.seeds == nil {
		s.probe = probeRotations(p)
	}
}

// apart is the strategy where poses do not merge: every pair gets a pose of its own.
func apart(p *Pairs, _ *survey) (*Table, bool) {
	e, pairs := p.e, len(p.Index)
	if !p.fits(0, pairs, 0) {
		return nil, false
	}
	t := &Table{Poses: make([]float64, pairs*e), Count: make([]int32, pairs)}
	parallel.For(pairs, poseGrain, func(lo, hi int) {
		p.poses(t.Poses[lo*e:hi*e], lo, hi)
		for k := lo; k < hi; k++ {
			p.Pose[k], t.Count[k] = int32(k), 1
		}
	})
	return t, true
}

// few is the strategy for so few pairs that no other strategy pays.
func few(p *Pairs, _ *survey) (*Table, bool) {
	if len(p.Index) >= smallPairs {
		return nil, false
	}
	return hash(p, nil, 1, nil)
}

// byLattice is the strategy for points on a lattice.
func byLattice(p *Pairs, s *survey) (*Table, bool) {
	if s.look(p); s.seeds == nil || s.lattice == nil {
		return nil, false
	}
	seeds := s.seeds
	s.seeds = nil // where pairs that stand on a lattice have too many poses, others have, too
	return seeds.build(p, func(w *seedWork, p *Pairs, i int) (int, bool) { return s.lattice.assign(seeds, w, p, i) })
}

// bySeeds is the strategy for pairs with few distinct poses.
func bySeeds(p *Pairs, s *survey) (*Table, bool) {
	if s.look(p); s.seeds == nil {
		return nil, false
	}
	return s.seeds.build(p, s.seeds.assign)
}

// byRotations is the strategy for points that rotations take to themselves.
func byRotations(p *Pairs, s *survey) (*Table, bool) {
	if s.look(p); s.probe == nil {
		return nil, false
	}
	r := s.probe.rotations(p)
	following, all := r.follow(p), 0
	for _, n := range following {
		all += int(n)
	}
	if all < len(p.Index)/8 { // nearly all lead
		clear(p.Pose)
		return nil, false
	}
	leading := leadersOnly(p, following, all)
	return hash(p, leading, shardsFor(len(leading)), r.take)
}

// byHashing is the strategy for any pairs.
func byHashing(p *Pairs, _ *survey) (*Table, bool) {
	if t, ok := hash(p, nil, shardsFor(len(p.Index)), nil); ok {
		return t, true
	}
	return hash(p, nil, 1, nil)
}
