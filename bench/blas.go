package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	ourblas "github.com/equivcnp/equivcnp/linalg/blas"
	"github.com/equivcnp/equivcnp/simd"
)

// blasCase is one operation of a size.
type blasCase struct {
	name string
	n    int
	run  func(b *bothBLAS)
}

// bothBLAS is one implementation in both precisions.
type bothBLAS struct {
	s blas.Float32
	d blas.Float64
}

type blasFlags struct {
	match  string
	rounds int
	each   time.Duration
	out    string
	json   bool
	small  bool
}

func blasCommand() *cobra.Command {
	f := blasFlags{}
	cmd := &cobra.Command{
		Use:   "blas",
		Short: "Compare linalg/blas with gonum's BLAS",
		Long: `Compare linalg/blas with gonum's BLAS, in turns: operations of every level in both precisions, and gonum's mat
on top of both, on one goroutine and on as many as there are processors. A ratio above 1 is how many times as fast
linalg/blas is: the median over rounds of gonum's time by its time.`,
		Example: "  go run ./bench blas --match gemm\n  go run ./bench blas --small --out /tmp/small.md\n  go run ./bench blas --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.json {
				return f.samples(&report{w: cmd.OutOrStdout(), json: true})
			}
			compare := f.compare
			if f.small {
				compare = f.compareSmall
			}
			if f.out == "" {
				return compare(cmd.OutOrStdout())
			}
			file, err := os.Create(f.out)
			if err != nil {
				return err
			}
			if err := compare(file); err != nil {
				return err
			}
			return file.Close()
		},
	}
	cmd.Flags().StringVar(&f.match, "match", "", "only lines whose names match this regular expression")
	cmd.Flags().IntVar(&f.rounds, "rounds", 5, "how often each implementation is timed")
	cmd.Flags().DurationVar(&f.each, "time", 10*time.Millisecond, "how long a timing takes at least")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one object a line, of one goroutine; one round")
	cmd.Flags().BoolVar(&f.small, "small", false,
		"instead, a table of sizes from 1 to 64: of every operation the kind that gains least, on one goroutine")
	cmd.Flags().StringVar(&f.out, "out", "", "write the table to this file")
	return cmd
}

// check refuses numbers out of range, and a name that no line has.
func (f *blasFlags) check() error {
	if f.each <= 0 {
		return fmt.Errorf("--time %v: need more than 0", f.each)
	}
	if err := within("rounds", f.rounds, mostTimes); err != nil {
		return err
	}
	match, err := f.matcher()
	if err != nil || f.json { // bench report names lines of several parts at once
		return err
	}
	var names []string
	if f.small {
		for _, c := range smallCases[float64](1) {
			name, _, _ := strings.Cut(c.name, " ")
			names = append(names, "d"+name, "s"+name)
		}
	} else {
		for _, c := range slices.Concat(blasVectors(), blasMatrices(), blasUsers()) {
			names = append(names, c.name)
		}
	}
	if !slices.ContainsFunc(names, match.MatchString) {
		return fmt.Errorf("--match %s: no line's name matches", f.match)
	}
	return nil
}

func (f *blasFlags) matcher() (*regexp.Regexp, error) {
	match, err := regexp.Compile(f.match)
	if err != nil {
		return nil, fmt.Errorf("--match %s: %w", f.match, err)
	}
	return match, nil
}

func (f *blasFlags) compare(w io.Writer) error {
	match, err := f.matcher()
	if err != nil {
		return err
	}
	procs := runtime.NumCPU()
	fmt.Fprintf(w, "Level %v, %d processors. Times are those of linalg/blas, and x is how many times as long gonum's BLAS takes.\n\n",
		simd.CurrentLevel(), procs)
	fmt.Fprintf(w, "| operation | n | 1 goroutine | x | %d goroutines | x |\n|---|---:|---:|---:|---:|---:|\n", procs)
	for _, c := range slices.Concat(blasVectors(), blasMatrices(), blasUsers()) {
		if !match.MatchString(c.name) {
			continue
		}
		t1, x1 := f.ratio(c, 1)
		tn, xn := f.ratio(c, procs)
		if _, err := fmt.Fprintf(w, "| %s | %d | %v | %.2f | %v | %.2f |\n", c.name, c.n, t1, x1, tn, xn); err != nil {
			return err
		}
	}
	return nil
}

