package batch

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNaNInNaNOut wants a NaN in any number that a group's operation gets to show in its result, constant Jacobians included.
func TestNaNInNaNOut(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for g := range groups {
			k := groups[g]
			for what, f := range map[string]struct {
				in, out int
				call    func(dst, x []float64)
			}{
				"Adjoint":         {k.entries, k.coords * k.coords, func(dst, x []float64) { Adjoint(Group(g), dst, x, 1) }},
				"LeftJacobian":    {k.coords, k.coords * k.coords, func(dst, x []float64) { LeftJacobian(Group(g), dst, x, 1) }},
				"LeftJacobianInv": {k.coords, k.coords * k.coords, func(dst, x []float64) { LeftJacobianInv(Group(g), dst, x, 1) }},
				"Log":             {k.entries, k.coords, func(dst, x []float64) { Log(Group(g), dst, x, 1) }},
				"Exp":             {k.coords, k.entries, func(dst, x []float64) { Exp(Group(g), dst, x, 1) }},
			} {
				for e := range f.in {
					x, dst := make([]float64, f.in), make([]float64, f.out)
					for i := range x {
						x[i] = 0.25 + float64(i)/8
					}
					x[e] = math.NaN()
					f.call(dst, x)
					found := false
					for _, v := range dst {
						found = found || v != v
					}
					require.True(t, found, "%s(%v): NaN at %d of %v gives %v", what, Group(g), e, x, dst)
				}
			}
		}
	})
}

// TestPanicsNameTheArgument wants a panic to call an argument as the function's documentation does.
func TestPanicsNameTheArgument(t *testing.T) {
	x := make([]float64, 100)
	for want, f := range map[string]func(){
		"Log(SE3): len(e) = 7, need 12·2":        func() { Log(SE3, x[:12], x[:7], 2) },
		"Inverse(SE2): len(e) = 7, need 4·2":     func() { Inverse(SE2, x[:8], x[:7], 2) },
		"Adjoint(SO3): len(e) = 7, need 9·2":     func() { Adjoint(SO3, x[:18], x[:7], 2) },
		"Mul(SE2): len(e) = 7, need 4·2":         func() { Mul(SE2, x[:8], x[:7], x[:8], 2) },
		"Mul(SE2): len(f) = 7, need 4·2":         func() { Mul(SE2, x[:8], x[:8], x[:7], 2) },
		"Act(SE2): len(e) = 7, need 4·2":         func() { Act(SE2, x[:4], x[:7], x[:4], 2) },
		"Act(SE2): len(x) = 7, need 2·2":         func() { Act(SE2, x[:4], x[:8], x[:7], 2) },
		"Compose(SE2): len(b) = 7, need 3·2":     func() { Compose(SE2, x[:6], x[:6], x[:7], 2) },
		"Exp(SE2): len(a) = 7, need 3·2":         func() { Exp(SE2, x[:8], x[:7], 2) },
		"ExpFrechet2x2: len(e) = 7, need 4·2":    func() { ExpFrechet2x2(x[:8], x[:8], x[:7], 2) },
		"ExpFrechet3x3: len(a) = 7, need 9·2":    func() { ExpFrechet3x3(x[:18], x[:7], x[:18], 2) },
		"ExpFrechetAdjoint3x3: len(e) = 7, need": func() { ExpFrechetAdjoint3x3(x[:18], x[:18], x[:7], 2) },
		"Mul4x4: len(b) = 7, need 16·2":          func() { Mul4x4(x[:32], x[:32], x[:7], 2) },
	} {
		func() {
			defer func() { require.Contains(t, fmt.Sprint(recover()), "batch: "+want) }()
			f()
		}()
	}
}
