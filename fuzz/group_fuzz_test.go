package fuzz

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/group"
)

// fuzzedGroups are all that Parse knows, products, translations along an axis and groups of 2×2 and 3×3 matrices.
func fuzzedGroups(t testing.TB) (groups []group.Composer) {
	t.Helper()
	names := append(group.Names(), "T(3) along 1", "T(5)")
	for _, name := range names {
		g, err := group.Parse(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, g.(group.Composer))
	}
	shear := func(a, q, x []float64) { a[0], q[0] = x[0]/x[1], x[1] }
	axis := func(a, q, x []float64) {
		a[0], a[1], q[0] = math.Atan2(x[1], x[0]), math.Log(x[2]), math.Hypot(x[0], x[1])
	}
	return append(groups,
		group.NewMatrix("shears", [][4]float64{{0, 1, 0, 0}}, 1, shear, 0),
		group.NewMatrix3("turn and stretch", [][9]float64{{0, -1, 0, 1, 0, 0, 0, 0, 0}, {8: 1}}, 1, axis, 0))
}

// FuzzGroups checks the laws of every group's own arithmetic on elements of ten decades: (ab)c = a(bc), a⁻¹a = 1, (ab)x = a(bx), and
// that poses and distances are those of log(u_j⁻¹ u_i) and the same after both points are moved; and that whatever the bits and the
// name, nothing panics.
func FuzzGroups(f *testing.F) {
	for i, b := range seeds64() {
		f.Add(b, byte(i), []string{"SE(2)", "(T1) x (SO(2), alpha 0.5)", "T(2) along 1", "((", ""}[i%5])
	}
	f.Fuzz(func(t *testing.T, b []byte, decade byte, name string) {
		if g, err := group.Parse(name, 0); err == nil {
			if h, err := group.Parse(g.Name(), g.Alpha()); err != nil || h.Name() != g.Name() {
				t.Fatalf("Parse(%q).Name() = %q, which Parse reads as %v, %v", name, g.Name(), h, err)
			}
		}
		for _, g := range fuzzedGroups(t) {
			checkGroup(t, g, b, math.Pow(10, -float64(decade%10)))
		}
	})
}

func checkGroup(t *testing.T, g group.Composer, b []byte, scale float64) {
	n, o, d := g.AlgebraDim(), g.OrbitDim(), g.PointDim()
	raw := fill(floats64(b), 3*n+2*o+d)
	out, point := make([]float64, max(n+2*o, d)), make([]float64, d)
	g.Compose(out[:n], raw[:n], raw[n:2*n])
	g.Inverse(out[:n], raw[:n])
	g.RelativePose(out[:n+2*o], raw[:n], raw[3*n:3*n+o], raw[n:2*n], raw[3*n+o:3*n+2*o])
	g.Distance(out[:n+2*o])
	g.Act(point, raw[:n], raw[3*n+2*o:])
	group.LiftPoints(g, raw[3*n+2*o:], 2, 1)

	// Angles in sum within the injectivity radius, so that logarithms are unique.
	elements := tame(raw[:3*n], 0.9/math.Sqrt(float64(max(1, n))))
	for i := range elements {
		elements[i] *= scale
	}
	if _, ok := g.(*group.Matrix); ok {
		scale = 1 // next to the identity its entries keep no more digits
	}
	x, y, z := elements[:n], elements[n:2*n], elements[2*n:]
	xy, yz, p, q := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	g.Compose(xy, x, y)
	g.Compose(p, xy, z)
	g.Compose(yz, y, z)
	g.Compose(q, x, yz)
	if !(distance(p, q) <= 1e-13*scale*10) {
		t.Fatalf("%s: (ab)c = %v, a(bc) = %v, of %v", g.Name(), p, q, elements)
	}
	g.Inverse(p, x)
	g.Compose(p, p, x)
	if !(norm(p) <= 1e-14*scale*10) {
		t.Fatalf("%s: a⁻¹a = %v, of %v", g.Name(), p, x)
	}
	at := tame(raw[3*n+2*o:], 10)
	for i, v := range at {
		at[i] = 0.1 + math.Abs(v) // where every group can act
	}
	left, right := make([]float64, d), make([]float64, d)
	g.Act(left, xy, at)
	g.Act(right, y, at)
	g.Act(right, x, right)
	if !(distance(left, right) <= 1e-12*(1+norm(at))) {
		t.Fatalf("%s: (ab)x = %v, a(bx) = %v, of %v", g.Name(), left, right, elements)
	}

	orbits := make([]float64, 2*o)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range orbits {
		orbits[i] = rng.Float64()
	}
	pose, moved := make([]float64, n+2*o), make([]float64, n+2*o)
	g.RelativePose(pose, y, orbits[:o], z, orbits[o:])
	g.Inverse(p, z)
	g.Compose(p, p, y)
	if want := slices.Concat(p, orbits); !(distance(want, pose) <= 1e-13*(scale+norm(orbits))*10) {
		t.Fatalf("%s: pose %v, log(u_j⁻¹ u_i) and orbits %v", g.Name(), pose, want)
	}
	g.Compose(p, x, z)
	g.RelativePose(moved, xy, orbits[:o], p, orbits[o:])
	if !(distance(moved, pose) <= 1e-13*(scale+norm(orbits))*10) {
		t.Fatalf("%s: pose %v, after moving both %v", g.Name(), pose, moved)
	}
	if d, e := g.Distance(pose), g.Distance(moved); !(math.Abs(d-e) <= 1e-12*(scale+norm(orbits))) {
		t.Fatalf("%s: distance %g, after moving both %g", g.Name(), d, e)
	}
}
