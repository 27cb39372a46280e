package likelihood

import "math"

// Spread says how a raw number becomes a standard deviation: its softplus is the variance or the deviation, by Output, and
// never below Floor.
type Spread struct {
	Output Output
	Floor  float64
}

func softplus(u float64) float64 { return max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) }

// logistic returns the derivative of softplus.
func logistic(u float64) float64 {
	if u >= 0 {
		return 1 / (1 + math.Exp(-u))
	}
	e := math.Exp(u)
	return e / (1 + e)
}

// Std returns the deviation for a raw number.
func (s Spread) Std(u float64) float64 {
	v := max(softplus(u), s.Floor)
	if s.Output == OutputVariance {
		return math.Sqrt(v)
	}
	return v
}

// Least returns the least deviation.
func (s Spread) Least() float64 {
	if s.Output == OutputVariance {
		return math.Sqrt(s.Floor)
	}
	return s.Floor
}

// Slope returns the derivative of Std. Where the floor acts it is 0.
func (s Spread) Slope(u, std float64) float64 {
	if !(softplus(u) > s.Floor) {
		return 0
	}
	if s.Output == OutputVariance {
		return logistic(u) / (2 * std)
	}
	return logistic(u)
}
