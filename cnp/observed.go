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

// keep makes value v of a prediction that of a pixel that was observed as y. buffer is that of set, which was called for the value before.
func (f *family[T]) keep(out *Prediction[T], v int, y T, buffer []float64) {
	if f.likelihood == nil {
		mean, std := observed(float64(out.Mean[v]), float64(out.Std[v]), float64(y), f.noise)
		out.Mean[v], out.Std[v] = T(mean), T(std)
		return
	}
	params := buffer[len(buffer)/2:]
	f.likelihood.(Observer).Observe(params, float64(y), f.noise)
	f.put(out, v, params)
}

// keepSeen keeps those of n values, from value v on, whose pixels were observed; y and seen are the pixels'. Under the normal likelihood, where many values are set
// at a time.
func (f *family[T]) keepSeen(out *Prediction[T], v int, y []T, seen []bool) {
	if f.noise == 0 {
		return
	}
	for i, ok := range seen {
		if ok {
			f.keep(out, v+i, y[i], nil)
		}
	}
}

// keepImage keeps the observed pixels of image b of a whole prediction.
func (f *family[T]) keepImage(out *Prediction[T], im *Images[T], b int) {
	n, buffer := im.H*im.W, f.buffer()
	for v := b * im.C * n; f.noise > 0 && v < (b+1)*im.C*n; v++ {
		if !im.Mask[b*n+v%n] {
			continue
		}
		for i := range len(buffer) / 2 {
			buffer[len(buffer)/2+i] = float64(out.Params[v*len(buffer)/2+i])
		}
		f.keep(out, v, im.Pixels[v], buffer)
	}
}
