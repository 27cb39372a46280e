package group

import (
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls everything exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "group", name, f, good...)
	}
	for name, f := range map[string]any{"NewRxSO2": NewRxSO2, "NewRxSq": NewRxSq, "NewSE2": NewSE2, "NewSE3": NewSE3,
		"NewSO2": NewSO2, "NewSO3": NewSO3,
		"NewSqueeze": NewSqueeze} {
		named(name, f, 0.5)
	}
	named("NewT", NewT, 2, 0.5)
	named("NewRx", NewRx, 2, 0.5)
	named("NewTrivial", NewTrivial, 2, 0.5)
	named("NewAxis", NewAxis, 3, 1, 0.5)
	named("NewProduct", NewProduct, Group(NewT(1, 0)), Group(NewSO2(0)), 0.5)
	lift := func(a, q, x []float64) { a[0] = x[0] }
	named("NewMatrix", NewMatrix, "shear", [][4]float64{{0, 1, 0, 0}}, 1, lift, 0.5)
	named("NewMatrix3", NewMatrix3, "shear", [][9]float64{{0, 1}}, 1, lift, 0.5)
	named("Parse", Parse, "SE(2)", 0.5)
	named("Candidates", Candidates, 3, 2)
	for _, f := range []func(Group){func(g Group) { CanTurn(g) }, func(g Group) { _ = Check(g) }, func(g Group) { Digest(g) },
		func(g Group) { IsIsometric(g) },
		func(g Group) { PoseDim(g) }} {
		named("a function of a group", f, Group(NewSE2(0)))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, g := range append(allGroups(), NewProduct(NewT(1, 0), NewSO2(0), 0)) {
		x := randomPoint(g, rng, 1)
		l := LiftPoints(g, append(x, randomPoint(g, rng, 1)...), 1, 1)
		ai, qi := l.Row(0)
		aj, qj := l.Row(1)
		pose := poseOf(g, ai, qi, aj, qj)
		named(g.Name()+": LiftPoints", LiftPoints, g, x, 1, uint64(1))
		named(g.Name()+": LiftPointsUniform", LiftPointsUniform, g, x, 1)
		named(g.Name()+": NewFinder", NewFinder, l, []int32{0, 1}, 1.5)
		named(g.Name()+": Finder", func(l *Lifted, r float64, a, q []float64) {
			f := NewFinder(l, nil, r)
			f.Find(new(Workspace), a, q)
			f.Append(nil, new(Workspace), a, q)
		}, l, 1.5, ai, qi)
		named(g.Name()+": Append", func(l, m *Lifted) { l.Append(m) }, l, l)

		// What is called for each pair takes its slices by contract: shorter ones are an index out of range.
		indexed := func(name string, f any, good ...any) {
			t.Helper()
			testkit.HostileIndexed(t, "group", g.Name()+": "+name, f, good...)
		}
		indexed("group.RelativePoses", RelativePoses, append(pose, pose...), ai, qi, l, []int32{0, 1})
		indexed("Lift", g.Lift, ai, qi, x, 1, rng)
		indexed("RelativePose", g.RelativePose, pose, ai, qi, aj, qj)
		indexed("Distance", g.Distance, pose)
		indexed("Act", g.Act, x, ai, x)
		if g, ok := g.(Composer); ok {
			indexed("Compose", g.Compose, append([]float64(nil), ai...), ai, aj)
			indexed("Inverse", g.Inverse, append([]float64(nil), ai...), ai)
		}
		if g, ok := g.(PairComputer); ok {
			indexed("Distances", g.Distances, []float64{1, 2}, ai, qi, l.A, l.Q)
		}
		if g, ok := g.(PoseComputer); ok {
			indexed("RelativePoses", g.RelativePoses, append(pose, pose...), ai, qi, l.A, l.Q, []int32{0, 1})
		}
		if g, ok := g.(Bounder); ok {
			m := make([]float64, g.BoundDim())
			indexed("BoundCoords", g.BoundCoords, m, ai, qi)
			indexed("BoundBox", g.BoundBox, m, 1.5)
		}
		if g, ok := g.(UniformLifter); ok {
			indexed("LiftUniform", g.LiftUniform, ai, qi, x, 1)
		}
		if g, ok := g.(Turner); ok {
			indexed("Turn", g.Turn, make([]float64, g.PointDim()*g.PointDim()), ai)
		}
	}
}
