package group

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// family is a group, or one group per dimension.
type family struct {
	// pattern matches names as fold returns them; a parenthesised group is the dimension.
	pattern *regexp.Regexp
	// example names it in lists; dims are the dimensions that Names lists, nil for a single group.
	example string
	dims    []int
	// pointDim is the dimension of the points, 0 where it is n.
	pointDim int
	make     func(n int, alpha float64) Group
}

var anyDim = []int{1, 2, 3}

// families lists the groups in the order of documentation; Candidates keeps it.
var families = []family{
	{regexp.MustCompile(`^t(\d+)$`), "T(n)", anyDim, 0, func(n int, alpha float64) Group { return NewT(n, alpha) }},
	{regexp.MustCompile(`^so2$`), "SO(2)", nil, 2, func(_ int, alpha float64) Group { return NewSO2(alpha) }},
	{regexp.MustCompile(`^rx?so2$`), "R>0xSO(2)", nil, 2, func(_ int, alpha float64) Group { return NewRxSO2(alpha) }},
	{regexp.MustCompile(`^se2$`), "SE(2)", nil, 2, func(_ int, alpha float64) Group { return NewSE2(alpha) }},
	{regexp.MustCompile(`^rx?(\d+)$`), "R>0(n)", anyDim, 0, func(n int, alpha float64) Group { return NewRx(n, alpha) }},
	{regexp.MustCompile(`^rx?sq(?:ueeze)?$`), "R>0xSqueeze", nil, 2, func(_ int, alpha float64) Group { return NewRxSq(alpha) }},
	{regexp.MustCompile(`^so3$`), "SO(3)", nil, 3, func(_ int, alpha float64) Group { return NewSO3(alpha) }},
	{regexp.MustCompile(`^se3$`), "SE(3)", nil, 3, func(_ int, alpha float64) Group { return NewSE3(alpha) }},
	{regexp.MustCompile(`^trivial(\d+)$`), "trivial(n)", anyDim, 0, func(n int, alpha float64) Group { return NewTrivial(n, alpha) }},
}

// fold removes what does not tell two names apart: case, spaces, brackets, separators and the ways to write "positive".
var fold = strings.NewReplacer(">0", "", "×", "x", " ", "", "\t", "", "(", "", ")", "", "_", "", "*", "", "+", "")

// Parse returns the group with this name; case, spaces, brackets and the sign of the product do not matter, so
// "R>0xSO(2)", "R>0 × SO(2)" and "RxSO2" are one. "Rx" alone is R>0(2). The error of an unknown name lists the choices.
//
// alpha is the weight of the distance's first part, 0 for the group's default (0.3 for SO(2) and R>0xSO(2), otherwise
// 0.2); an alpha outside (0, 1) is an error.
func Parse(name string, alpha float64) (Group, error) {
	if alpha != 0 && !goodAlpha(alpha) {
		return nil, fmt.Errorf("group: alpha = %g, need 0 < alpha < 1, or 0 for the group's default", alpha)
	}
	key := fold.Replace(strings.ToLower(name))
	if key == "rx" {
		key = "rx2"
	}
	for _, f := range families {
		m := f.pattern.FindStringSubmatch(key)
		if m == nil {
			continue
		}
		n := f.pointDim
		if n == 0 {
			var err error
			if n, err = strconv.Atoi(m[1]); err != nil || n < 1 || n > maxDim {
				return nil, fmt.Errorf("group: %s with n = %s, need 1 to %d", f.example, clip(m[1]), maxDim)
			}
		}
		return f.make(n, alpha), nil
	}
	var choices []string
	for _, f := range families {
		choices = append(choices, f.example)
	}
	return nil, fmt.Errorf("group: unknown group %q, the choices are %s", clip(name), strings.Join(choices, ", "))
}

// clip keeps error messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// Names lists the canonical names that Parse accepts, of the groups that come in any dimension those for n = 1, 2, 3.
func Names() []string {
	var names []string
	for _, f := range families {
		if f.dims == nil {
			names = append(names, f.example)
		}
		for _, n := range f.dims {
			names = append(names, f.make(n, 0).Name())
		}
	}
	return names
}

// Candidates lists the canonical names of the groups that act on points of pointDim coordinates and have relative poses
// of length poseDim, in the order of Names: what a checkpoint that does not say its group may have been trained with.
func Candidates(poseDim, pointDim int) []string {
	if pointDim < 1 || pointDim > maxDim {
		return nil
	}
	var names []string
	for _, f := range families {
		if f.pointDim != 0 && f.pointDim != pointDim {
			continue
		}
		if g := f.make(pointDim, 0); PoseDim(g) == poseDim {
			names = append(names, g.Name())
		}
	}
	return names
}
