package task

import (
	"fmt"
	"math"
)

// Kernel is a stationary covariance function of the distance |x - x'|, 1 at 0.
type Kernel func(dist float64) float64

// RBF is exp(-d²/(2l²)).
func RBF(length float64) Kernel {
	return func(d float64) float64 { return math.Exp(-d * d / (2 * length * length)) }
}

// Matern12 is exp(-d/l), the Matérn kernel of smoothness 1/2: functions that are continuous and no more.
func Matern12(length float64) Kernel {
	return func(d float64) float64 { return math.Exp(-d / length) }
}

// Matern32 is the Matérn kernel of smoothness 3/2: (1 + s)·exp(-s) with s = √3·d/l.
func Matern32(length float64) Kernel {
	return func(d float64) float64 {
		s := math.Sqrt(3) * d / length
		return (1 + s) * math.Exp(-s)
	}
}

// Noise is that variance at distance 0, and nothing elsewhere.
func Noise(variance float64) Kernel {
	return func(d float64) float64 {
		if d == 0 {
			return variance
		}
		return 0
	}
}

// Matern52 is the Matérn kernel of smoothness 5/2: (1 + s + s²/3)·exp(-s) with s = √5·d/l.
func Matern52(length float64) Kernel {
	return func(d float64) float64 {
		s := math.Sqrt(5) * d / length
		return (1 + s + s*s/3) * math.Exp(-s)
	}
}

// Periodic is exp(-2·sin²(π·d/p)/l²).
func Periodic(period, length float64) Kernel {
	return func(d float64) float64 {
		s := math.Sin(math.Pi * d / period)
		return math.Exp(-2 * s * s / (length * length))
	}
}

// MeanKernel is the mean of kernels: the covariance of a sum of independent processes, scaled to 1 at 0.
func MeanKernel(kernels ...Kernel) Kernel {
	return func(d float64) float64 {
		sum := 0.0
		for _, k := range kernels {
			sum += k(d)
		}
		return sum / float64(len(kernels))
	}
}

// KernelByName returns the paper's kernels, all with length scale 1 and period 1: "rbf" (RBF), "matern" (Matern52) or
// "periodic" (Periodic).
func KernelByName(name string) (Kernel, error) {
	switch name {
	case "rbf":
		return RBF(1), nil
	case "matern":
		return Matern52(1), nil
	case "periodic":
		return Periodic(1, 1), nil
	}
	return nil, fmt.Errorf("task: kernel %q is not one of rbf, matern, periodic", name)
}
