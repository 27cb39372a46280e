package likelihood

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
)

// Options describe the model that predicts by a family, as far as the family needs it.
type Options struct {
	// Spread makes the deviations of normal families.
	Spread Spread
	// Values is the number of values of a target.
	Values int
	// Architecture is the model's, for errors; Image reports whether it completes images.
	Architecture string
	Image        bool
}

var likelihoods = struct {
	sync.RWMutex
	names []string
	make  map[string]func(o Options, arg string) (Family, error)
}{make: map[string]func(Options, string) (Family, error){}}

// maxOutputs bounds the numbers of a value, maxLikelihood the letters of a likelihood's name, in which maxNodes lists
// of maxScales calibrated shares and factors have room.
const (
	maxOutputs    = 1 << 12
	maxLikelihood = 1 << 13
)

// Register makes a family known under a name: Parse then takes the name, or the name, a colon and an argument. make gets
// the argument, "" without one, and the model's options. It panics if the name is taken.
func Register(name string, make func(o Options, arg string) (Family, error)) {
	likelihoods.Lock()
	defer likelihoods.Unlock()
	if _, ok := likelihoods.make[name]; ok || name == "" || strings.Contains(name, ":") || make == nil {
		panic(fmt.Sprintf("likelihood: Register: %q is taken, or no name", name))
	}
	likelihoods.names, likelihoods.make[name] = append(likelihoods.names, name), make
}

// Names lists the names that are known.
func Names() []string {
	likelihoods.RLock()
	defer likelihoods.RUnlock()
	return slices.Clone(likelihoods.names)
}

// Parse returns the family that a text names, NormalName if it is empty. Errors wrap cnp.ErrConfig.
func Parse(text string, o Options) (Family, error) {
	if n := len(text); n > maxLikelihood {
		return nil, fmt.Errorf("%w: likelihood has %d letters, need at most %d", failure.ErrConfig, n, maxLikelihood)
	}
	said := text // in errors
	if len(said) > 100 {
		said = said[:100] + "..."
	}
	name, arg, _ := strings.Cut(text, ":")
	if name == "" {
		name = NormalName
	}
	likelihoods.RLock()
	f := likelihoods.make[name]
	likelihoods.RUnlock()
	if f == nil {
		return nil, fmt.Errorf("%w: likelihood %q is not one of %q", failure.ErrConfig, said, Names())
	}
	l, err := f(o, arg)
	if err != nil {
		return nil, fmt.Errorf("%w: likelihood %q: %w", failure.ErrConfig, said, err)
	}
	if n, k := l.Outputs(), l.Constants(); n < 1 || n > maxOutputs || k < 0 || k >= n {
		return nil, fmt.Errorf("%w: likelihood %q has %d outputs, %d of them constants: need 1 to %d, and at least one that is none",
			failure.ErrConfig, said, n, k, maxOutputs)
	}
	return l, nil
}
