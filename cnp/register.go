package cnp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/group"
)

// Maker tells the library about an architecture: whatever else a front end asks, it asks the model.
type Maker struct {
	// Image says that the models complete images; the others regress.
	Image bool
	// Grouped says that they have a group, that of the configuration.
	Grouped bool
	// Gaps says that models that regress may have Config.ChannelDensity.
	Gaps bool
	// Absolute says that predictions depend on the scale of coordinates and values: Config.Scaler then changes units alone,
	// and brings no task of another scale into the range of training.
	Absolute bool
	// Own says that the architecture reads Config.Own; of others it is refused.
	Own bool
	// Describe says in a line what a valid configuration has in place of a network; nil: a network of Channels.
	Describe func(c *Config) string
	// Default sets what Default returns besides the dimensions; nil: nothing.
	Default func(c *Config)
	// Check reports the first field that no model can be built from, beyond what Config.Validate says of any model; nil:
	// there is none. g is nil unless Grouped.
	Check func(c *Config, g group.Group) error
	// New32 and New64 build models of a configuration that is valid. g is nil unless Grouped.
	New32 func(c Config, g group.Group, seed uint64) (Model[float32], error)
	New64 func(c Config, g group.Group, seed uint64) (Model[float64], error)
}

var makers = map[Architecture]Maker{}

// RegisterArchitecture makes an architecture known: New, model files and all front ends then have it. It is for init
// functions, and panics if the name is taken, or if a constructor is missing.
func RegisterArchitecture(a Architecture, m Maker) {
	if _, taken := makers[a]; taken || a == "" || m.New32 == nil || m.New64 == nil {
		panic(fmt.Sprintf("cnp: RegisterArchitecture: %q is taken, or lacks a name or a constructor", a))
	}
	makers[a] = m
	if !slices.Contains(Architectures, a) { // those of this package have their place in the order of documentation
		Architectures = append(Architectures, a)
	}
	images[a], grouped[a], gapped[a], owners[a], checks[a] = m.Image, m.Grouped, m.Gaps, m.Own, m.Check
	absolute[a], describers[a] = m.Absolute, m.Describe
}

func init() {
	RegisterArchitecture(EquivCNPCurve, Maker{Grouped: true, Gaps: true, Default: defaultCurve, Check: (*Config).checkCurve,
		New32: withGroup[float32](newEquivCNP[float32]), New64: withGroup[float64](newEquivCNP[float64])})
	RegisterArchitecture(EquivCNPImage, Maker{Image: true, Grouped: true, Default: defaultImage, Check: (*Config).checkImage,
		New32: newImages[float32], New64: newImages[float64]})
	RegisterArchitecture(ConvCNPCurve, Maker{Gaps: true, Default: defaultConvCurve, Check: withoutGroup((*Config).checkConvolutions),
		New32: plain[float32](newConvCNP[float32]), New64: plain[float64](newConvCNP[float64])})
	RegisterArchitecture(ConvCNPImage, Maker{Image: true, Default: defaultConvImage, Check: withoutGroup((*Config).checkConvolutions),
		New32: plain[float32](newImageConvCNP[float32]), New64: plain[float64](newImageConvCNP[float64])})
	RegisterArchitecture(CNPCurve, Maker{Default: defaultCNP,
		New32: plain[float32](newCNP[float32]), New64: plain[float64](newCNP[float64])})
	RegisterArchitecture(CNPImage, Maker{Image: true, Default: defaultImageCNP,
		New32: plain[float32](newImageCNP[float32]), New64: plain[float64](newImageCNP[float64])})
}

// withGroup, plain and withoutGroup give constructors and checks the arguments that a Maker's have.
func withGroup[T Float, M Model[T]](f func(Config, group.Group, *rand.Rand) (M, error)) func(Config, group.Group,
	uint64) (Model[T], error) {
	return func(c Config, g group.Group, seed uint64) (Model[T], error) {
		return asModel[T](f(c, g, newRand(seed)))
	}
}

func plain[T Float, M Model[T]](f func(Config, *rand.Rand) M) func(Config, group.Group, uint64) (Model[T], error) {
	return func(c Config, _ group.Group, seed uint64) (Model[T], error) { return f(c, newRand(seed)), nil }
}

func withoutGroup(check func(*Config) error) func(*Config, group.Group) error {
	return func(c *Config, _ group.Group) error { return check(c) }
}

func newImages[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
	if c.Views != nil {
		return asModel[T](newImageViews[T](c, g, seed))
	}
	return asModel[T](newImageEquivCNP[T](c, g, newRand(seed)))
}

// made builds a model of a valid configuration by its maker.
func made[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
	c = c.clone()
	var m any
	var err error
	switch any(T(0)).(type) {
	case float32:
		m, err = makers[c.Architecture].New32(c, g, seed)
	case float64:
		m, err = makers[c.Architecture].New64(c, g, seed)
	}
	if err != nil {
		return nil, err
	}
	return m.(Model[T]), nil
}
