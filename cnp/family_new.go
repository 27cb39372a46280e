package cnp

import (
	"github.com/equivcnp/equivcnp/cnp/internal/stdlink"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// newFamily returns that of a valid configuration. Constants begin at 0.
func newFamily[T Float](c Config) family[T] {
	l, err := ParseLikelihood(&c)
	if err != nil {
		panic("cnp: a configuration that was valid is not: " + err.Error())
	}
	f := family[T]{likelihood: l, link: linkOf[T](&c, l), dy: c.DimY, constants: make([]T, c.DimY*l.Constants()), waves: wavesOf(&c, l)}
	if c.KeepObserved {
		f.noise = spreadOf(&c).Least()
	}
	f.together, _ = l.(TargetLikelihood)
	for _, field := range c.Fields() {
		for range field.Width {
			f.first = append(f.first, field.First)
		}
	}
	return f
}

// linkOf returns that of a configuration's likelihood.
func linkOf[T Float](c *Config, l Likelihood) link[T] {
	spread, ok := likelihood.NormalSpread(l)
	if !ok {
		return valueLink[T]{}
	}
	if c.Architecture == CNPCurve || c.Architecture == CNPImage {
		return normalLink[T]{stdlink.Shifted[T]{Spread: spread}}
	}
	return normalLink[T]{stdlink.Clamped[T]{Spread: spread}}
}
