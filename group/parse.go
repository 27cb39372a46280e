package group

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// family is one group, or a group for every dimension, as T(n) is.
type family struct {
	// pattern matches names as fold returns them; a parenthesised group is the dimension.
	pattern *regexp.Regexp
	// example names it in lists; dims are the dimensions that Names lists, nil for a single group.
	example string
	dims    []int
	// pointDim is the dimension of the points, 0 where it is n.
	pointDim int
	make     func(n int, alpha float64) Group
	// recent marks groups that are newer than the checkpoints that do not name their group; Candidates leaves them out.
	recent bool
}

var anyDim = []int{1, 2, 3}

// families lists the groups in the order of documentation; Candidates keeps it.
var families = []family{
	{regexp.MustCompile(`^t(\d+)$`), "T(n)", anyDim, 0, func(n int, alpha float64) Group { return NewT(n, alpha) }, false},
	{regexp.MustCompile(`^so2$`), "SO(2)", nil, 2, func(_ int, alpha float64) Group { return NewSO2(alpha) }, false},
	{regexp.MustCompile(`^rx?so2$`), "R>0xSO(2)", nil, 2, func(_ int, alpha float64) Group { return NewRxSO2(alpha) }, false},
	{regexp.MustCompile(`^se2$`), "SE(2)", nil, 2, func(_ int, alpha float64) Group { return NewSE2(alpha) }, false},
	{regexp.MustCompile(`^rx?(\d+)$`), "R>0(n)", anyDim, 0, func(n int, alpha float64) Group { return NewRx(n, alpha) }, false},
	{regexp.MustCompile(`^rx?sq(?:ueeze)?$`), "R>0xSqueeze", nil, 2, func(_ int, alpha float64) Group { return NewRxSq(alpha) }, false},
	{regexp.MustCompile(`^so3$`), "SO(3)", nil, 3, func(_ int, alpha float64) Group { return NewSO3(alpha) }, false},
	{regexp.MustCompile(`^se3$`), "SE(3)", nil, 3, func(_ int, alpha float64) Group { return NewSE3(alpha) }, false},
	{regexp.MustCompile(`^sq(?:ueeze)?$`), "Squeeze", nil, 2, func(_ int, alpha float64) Group { return NewSqueeze(alpha) }, true},
	{regexp.MustCompile(`^sim2$`), "Sim(2)", nil, 2, func(_ int, alpha float64) Group { return NewSim2(1, alpha) }, true},
	{regexp.MustCompile(`^trivial(\d+)$`), "trivial(n)", anyDim, 0,
		func(n int, alpha float64) Group { return NewTrivial(n, alpha) }, false},
}

// fold removes the differences between spellings of one name: case, spaces, brackets, separators and the ways to write
// "positive".
var fold = strings.NewReplacer(">0", "", "×", "x", " ", "", "\t", "", "(", "", ")", "", "_", "", "*", "", "+", "")

// Parse returns the group with this name; case, spaces, brackets and the sign of the product do not matter, so
// "R>0xSO(2)", "R>0 × SO(2)" and "RxSO2" are one. "Rx" alone is R>0(2). The error of an unknown name lists the choices.
//
// "T(n) along c" are the translations of R^n along coordinate c, "Sim(2) at 3 scales" has lifts at so many, and "(G) x
// (H)" or "(G, alpha 0.3) x (H, alpha 0.2)" is a product, whose parts may be products. Parse understands every name
// that Name returns, except those of groups made by NewMatrix and NewMatrix3.
//
// alpha is the weight of the distance's first part, 0 for the group's default (0.3 for SO(2) and R>0xSO(2), 0.5 for
// products, otherwise 0.2); an alpha outside (0, 1) is an error.
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
	if m := axisPattern.FindStringSubmatch(key); m != nil {
		n, err := strconv.Atoi(m[1])
		axis, err2 := strconv.Atoi(m[2])
		if err != nil || err2 != nil || n < 2 || n > maxDim || axis >= n {
			return nil, fmt.Errorf("group: %q, need n from 2 to %d and a coordinate from 0 to n-1", clip(name), maxDim)
		}
		return NewAxis(n, axis, alpha), nil
	}
	if m := scalesPattern.FindStringSubmatch(key); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxScales {
			return nil, fmt.Errorf("group: %q, need 1 to %d scales", clip(name), maxScales)
		}
		return NewSim2(n, alpha), nil
	}
	if g, h, ok := factors(name); ok {
		return parseProduct(g, h, alpha)
	}
	var choices []string
	for _, f := range families {
		choices = append(choices, f.example)
	}
	return nil, fmt.Errorf("group: unknown group %q, the choices are %s, Sim(2) at n scales, T(n) along c, (G) x (H)", clip(name),
		strings.Join(choices, ", "))
}

