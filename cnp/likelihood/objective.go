package likelihood

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
)

// Objective changes the loss of cnp.Pass.Gradient. The zero value is the authors' loss.
type Objective struct {
	// Noise is the standard deviation of noise that the true values are assumed to have: the loss is the mean over all such
	// noise, in closed form. Standard deviations then learn not to fall below it. Noise that decreases during training keeps the
	// model from gaining likelihood by small deviations around poor means, where a single outlier would outweigh all other
	// values.
	Noise float64
	// Beta multiplies the gradient of every value by std^(2·Beta), from 0 to 1; the reported loss stays the likelihood. 0 is the
	// gradient of the likelihood, in which the values that are predicted best count most, and one outlier among them outweighs
	// all others; with 1, means learn as from the squared error. The optimum of every single value is the same for all Beta.
	// (Seitzer et al., On the pitfalls of heteroscedastic uncertainty estimation with probabilistic neural networks, ICLR 2022.)
	Beta float64
	// Tasks replaces B, the number that the sum is divided by; 0 keeps the number of tasks of the pass. For a step of several
	// passes, set it to the number of tasks of all of them.
	Tasks int
	// Counts says which of the true values count, as a mask says it besides; the others are not read, and cnp.Pass.LogLikelihood
	// leaves them out as well. Nil: all.
	Counts []bool
}

// objective is a likelihood with other losses than its own: those of Objective.
type objective interface {
	// under returns the likelihood whose densities and gradients are those of the objective.
	under(o Objective) (Family, error)
}

// Under returns l with the losses of the objective.
func (o Objective) Under(l Family) (Family, error) {
	if o.Noise == 0 && o.Beta == 0 {
		return l, nil
	}
	other, ok := l.(objective)
	if !ok {
		return nil, fmt.Errorf("%w: noise = %v, beta = %v: likelihood %s takes 0 for both", failure.ErrConfig, o.Noise, o.Beta, l.Name())
	}
	return other.under(o)
}

// Suits reports whether models of a likelihood can be trained with the objective.
func (o Objective) Suits(l Family) error {
	_, err := o.Under(l)
	return err
}
