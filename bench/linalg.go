package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/linalg/batch"
	"github.com/equivcnp/equivcnp/simd"
)

func linalgCommand() *cobra.Command {
	var (
		asJSON, all bool
		filter      string
	)
	cmd := &cobra.Command{
		Use:   "linalg",
		Short: "Time batches of small matrices and relative poses on the peers' inputs, on one core",
		Long: `Time exponentials and logarithms of batches of small matrices on the inputs of the peers' programs smallmat and
closedform, on one core, and name the lines as they do: smallmat/se2_exp/ours/f32 at n = 4096 and 1000000, in
nanoseconds per matrix; what has no peer, Sim(2), SE(3) and derivatives, likewise. Then the distances of all pairs of
a grid, pairs/precomp/ours/within, in nanoseconds per pair. PEER_SECONDS sets the time per line.`,
		Example: "  go run ./bench linalg --json > ours.jsonl\n  go run ./bench linalg --filter log3x3 --levels",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			match, err := expression(filter)
			if err != nil {
				return err
			}
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if err := linalgSamples(r, match, all); err != nil {
				return err
			}
			if err := caseSamples(r, pairsCases(), match, all); err != nil {
				return err
			}
			if r.lines == 0 {
				return fmt.Errorf("--filter %s: no line's name matches", filter)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	cmd.Flags().BoolVar(&all, "levels", false, "every instruction set level of this machine, not the best alone")
	cmd.Flags().StringVar(&filter, "filter", "", "lines whose names match this regular expression")
	return cmd
}

func linalgSamples(r *report, match *regexp.Regexp, all bool) error {
	top := simd.CurrentLevel()
	levels := []simd.Level{top}
	if all {
		levels = simd.Levels()
	}
	for _, n := range []int{4096, 1000000} {
		for _, c := range smallMatrixCases() {
			for _, wide := range []bool{false, true} {
				name := fmt.Sprintf("smallmat/%s/ours/%s", c.name, map[bool]string{false: "f32", true: "f64"}[wide])
				if !match.MatchString(name) {
					continue
				}
				run := c.run32
				if wide {
					run = c.run64
				}
				f := run(n)
				err := atLevels(levels, func(l simd.Level) error {
					who := "ours"
					if l != top {
						who += "_" + l.String()
					}
					m := nsPer(n)
					return r.add(sample{strings.Replace(name, "ours", who, 1), n, m.metric, m.value(best(f))})
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// smallMatrixCase is one operation; run32 and run64 draw n matrices and return what is timed.
type smallMatrixCase struct {
	name         string
	run32, run64 func(n int) func()
}

// A smallGroup is one kind of matrices with the inputs that the peers use. Coordinates are drawn from [-1, 1), the first one times scale0
// and the others times scale. exp is timed on these, and log on their exponentials, which are computed in float64 and rounded.
type smallGroup struct {
	exp, log      string // the lines' names
	in, out       int    // coordinates and entries
	scale0, scale float64
	one           func(e, a []float64)
	exp32, log32  func(dst, a []float32, ok []bool, n int)
	exp64, log64  func(dst, a []float64, ok []bool, n int)
}

func smallGroups() []smallGroup {
	turn := 0.9 * math.Pi / math.Sqrt(3)
	return []smallGroup{
		{"so2_exp", "so2_log", 1, 2, math.Pi, 1, func(e, a []float64) { batch.Exp(batch.SO2, e, a, 1) },
			expOf[float32](batch.SO2), logOf[float32](batch.SO2), expOf[float64](batch.SO2), logOf[float64](batch.SO2)},
		{"se2_exp", "se2_log", 3, 4, 0.95 * math.Pi, 1, func(e, a []float64) { batch.Exp(batch.SE2, e, a, 1) },
			expOf[float32](batch.SE2), logOf[float32](batch.SE2), expOf[float64](batch.SE2), logOf[float64](batch.SE2)},
		{"so3_exp", "so3_log", 3, 9, turn, turn, func(e, a []float64) { batch.Exp(batch.SO3, e, a, 1) },
			expOf[float32](batch.SO3), logOf[float32](batch.SO3), expOf[float64](batch.SO3), logOf[float64](batch.SO3)},
		{"exp2x2", "log2x2", 4, 4, 1, 1, func(e, a []float64) { batch.Exp2x2(e, a, 1) },
			total(batch.Exp2x2[float32]), partial(batch.Log2x2[float32]), total(batch.Exp2x2[float64]), partial(batch.Log2x2[float64])},
		{"exp3x3", "log3x3", 9, 9, 1, 1, func(e, a []float64) { batch.Exp3x3(e, a, 1) },
			total(batch.Exp3x3[float32]), partial(batch.Log3x3[float32]), total(batch.Exp3x3[float64]), partial(batch.Log3x3[float64])},
		{"sim2_exp", "sim2_log", 4, 4, 1, 1, func(e, a []float64) { batch.Exp(batch.Sim2, e, a, 1) },
			expOf[float32](batch.Sim2), logOf[float32](batch.Sim2), expOf[float64](batch.Sim2), logOf[float64](batch.Sim2)},
		{"se3_exp", "se3_log", 6, 12, turn, turn, func(e, a []float64) { batch.Exp(batch.SE3, e, a, 1) },
			expOf[float32](batch.SE3), logOf[float32](batch.SE3), expOf[float64](batch.SE3), logOf[float64](batch.SE3)},
	}
}

// A smallDerivative is a matrix of derivatives at each of n matrices of a group: of its exponential at the coordinates, of
// conjugation by the element, or of a general exponential in one direction.
type smallDerivative struct {
	name  string
	exp   string // the line of the group's exponential
	out   int    // entries
	at    derivativeAt
	run32 func(dst, a, e []float32, n int)
	run64 func(dst, a, e []float64, n int)
}

// derivativeAt says what a derivative is taken of.
type derivativeAt int

const (
	atCoordinates derivativeAt = iota
	atElement
	inDirection // at coordinates, in a direction drawn as these
)

func smallDerivatives() []smallDerivative {
	return []smallDerivative{
		{"exp2x2_frechet", "exp2x2", 4, inDirection, batch.ExpFrechet2x2[float32], batch.ExpFrechet2x2[float64]},
		{"exp3x3_frechet", "exp3x3", 9, inDirection, batch.ExpFrechet3x3[float32], batch.ExpFrechet3x3[float64]},
		{"sim2_jacobian", "sim2_exp", 16, atCoordinates, derivative(batch.LeftJacobian[float32], batch.Sim2),
			derivative(batch.LeftJacobian[float64], batch.Sim2)},
		{"sim2_jacobian_inv", "sim2_exp", 16, atCoordinates, derivative(batch.LeftJacobianInv[float32], batch.Sim2),
			derivative(batch.LeftJacobianInv[float64], batch.Sim2)},
		{"sim2_adjoint", "sim2_exp", 16, atElement, derivative(batch.Adjoint[float32], batch.Sim2),
			derivative(batch.Adjoint[float64], batch.Sim2)},
		{"se3_jacobian", "se3_exp", 36, atCoordinates, derivative(batch.LeftJacobian[float32], batch.SE3),
			derivative(batch.LeftJacobian[float64], batch.SE3)},
		{"se3_jacobian_inv", "se3_exp", 36, atCoordinates, derivative(batch.LeftJacobianInv[float32], batch.SE3),
			derivative(batch.LeftJacobianInv[float64], batch.SE3)},
		{"se3_adjoint", "se3_exp", 36, atElement, derivative(batch.Adjoint[float32], batch.SE3),
			derivative(batch.Adjoint[float64], batch.SE3)},
	}
}

func derivative[T simd.Float](f func(g batch.Group, dst, a []T, n int), g batch.Group) func(dst, a, e []T, n int) {
	return func(dst, a, _ []T, n int) { f(g, dst, a, n) }
}

func expOf[T simd.Float](g batch.Group) func(dst, a []T, ok []bool, n int) {
	return func(dst, a []T, _ []bool, n int) { batch.Exp(g, dst, a, n) }
}

func logOf[T simd.Float](g batch.Group) func(dst, a []T, ok []bool, n int) {
	return func(dst, a []T, _ []bool, n int) { batch.Log(g, dst, a, n) }
}

func total[T simd.Float](f func(dst, a []T, n int)) func(dst, a []T, ok []bool, n int) {
	return func(dst, a []T, _ []bool, n int) { f(dst, a, n) }
}

func partial[T simd.Float](f func(dst []T, ok []bool, a []T, n int)) func(dst, a []T, ok []bool, n int) {
	return func(dst, a []T, ok []bool, n int) { f(dst, ok, a, n) }
}

func smallMatrixCases() (cases []smallMatrixCase) {
	for _, g := range smallGroups() {
		cases = append(cases,
			smallMatrixCase{g.exp, func(n int) func() { return smallExp(&g, g.exp32, n) },
				func(n int) func() { return smallExp(&g, g.exp64, n) }},
			smallMatrixCase{g.log, func(n int) func() { return smallLog(&g, g.log32, n) },
				func(n int) func() { return smallLog(&g, g.log64, n) }})
	}
	for _, d := range smallDerivatives() {
		for _, g := range smallGroups() {
			if g.exp == d.exp {
				cases = append(cases, smallMatrixCase{d.name,
					func(n int) func() { return smallDerive(&d, &g, d.run32, n) },
					func(n int) func() { return smallDerive(&d, &g, d.run64, n) }})
			}
		}
	}
	return cases
}

// draw writes n coordinate vectors, entry by entry; drawn matrix by matrix as the peers do.
func draw[T simd.Float](g *smallGroup, n int) []T {
	rng, a := peerSeed, onHugePages[T](g.in*n)
	for i := range n {
		for j := range g.in {
			scale := g.scale
			if j == 0 {
				scale = g.scale0
			}
			a[j*n+i] = T(float64(rng.float()) * scale)
		}
	}
	return a
}

func smallExp[T simd.Float](g *smallGroup, exp func(dst, a []T, ok []bool, n int), n int) func() {
	a, dst, ok := draw[T](g, n), onHugePages[T](g.out*n), make([]bool, n)
	return func() { exp(dst, a, ok, n) }
}

func smallLog[T simd.Float](g *smallGroup, log func(dst, a []T, ok []bool, n int), n int) func() {
	m, dst, ok := elements(g, draw[T](g, n), n), onHugePages[T](g.in*n), make([]bool, n)
	return func() { log(dst, m, ok, n) }
}

func smallDerive[T simd.Float](d *smallDerivative, g *smallGroup, run func(dst, a, e []T, n int), n int) func() {
	a, dst := draw[T](g, n), onHugePages[T](d.out*n)
	var e []T
	switch d.at {
	case atElement:
		a = elements(g, a, n)
	case inDirection:
		e = onHugePages[T](len(a))
		copy(e, a)
		slices.Reverse(e)
	}
	return func() { run(dst, a, e, n) }
}

// elements is exp of n coordinate vectors.
func elements[T simd.Float](g *smallGroup, a []T, n int) []T {
	m, x, e := onHugePages[T](g.out*n), make([]float64, g.in), make([]float64, g.out)
	for i := range n {
		for j := range x {
			x[j] = float64(a[j*n+i])
		}
		g.one(e, x)
		for j, v := range e {
			m[j*n+i] = T(v)
		}
	}
	return m
}
