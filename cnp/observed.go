package cnp

import (
	"errors"
	"fmt"
	"math"
)

// Observer is a Likelihood that can be told that the value was observed, with a noise; see Config.KeepObserved.
type Observer interface {
	Likelihood
	// Observe makes the parameters of a value those of the same value after it was observed as y, with a noise of that standard deviation.
	Observe(params []float64, y, noise float64)
}

// validateKeep reports why observed pixels cannot be kept.
func (c *Config) validateKeep() error {
	if !c.KeepObserved {
		return nil
	}
	l, err := ParseLikelihood(c)
	if err != nil {
		return err
	}
	_, observer := l.(Observer)
	switch {
	case c.Architecture != EquivCNPImage && c.Architecture != ConvCNPImage:
		return fmt.Errorf("it is for models of architecture %q and %q, this is %s", EquivCNPImage, ConvCNPImage, c.Architecture)
	case c.Views != nil:
		return errors.New("a model with views keeps observed pixels without it")
	case !observer:
		return fmt.Errorf("likelihood %q cannot be told of an observation", c.Likelihood)
	case c.Floor == 0:
		return errors.New("floor = 0: need more, which is the noise that pixels are observed with")
	}
	return nil
}

// KeepObserved is a model with the parameters of m that keeps observed pixels, as Config.KeepObserved says, or no longer does.
func KeepObserved[T Float](m Model[T], keep bool) (Model[T], error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no model", ErrConfig)
	}
	c := m.Config()
	c.KeepObserved = keep
	out, err := remade(m, c)
	if err != nil {
		return nil, err
	}
	copyByName(out, m)
	return out, nil
}

// observed is what a normal value is after it was observed as y with a noise.
func observed(mean, std, y, noise float64) (float64, float64) {
	gain := std * std / (std*std + noise*noise)
	return mean + gain*(y-mean), noise * math.Sqrt(gain)
}
