package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Sampler writes the values of a fresh random function to dst. It is not safe for concurrent use.
type Sampler func(dst []float64, rng *rand.Rand) error

// Process is a random function of one coordinate.
type Process interface {
	// At returns what draws functions' values at x; every call of the sampler draws another function.
	At(x []float64) Sampler
}

// At implements Process. The covariance is factorised at the sampler's first call and kept.
func (g GP) At(x []float64) Sampler {
	var l *mat.TriDense
	return func(dst []float64, rng *rand.Rand) error {
		if l == nil && len(x) > 0 {
			chol, err := g.factor(x)
			if err != nil {
				return err
			}
			l = new(mat.TriDense)
			chol.LTo(l)
		}
		sample(dst, l, rng)
		return nil
	}
}

// Mixture draws each function from one of its processes, all equally likely.
type Mixture []Process

// At implements Process.
func (m Mixture) At(x []float64) Sampler {
	samplers := make([]Sampler, len(m))
	for i, p := range m {
		samplers[i] = p.At(x)
	}
	return func(dst []float64, rng *rand.Rand) error {
		if len(m) == 0 {
			return fmt.Errorf("task: a mixture of no processes")
		}
		return samplers[rng.IntN(len(m))](dst, rng)
	}
}

// Sawtooth draws waves that rise or fall, both equally likely, linearly from -1/2 to 1/2 and jump back, with a uniform phase and
// a frequency uniform between the two. They are not a Gaussian process: their jumps can only be predicted from the period. After
// the sawtooth task of Gordon et al., Convolutional Conditional Neural Processes (2020), whose waves are truncated Fourier series
// of this one.
type Sawtooth struct {
	MinFrequency, MaxFrequency float64
}

// At implements Process.
func (s Sawtooth) At(x []float64) Sampler {
	return func(dst []float64, rng *rand.Rand) error {
		f := s.MinFrequency + (s.MaxFrequency-s.MinFrequency)*rng.Float64()
		phase := rng.Float64()
		if rng.IntN(2) == 1 {
			f = -f
		}
		for i, v := range x {
			t := float64(f*v) + phase
			dst[i] = t - math.Floor(t) - 0.5
		}
		return nil
	}
}

// The frequencies of Gordon et al.'s sawtooth.
const minFrequency, maxFrequency = 3, 5

// ProcessByName is ParseProcess with lengths of 1.
func ProcessByName(expr string) (Process, error) { return ParseProcess(expr, 1) }

// ParseProcess returns the process that a name or an expression of names stands for. Lengths that it does not say are length:
//
//   - "rbf", "matern" and "periodic" are Gaussian processes with the kernels of KernelByName and the authors' jitter,
//     "sawtooth" waves with frequencies of 3 to 5.
//   - "rbf+periodic" is the Gaussian process whose kernel is the mean of those kernels, so that its variance is still 1.
//   - "rbf,matern,sawtooth" draws every function from one of those, all equally likely.
//   - "gp:2*rbf(0.5)+periodic(1,0.7)" is the Gaussian process of a kernel of one's own; see ParseKernel.
func ParseProcess(expr string, length float64) (Process, error) {
	if !(length > 0 && length <= 1e9) {
		return nil, fmt.Errorf("task: length = %g, need a positive number", length)
	}
	var m Mixture
	for _, part := range outsideBrackets(expr, ',') {
		if part = strings.TrimSpace(part); part == "sawtooth" {
			m = append(m, Sawtooth{minFrequency, maxFrequency})
			continue
		}
		if own, ok := strings.CutPrefix(part, "gp:"); ok {
			k, err := ParseKernel(own, length)
			if err != nil {
				return nil, err
			}
			m = append(m, GP{k, DefaultJitter})
			continue
		}
		var kernels []Kernel
		for _, name := range strings.Split(part, "+") {
			name = strings.TrimSpace(name)
			k, err := ParseKernel(name, length)
			if _, ok := kernelNames[name]; !ok || err != nil || name == "noise" {
				return nil, fmt.Errorf("task: process %q: %q is not one of rbf, matern, periodic, sawtooth, sums like rbf+periodic, "+
					"mixtures like rbf,sawtooth, or a kernel of your own like gp:2*rbf(0.5)+periodic(1,0.7)", clip(expr), clip(name))
			}
			kernels = append(kernels, k)
		}
		k := kernels[0]
		if len(kernels) > 1 {
			k = MeanKernel(kernels...)
		}
		m = append(m, GP{k, DefaultJitter})
	}
	if len(m) == 1 {
		return m[0], nil
	}
	return m, nil
}

// outsideBrackets splits a text where the separator stands in no brackets.
func outsideBrackets(s string, separator byte) (parts []string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case separator:
			if depth == 0 {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, s[from:])
}

// clip keeps error messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
