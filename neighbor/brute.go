package neighbor

import "github.com/equivcnp/equivcnp/group"

// distances writes the distance of one query to each of the len(dist) points with algebra coordinates a and orbit
// coordinates q. Whichever way it is computed, it is the group's Distance of the relative pose to the last bit, so every
// search decides alike. pose is scratch.
func distances(g group.Group, fast group.PairComputer, dist, ai, qi, a, q, pose []float64) {
	if fast != nil {
		fast.Distances(dist, ai, qi, a, q)
		return
	}
	ga, qa := g.AlgebraDim(), g.OrbitDim()
	for k := range dist {
		g.RelativePose(pose, ai, qi, a[k*ga:(k+1)*ga], q[k*qa:(k+1)*qa])
		dist[k] = g.Distance(pose)
	}
}

// all appends the run of all stored positions: a scan of everything.
func (b *block) all(runs []run) []run {
	if len(b.rows) == 0 {
		return runs
	}
	return append(runs, run{0, len(b.rows)})
}