// samples prints both implementations' times of every operation on one goroutine: blas/ours/dgemm and blas/gonum/dgemm.
func (f *blasFlags) samples(r *report) error {
	match, err := f.matcher()
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer blas64.Use(gonum.Implementation{})
	for _, c := range slices.Concat(blasVectors(), blasMatrices(), blasUsers()) {
		if !match.MatchString(c.name) || c.n > 500 { // seconds by gonum's
			continue
		}
		for _, b := range []struct {
			who string
			of  *bothBLAS
		}{{"ours", &bothBLAS{ourblas.Implementation{}, ourblas.Implementation{}}},
			{"gonum", &bothBLAS{gonum.Implementation{}, gonum.Implementation{}}}} {
			blas64.Use(b.of.d)
			c.run(b.of)
			t := bestWall(func() { c.run(b.of) })
			if err := r.add(sample{"blas/" + b.who + "/" + strings.ReplaceAll(c.name, " ", "_"), c.n, "ns_per_call", 1e9 * t}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ratio times both implementations in turns on that many goroutines.
func (f *blasFlags) ratio(c blasCase, procs int) (ours time.Duration, times float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	defer blas64.Use(gonum.Implementation{})
	impls := []*bothBLAS{{ourblas.Implementation{}, ourblas.Implementation{}}, {gonum.Implementation{}, gonum.Implementation{}}}
	var mine, ratios []float64
	for range f.rounds {
		var t [2]float64
		for k, b := range impls {
			blas64.Use(b.d)
			t[k] = f.timeOf(func() { c.run(b) })
		}
		mine, ratios = append(mine, t[0]), append(ratios, t[1]/t[0])
	}
	slices.Sort(mine)
	slices.Sort(ratios)
	d := time.Duration(mine[len(mine)/2])
	return d.Round(max(1, d/1000)), ratios[len(ratios)/2]
}

// timeOf is how many nanoseconds a call takes.
func (f *blasFlags) timeOf(run func()) float64 {
	run()
	for n := 1; ; n *= 2 {
		start := time.Now()
		for range n {
			run()
		}
		if d := time.Since(start); d >= f.each {
			return float64(d.Nanoseconds()) / float64(n)
		}
	}
}

func blasData[T simd.Float](n int) []T {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func blasVectors() (cases []blasCase) {
	for _, n := range []int{4, 16, 64, 1000, 100_000} {
		x, y := blasData[float32](n), blasData[float32](n)
		u, v := blasData[float64](n), blasData[float64](n)
		add := func(name string, run func(b *bothBLAS)) { cases = append(cases, blasCase{name, n, run}) }
		add("sdot", func(b *bothBLAS) { b.s.Sdot(n, x, 1, y, 1) })
		add("ddot", func(b *bothBLAS) { b.d.Ddot(n, u, 1, v, 1) })
		add("saxpy", func(b *bothBLAS) { b.s.Saxpy(n, 1e-9, x, 1, y, 1) })
		add("daxpy", func(b *bothBLAS) { b.d.Daxpy(n, 1e-9, u, 1, v, 1) })
		add("snrm2", func(b *bothBLAS) { b.s.Snrm2(n, x, 1) })
		add("dnrm2", func(b *bothBLAS) { b.d.Dnrm2(n, u, 1) })
		add("sasum", func(b *bothBLAS) { b.s.Sasum(n, x, 1) })
		add("dasum", func(b *bothBLAS) { b.d.Dasum(n, u, 1) })
		add("isamax", func(b *bothBLAS) { b.s.Isamax(n, x, 1) })
		add("idamax", func(b *bothBLAS) { b.d.Idamax(n, u, 1) })
		add("sscal", func(b *bothBLAS) { b.s.Sscal(n, -1, x, 1) })
		add("dscal", func(b *bothBLAS) { b.d.Dscal(n, -1, u, 1) })
		add("drot", func(b *bothBLAS) { b.d.Drot(n, u, 1, v, 1, 0.6, 0.8) })
		add("dswap", func(b *bothBLAS) { b.d.Dswap(n, u, 1, v, 1) })
	}
	return cases
}

func blasMatrices() (cases []blasCase) {
	const no, tr, up, left, right = blas.NoTrans, blas.Trans, blas.Upper, blas.Left, blas.Right
	for _, n := range []int{4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		a, b, c := blasData[float32](n*n), blasData[float32](n*n), blasData[float32](n*n)
		d, e, f := blasData[float64](n*n), blasData[float64](n*n), blasData[float64](n*n)
		for i := range n {
			a[i*n+i], d[i*n+i] = float32(4*n), float64(4*n)
		}
		add := func(name string, run func(b *bothBLAS)) { cases = append(cases, blasCase{name, n, run}) }
		add("sgemv", func(i *bothBLAS) { i.s.Sgemv(no, n, n, 1, a, n, b[:n], 1, 0, c[:n], 1) })
		add("sgemv T", func(i *bothBLAS) { i.s.Sgemv(tr, n, n, 1, a, n, b[:n], 1, 0, c[:n], 1) })
		add("dgemv", func(i *bothBLAS) { i.d.Dgemv(no, n, n, 1, d, n, e[:n], 1, 0, f[:n], 1) })
		add("dgemv T", func(i *bothBLAS) { i.d.Dgemv(tr, n, n, 1, d, n, e[:n], 1, 0, f[:n], 1) })
		add("dger", func(i *bothBLAS) { i.d.Dger(n, n, 1e-9, e[:n], 1, e[:n], 1, f, n) })
		add("dsymv", func(i *bothBLAS) { i.d.Dsymv(up, n, 1, d, n, e[:n], 1, 0, f[:n], 1) })
		add("dtrsv", func(i *bothBLAS) { copy(f, e[:n]); i.d.Dtrsv(up, no, blas.NonUnit, n, d, n, f[:n], 1) })
		add("dtrmv T", func(i *bothBLAS) { i.d.Dtrmv(up, tr, blas.Unit, n, e, n, make([]float64, n), 1) })
		add("sgemm", func(i *bothBLAS) { i.s.Sgemm(no, no, n, n, n, 1, a, n, b, n, 0, c, n) })
		add("sgemm NT", func(i *bothBLAS) { i.s.Sgemm(no, tr, n, n, n, 1, a, n, b, n, 0, c, n) })
		add("dgemm", func(i *bothBLAS) { i.d.Dgemm(no, no, n, n, n, 1, d, n, e, n, 0, f, n) })
		add("dgemm NT", func(i *bothBLAS) { i.d.Dgemm(no, tr, n, n, n, 1, d, n, e, n, 0, f, n) })
		add("dgemm TN", func(i *bothBLAS) { i.d.Dgemm(tr, no, n, n, n, 1, d, n, e, n, 0, f, n) })
		add("dsymm", func(i *bothBLAS) { i.d.Dsymm(left, up, n, n, 1, d, n, e, n, 0, f, n) })
		add("dsyrk", func(i *bothBLAS) { i.d.Dsyrk(up, no, n, n, 1, e, n, 0, f, n) })
		add("strsm", func(i *bothBLAS) { i.s.Strsm(left, up, no, blas.NonUnit, n, n, float32(4*n), a, n, c, n) })
		add("dtrsm", func(i *bothBLAS) { i.d.Dtrsm(left, up, no, blas.NonUnit, n, n, float64(4*n), d, n, f, n) })
		add("dtrsm R", func(i *bothBLAS) { i.d.Dtrsm(right, up, no, blas.NonUnit, n, n, float64(4*n), d, n, f, n) })
		add("dtrmm", func(i *bothBLAS) { i.d.Dtrmm(left, up, no, blas.NonUnit, n, n, 1/float64(4*n), d, n, f, n) })
	}
	return cases
}

// blasUsers are what gonum's mat makes of its BLAS.
func blasUsers() (cases []blasCase) {
	for _, n := range []int{100, 500, 1000} {
		a, b := mat.NewDense(n, n, blasData[float64](n*n)), mat.NewDense(n, n, blasData[float64](n*n))
		var s mat.SymDense
		s.SymOuterK(1, a)
		for i := range n {
			s.SetSym(i, i, s.At(i, i)+1)
		}
		add := func(name string, run func()) { cases = append(cases, blasCase{name, n, func(*bothBLAS) { run() }}) }
		add("mat.Dense.Mul", func() { new(mat.Dense).Mul(a, b) })
		add("mat.Cholesky", func() { new(mat.Cholesky).Factorize(&s) })
		add("mat.Dense.Solve", func() { _ = new(mat.Dense).Solve(a, b) })
		add("mat.QR", func() { new(mat.QR).Factorize(a) })
		if n > 500 {
			continue // minutes by gonum's BLAS
		}
		add("mat.EigenSym", func() { new(mat.EigenSym).Factorize(&s, true) })
		add("mat.SVD", func() { new(mat.SVD).Factorize(a, mat.SVDThin) })
		add("mat.Eigen", func() { new(mat.Eigen).Factorize(a, mat.EigenRight) })
	}
	return cases
}
