package main

import (
	"fmt"
	"strings"
)

// lineNotes say what the fastest peer of a line does not promise, as measured with the peers' own code (bench/peers/whole/README.md says
// how), so that nobody takes a difference in meaning for a difference in speed. They change no ratio.
var lineNotes = []struct {
	lines, peer string // a line's name, or with a slash at the end its beginning, and the beginning of the part that says who is measured
	says        string
}{
	{"exp/", "avx", "takes ordinary numbers: exp(NaN) and exp(-infinity) are 1.2e-38, exp(infinity) is 3.3e38"},
	{"sigmoid/", "avx", "takes ordinary numbers: sigmoid(NaN) is 1, and 0 below -87"},
	{"softplus_grad/", "avx", "takes ordinary numbers: NaN gives 1"},
	{"swish_grad/", "avx", "takes ordinary numbers: the derivative is NaN at both infinities"},
	{"swish/", "avx2_div", "is off by up to 10 units in the last place, 16 % of its results in [-8, 8) by more than 2, the most " +
		"that ours is"},
	{"swish/", "avx512_div", "is off by up to 9.5 units in the last place, 12 % of its results in [-8, 8) by more than 2, the most " +
		"that ours is"},
	{"tanh/", "eigen", "is off by up to 4.9 units in the last place, 4.7 % of its results in [-8, 8) by more than 2, the most " +
		"that ours is"},
	{"erf/", "libmvec", "promises 4 units in the last place; ours is off by up to .99"},
	{"expm1/", "libmvec", "promises 4 units in the last place; ours is off by up to .92"},
	{"log1p/", "libmvec", "promises 4 units in the last place; ours is off by up to .95"},
	{"gelu/", "libmvec", "is off by 1e-6 of the result, 9 units in the last place; ours by up to 2.0 units"},
	{"gelu/", "onednn", "is right to 4e-7 absolute: below -3 its results have few digits, where ours is off by up to 2.0 units"},
	{"max/", "plain", "asks nothing about NaN and zeros"},
	{"max/", "avx", "asks nothing about NaN and zeros"},
	{"smallmat/exp3x3/", "soa", "scales 64 matrices by the largest: beside one of norm 64 the others' errors grow from 1e-7 to 4e-6 in " +
		"float32; ours do not depend on others"},
	{"kdtree/ours_tree/d2/n4096/build", "nanoflann", branchesLearnt},
	{"kdtree/ours_tree/d3/n4096/build", "nanoflann", branchesLearnt},
	{"smallmat/", "soa", "takes ordinary numbers (-ffast-math, and libmvec's functions of 4 units in the last place)"},
}

const branchesLearnt = "builds the tree of the same points again and again, and the processor learns its branches; build_fresh has " +
	"a cloud each time that was not just seen"

// noteOn returns what the page says of a line beside its fastest peer: what that peer does not promise, and how a peer does that
// promises the same, if it was measured.
func noteOn(best ratio, all []ratio) string {
	var says []string
	for _, n := range lineNotes {
		name := best.Ours.Name
		about := name == n.lines || strings.HasSuffix(n.lines, "/") && strings.HasPrefix(name, n.lines)
		if about && strings.HasPrefix(best.Who, n.peer) && !strings.HasSuffix(best.Who, wholeRange) {
			says = append(says, best.Who+" "+n.says)
			break
		}
	}
	for _, r := range all {
		if r.Ours == best.Ours && r.Who != best.Who && strings.HasSuffix(r.Who, wholeRange) {
			says = append(says, fmt.Sprintf("%s takes all of float32 as ours does: %.2f", r.Who, r.Median))
		}
	}
	return strings.Join(says, "; ")
}

// wholeRange ends the names of peers that promise what ours does.
const wholeRange = "_whole"
