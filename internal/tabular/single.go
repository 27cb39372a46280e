package tabular

import "math"

// Single measures how much float32 loses of some values.
type Single struct{ n, mean, squares, lost float64 }

// singleLoss is the largest part of the values' standard deviation that rounding to float32 may be off by.
const singleLoss = 0.05

// Add adds a value. One that is missing or beyond float32 does not count.
func (s *Single) Add(v float64) {
	lost := v - float64(float32(v))
	if math.IsNaN(lost) || math.IsInf(lost, 0) {
		return
	}
	s.n++
	d := v - s.mean
	s.mean += d / s.n
	s.squares += d * (v - s.mean)
	s.lost += lost * lost
}

// Loses reports whether the values differ by hardly more than float32 tells apart. Equal values stay equal.
func (s *Single) Loses() bool { return s.squares > 0 && s.lost > singleLoss*singleLoss*s.squares }

// Moments are the mean and the standard deviation of the values.
func (s *Single) Moments() (mean, std float64) { return s.mean, math.Sqrt(s.squares / s.n) }
