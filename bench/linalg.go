package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/linalg"
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
		Long: `Time exponentials and logarithms of batches of small matrices on the inputs of the peers' programs smallmat and closedform, on
one core, and name the lines as they do: smallmat/se2_exp/ours/f32 at n = 4096 and 1000000, in nanoseconds per matrix; what has no peer,
Sim(2), SE(3) and derivatives, likewise. Then the
distances of all pairs of a grid, pairs/precomp/ours/within, in nanoseconds per pair.
PEER_SECONDS sets the time per line.`,
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

// A smallGroup is what the peers do, or would, with n matrices of one kind: exp of coordinates drawn from [-1, 1), the first times scale0
// and the others times scale, and log of that, computed in float64 and rounded.
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
		{"so2_exp", "so2_log", 1, 2, math.Pi, 1, func(e, a []float64) { linalg.ExpSO2F64(e, a, 1) },
			total(linalg.ExpSO2F32), total(linalg.LogSO2F32), total(linalg.ExpSO2F64), total(linalg.LogSO2F64)},
		{"se2_exp", "se2_log", 3, 4, 0.95 * math.Pi, 1, func(e, a []float64) { linalg.ExpSE2F64(e, a, 1) },
			total(linalg.ExpSE2F32), total(linalg.LogSE2F32), total(linalg.ExpSE2F64), total(linalg.LogSE2F64)},
		{"so3_exp", "so3_log", 3, 9, turn, turn, func(e, a []float64) { linalg.ExpSO3F64(e, a, 1) },
			total(linalg.ExpSO3F32), total(linalg.LogSO3F32), total(linalg.ExpSO3F64), total(linalg.LogSO3F64)},
		{"exp2x2", "log2x2", 4, 4, 1, 1, func(e, a []float64) { linalg.Exp2x2F64(e, a, 1) },
			total(linalg.Exp2x2F32), partial(linalg.Log2x2F32), total(linalg.Exp2x2F64), partial(linalg.Log2x2F64)},
		{"exp3x3", "log3x3", 9, 9, 1, 1, func(e, a []float64) { linalg.Exp3x3F64(e, a, 1) },
			total(linalg.Exp3x3F32), partial(linalg.Log3x3F32), total(linalg.Exp3x3F64), partial(linalg.Log3x3F64)},
		{"sim2_exp", "sim2_log", 4, 4, 1, 1, func(e, a []float64) { linalg.ExpSim2F64(e, a, 1) },
			total(linalg.ExpSim2F32), total(linalg.LogSim2F32), total(linalg.ExpSim2F64), total(linalg.LogSim2F64)},
		{"se3_exp", "se3_log", 6, 12, turn, turn, func(e, a []float64) { linalg.ExpSE3F64(e, a, 1) },
			total(linalg.ExpSE3F32), total(linalg.LogSE3F32), total(linalg.ExpSE3F64), total(linalg.LogSE3F64)},
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

// derivativeAt is what a derivative is taken of.
type derivativeAt int

const (
	atCoordinates derivativeAt = iota
	atElement
	inDirection // at coordinates, in a direction drawn as these
)

func smallDerivatives() []smallDerivative {
	return []smallDerivative{
		{"exp2x2_frechet", "exp2x2", 4, inDirection, linalg.ExpFrechet2x2F32, linalg.ExpFrechet2x2F64},
		{"exp3x3_frechet", "exp3x3", 9, inDirection, linalg.ExpFrechet3x3F32, linalg.ExpFrechet3x3F64},
		{"sim2_jacobian", "sim2_exp", 16, atCoordinates, single(linalg.LeftJacobianSim2F32), single(linalg.LeftJacobianSim2F64)},
		{"sim2_jacobian_inv", "sim2_exp", 16, atCoordinates, single(linalg.LeftJacobianInvSim2F32), single(linalg.LeftJacobianInvSim2F64)},
		{"sim2_adjoint", "sim2_exp", 16, atElement, single(linalg.AdjointSim2F32), single(linalg.AdjointSim2F64)},
		{"se3_jacobian", "se3_exp", 36, atCoordinates, single(linalg.LeftJacobianSE3F32), single(linalg.LeftJacobianSE3F64)},
		{"se3_jacobian_inv", "se3_exp", 36, atCoordinates, single(linalg.LeftJacobianInvSE3F32), single(linalg.LeftJacobianInvSE3F64)},
		{"se3_adjoint", "se3_exp", 36, atElement, single(linalg.AdjointSE3F32), single(linalg.AdjointSE3F64)},
	}
}

func single[T simd.Float](f func(dst, a []T, n int)) func(dst, a, e []T, n int) {
	return func(dst, a, _ []T, n int) { f(dst, a, n) }
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
			smallMatrixCase{g.exp, func(n int) func() { return smallExp(&g, g.exp32, n) }, func(n int) func() { return smallExp(&g, g.exp64, n) }},
			smallMatrixCase{g.log, func(n int) func() { return smallLog(&g, g.log32, n) }, func(n int) func() { return smallLog(&g, g.log64, n) }})
	}
	for _, d := range smallDerivatives() {
		for _, g := range smallGroups() {
			if g.exp == d.exp {
				cases = append(cases, smallMatrixCase{d.name,
					func(n int) func() { return smallDerive(&d, &g, d.run32, n) }, func(n int) func() { return smallDerive(&d, &g, d.run64, n) }})
			}
		}
	}
	return cases
}

// draw writes n coordinate vectors, entry by entry; drawn matrix by matrix as the peers do.
func draw[T simd.Float](g *smallGroup, n int) []T {
	rng, a := peerSeed, make([]T, g.in*n)
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
	a, dst, ok := draw[T](g, n), make([]T, g.out*n), make([]bool, n)
	return func() { exp(dst, a, ok, n) }
}

func smallLog[T simd.Float](g *smallGroup, log func(dst, a []T, ok []bool, n int), n int) func() {
	m, dst, ok := elements(g, draw[T](g, n), n), make([]T, g.in*n), make([]bool, n)
	return func() { log(dst, m, ok, n) }
}

func smallDerive[T simd.Float](d *smallDerivative, g *smallGroup, run func(dst, a, e []T, n int), n int) func() {
	a, dst := draw[T](g, n), make([]T, d.out*n)
	var e []T
	switch d.at {
	case atElement:
		a = elements(g, a, n)
	case inDirection:
		e = slices.Clone(a)
		slices.Reverse(e)
	}
	return func() { run(dst, a, e, n) }
}

// elements is exp of n coordinate vectors.
func elements[T simd.Float](g *smallGroup, a []T, n int) []T {
	m, x, e := make([]T, g.out*n), make([]float64, g.in), make([]float64, g.out)
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
