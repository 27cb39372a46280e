package selection

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/eval"
)

// judge orders the candidates by their scores, those of their best trainings, and says who is kept: in the last round
// those that are as good as the best, in others the next ones, and those that are not clearly behind.
func (r *Round) judge(scores [][]float64, next int, errors float64, last bool) error {
	for i := range r.Candidates {
		c := &r.Candidates[i]
		c.scores, c.LogLikelihood = scores[i], eval.PairedOf(scores[i], make([]float64, len(scores[i])))
	}
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int { return cmp.Compare(b.LogLikelihood.Mean, a.LogLikelihood.Mean) })
	r.bestStarts()
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if math.IsNaN(c.LogLikelihood.Mean) {
			return fmt.Errorf("%s: no held-out task has a finite likelihood", c.Name)
		}
		if i > 0 {
			c.Behind = eval.PairedOf(c.scores, r.Candidates[0].scores)
		}
		within := errors
		if !last {
			within = max(2, errors)
		}
		c.Kept = c.Behind.Mean >= -within*c.Behind.Error || !last && i < next
	}
	return nil
}

// bestStarts leaves of every candidate the best training, which is the first one, with how far the others are behind it.
func (r *Round) bestStarts() {
	first := map[int]int{}
	var best []Candidate
	for _, c := range r.Candidates {
		i, ok := first[c.of]
		if !ok {
			first[c.of], best = len(best), append(best, c)
			continue
		}
		if behind := eval.PairedOf(c.scores, best[i].scores); !math.IsNaN(behind.Mean) {
			best[i].OtherStarts = append(best[i].OtherStarts, behind)
		}
	}
	r.Candidates = best
}

// luck is by how much two trainings of one candidate differ that differ in their seeds: the median over all candidates
// and rounds, as one that finds nothing is far behind. 0 where each has one start.
func (rep *Report) luck() float64 {
	var all []float64
	for _, r := range rep.Rounds {
		for _, c := range r.Candidates {
			for _, other := range c.OtherStarts {
				all = append(all, -other.Mean)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// decide says of the candidates of the last round who is as good as the best of those that are not ruled out. Standard
// errors know of tasks alone, and not of trainings' luck; so a candidate with a larger group may be as far behind as
// two trainings of one candidate differ, if the data bear what its group adds.
func (r *Round) decide(errors, luck float64) {
	r.ruleOut()
	best := r.best()
	for i := range r.Candidates {
		c := &r.Candidates[i]
		behind := eval.PairedOf(c.scores, best.scores)
		c.Kept = c.RuledOut == "" && behind.Mean >= -errors*behind.Error
		c.WithinLuck = !c.Kept && c.RuledOut == "" && c.Dimensions > best.Dimensions && c.borne(&best) &&
			behind.Mean >= -errors*math.Hypot(behind.Error, luck)
	}
}

// borne reports whether tasks lose nothing under another model by the moves that are built into the candidate's.
func (c *Candidate) borne(under *Candidate) bool {
	moves := 0
	for _, own := range c.Symmetries {
		if !c.has(own.Move) {
			continue
		}
		i := slices.IndexFunc(under.Symmetries, func(s eval.Symmetry) bool { return s.Move == own.Move })
		if i < 0 || under.Symmetries[i].Broken {
			return false
		}
		moves++
	}
	return moves > 0
}

// afterMove names tasks by their move.
var afterMove = map[string]string{"translations": "translated tasks", "rotations": "turned tasks", "scalings": "scaled tasks"}

// clearLoss is the loss of log-likelihood per value by a translation or scaling that only data explain. These moves
// take context to places that a model does not know, which costs some likelihood whatever the data. Of the kinds of
// "equivcnp select --plane" those that bear translations lose up to 0.06 by them and others 0.3 to 4. Scalings cost
// rings 0.7, but a landscape 0.07, and processes of a fixed length nothing that stands out: that little is lost proves
// no symmetry.
const clearLoss = 0.1

// ruleOut finds the candidates of the last round whose moves the data do not bear. Data that are equally distributed
// when they are moved are as likely moved as not, under every model that knows the places; those that are clearly less
// likely under a model to which the move is no symmetry, by more than the candidate is ahead of it, are not.
//
// Candidates may rule each other out one by one. So one that is farther ahead of the best that is left than the loss
// that ruled it out stays: a wrong symmetry costs less there than the model without it.
func (r *Round) ruleOut() {
	for i := range r.Candidates {
		c := &r.Candidates[i]
		c.RuledOut, c.loss = "", 0
		for _, other := range r.Candidates {
			for _, s := range other.Symmetries {
				loss, knows := -s.LogLikelihood.Mean, s.BuiltIn
				if s.Move == "rotations" {
					knows = other.turns
				} else if loss < clearLoss {
					continue
				}
				if s.Broken && !knows && c.has(s.Move) && loss > max(c.loss, eval.PairedOf(c.scores, other.scores).Mean) {
					c.loss, c.RuledOut = loss, fmt.Sprintf("%s lose %.3f ± %.3f under %s", afterMove[s.Move], loss,
						s.LogLikelihood.Error, other.Name)
				}
			}
		}
	}
	if !slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.RuledOut == "" }) {
		r.Candidates[0].RuledOut = "" // the data have none of these symmetries: the most likely model is left
	}
	left := r.best()
	for i := range r.Candidates { // the better ones first
		if c := &r.Candidates[i]; c.RuledOut != "" && eval.PairedOf(c.scores, left.scores).Mean > c.loss {
			c.RuledOut = ""
			return
		}
	}
}

// has reports whether a move is a symmetry of the candidate: built in, or rotations by its lifts.
func (c *Candidate) has(move string) bool {
	if move == "rotations" {
		return c.turns
	}
	return slices.ContainsFunc(c.Symmetries, func(s eval.Symmetry) bool { return s.Move == move && s.BuiltIn })
}

// best is the best candidate that is not ruled out.
func (r *Round) best() Candidate {
	return r.Candidates[slices.IndexFunc(r.Candidates, func(c Candidate) bool { return c.RuledOut == "" })]
}

// chosen is the candidate that the rule picks.
func (r *Round) chosen() Candidate {
	out := r.best()
	for _, c := range r.Candidates { // the better ones first
		if (c.Kept || c.WithinLuck) && c.Dimensions > out.Dimensions {
			out = c
		}
	}
	return out
}
