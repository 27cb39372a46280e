package selection

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp/eval"
)

// Report holds what a selection found.
type Report struct {
	Source   string `json:"source"`
	ScoredOn string `json:"scored_on,omitempty"`
	Rule     string `json:"rule"`
	Chosen   string `json:"chosen"`
	Best     string `json:"best"`
	// Supported says that the best candidate predicts better than a constant, so that the comparison says something of
	// the data. AboveConstant is by how much, of the log-likelihood per value; nil where the likelihood has no constant
	// to compare with.
	Supported     bool            `json:"supported"`
	AboveConstant *eval.Paired    `json:"above_constant,omitempty"`
	Rounds        []Round         `json:"rounds"`
	Symmetries    []eval.Symmetry `json:"symmetries"` // under the best
	Luck          float64         `json:"luck"`       // by how much two trainings of one candidate differ
	Selection     *Manifest       `json:"selection"`
	Model         string          `json:"model"`
	OutDir        string          `json:"out_dir"`
	Notes         []string        `json:"notes"`
}

// Round holds what a round found.
type Round struct {
	Steps      int         `json:"steps"`
	Tasks      int         `json:"tasks"`
	Candidates []Candidate `json:"candidates"` // the best one first
}

// Candidate is a candidate's place in a round.
type Candidate struct {
	Name          string      `json:"name"`
	Group         string      `json:"group"`
	Lifts         int         `json:"lifts"`
	Dimensions    int         `json:"dimensions"` // of the symmetry
	LogLikelihood eval.Paired `json:"log_likelihood"`
	Behind        eval.Paired `json:"difference_to_best"`
	Kept          bool        `json:"kept"` // for the next round; in the last one: as good as the best
	Model         string      `json:"model"`
	// Seed is that of its training. OtherStarts are, in the first round and the last, how far the other trainings were behind this one.
	Seed        uint64        `json:"seed"`
	OtherStarts []eval.Paired `json:"other_starts,omitempty"`
	// Of the last round: what the data lose under this model by being moved, and why it cannot be chosen.
	Symmetries []eval.Symmetry `json:"symmetries,omitempty"`
	RuledOut   string          `json:"ruled_out,omitempty"`
	// WithinLuck says that it is behind, but no farther than trainings differ by chance, and that the data bear its
	// group: it may be chosen.
	WithinLuck bool `json:"within_luck,omitempty"`

	scores []float64
	loss   float64 // what ruled it out
	at     int     // among the round's models
	of     int     // the contender
	turns  bool    // as the contender's
}

// Last is the last round.
func (rep *Report) Last() *Round { return &rep.Rounds[len(rep.Rounds)-1] }

// Verdict says what the change of likelihood of moved tasks means: built into the model, broken, supported, or nothing,
// where no model predicts better than a constant.
func (rep *Report) Verdict(s eval.Symmetry) string {
	switch {
	case s.BuiltIn:
		return "built into the model"
	case s.Broken:
		return "broken"
	case !rep.Supported:
		return "undecided"
	}
	return "supported"
}

// floor compares the best candidate with the constant's scores of the same tasks.
func (rep *Report) floor(best Candidate, constant []float64) {
	above := eval.PairedOf(best.scores, constant)
	if math.IsNaN(above.Mean) {
		above.Mean = math.Inf(-1) // no task on which both are finite
	}
	rep.AboveConstant, rep.Supported = &above, above.Mean > 2*above.Error
}