var (
	axisPattern   = regexp.MustCompile(`^t(\d+)along(\d+)$`)
	scalesPattern = regexp.MustCompile(`^sim2at(\d+)scales?$`)
)

// longestName is the longest name that Parse looks at. It bounds how deep products nest.
const longestName = 500

// factors splits "(G) x (H)" at the brackets that match.
func factors(name string) (g, h string, ok bool) {
	name = strings.TrimSpace(name)
	if len(name) > longestName || !strings.HasPrefix(name, "(") || !strings.HasSuffix(name, ")") {
		return "", "", false
	}
	depth := 0
	for i, c := range name {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			continue
		}
		rest := strings.TrimSpace(name[i+1:])
		for _, times := range []string{"x", "X", "×", "*"} {
			if second, found := strings.CutPrefix(rest, times); found {
				second = strings.TrimSpace(second)
				if enclosed(second) {
					return name[1:i], second[1 : len(second)-1], true
				}
			}
		}
		return "", "", false
	}
	return "", "", false
}

// enclosed reports whether the first bracket of s is closed by its last character.
func enclosed(s string) bool {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i > 0 && i == len(s)-1
		}
	}
	return false
}

var alphaPattern = regexp.MustCompile(`(?i)^(.*\S)\s*,\s*alpha\s+([-+.\w]+)\s*$`)

// parseProduct parses both parts, each a name with or without its alpha.
func parseProduct(first, second string, alpha float64) (Group, error) {
	var parts [2]Group
	for i, name := range []string{first, second} {
		weight := 0.0
		if m := alphaPattern.FindStringSubmatch(name); m != nil {
			var err error
			if weight, err = strconv.ParseFloat(m[2], 64); err != nil || !goodAlpha(weight) {
				return nil, fmt.Errorf("group: alpha of %q, need 0 < alpha < 1", clip(name))
			}
			name = m[1]
		}
		var err error
		if parts[i], err = Parse(name, weight); err != nil {
			return nil, err
		}
	}
	if d := parts[0].PointDim() + parts[1].PointDim(); d > maxDim {
		return nil, fmt.Errorf("group: a product on points of %d coordinates, need at most %d", d, maxDim)
	}
	return NewProduct(parts[0], parts[1], alpha), nil
}

// clip keeps error messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// Names lists canonical names that Parse accepts, for a menu or the help of a flag. Of groups that exist in any dimension it
// lists n = 1, 2, 3; translations along an axis and products are left out.
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

// Candidates lists the canonical names of the groups that act on points of pointDim coordinates and have relative poses of length
// poseDim, in the order of Names. A checkpoint that does not name its group may have been trained with any of them.
func Candidates(poseDim, pointDim int) []string {
	if pointDim < 1 || pointDim > maxDim {
		return nil
	}
	var names []string
	for _, f := range families {
		if f.recent || (f.pointDim != 0 && f.pointDim != pointDim) {
			continue
		}
		if g := f.make(pointDim, 0); PoseDim(g) == poseDim {
			names = append(names, g.Name())
		}
	}
	return names
}
