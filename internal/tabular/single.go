package tabular

import "math"

// Single measures how much float32 loses of some values.
type Single struct{ n, mean, squares, lost float64 }

// singleLoss is the largest part of the values' standard deviation that rounding to float32 may be off by. A deviation below equalLoss
// times the mean is rounding in float64: such values were meant to be equal, and are.
const (
	singleLoss = 0.05
	equalLoss  = 4e-16
)

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
func (s *Single) Loses() bool {
	equal := s.squares <= s.n*equalLoss*equalLoss*s.mean*s.mean
	return !equal && s.lost > singleLoss*singleLoss*s.squares
}

// Moments are the mean and the standard deviation of the values.
func (s *Single) Moments() (mean, std float64) { return s.mean, math.Sqrt(s.squares / s.n) }
