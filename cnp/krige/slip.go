package krige

import "math"

const (
	// slipGain is how many nats the values must say for more slips than the rule of succession has.
	slipGain = 1.0
	// slipTables is the share of tables that are taken to have slips. With all of them, smooth values without noise would lose 0.4 nats
	// each (joint-gp of docs/benchmarks.md), with a tenth 0.06, and what has slips is still predicted without nonsense.
	slipTables = 0.1
)

// slip is the variance that predictions have besides the processes', over that of the values: some values are unlike what the others say,
// as those on the other side of a jump, and n values cannot promise a thousandth of their spread to the next one.
//
// Where k values were predicted well, the next one is not with a probability of slipTables/(k+1)(k+2): tables that may have such
// values lose against those that have none with every value, and the rule of succession says how often they have them. What n values
// test are those that are left of the trend, d slopes and a level, of as many lengths, and of the noise: k = n-2d-2. More slips than
// that there are where they make the values likelier, which were predicted from the others, with squared errors e2 and these
// variances. A slip is of the size of the values' deviation: larger errors are outliers, which say nothing of it.
func slip(e2, variance []float64, n, d int) float64 {
	k := float64(max(0, n-2*d-2))
	least := slipTables / ((k + 1) * (k + 2))
	density := func(s float64) (sum float64) {
		for i, e := range e2 {
			v := variance[i] + s*max(0, 1-variance[i])
			sum -= 0.5 * (min(e, 1)/v + math.Log(v))
		}
		return sum
	}
	best, most := least, density(least)+slipGain
	for s := 1.5 * least; s < 1; s *= 1.5 {
		if d := density(s); d > most {
			best, most = s, d
		}
	}
	return best
}

// fewDeviation is the least deviation of a new value where two or three values are known, of deviation sd.
//
// With a prior of 1/s for the deviation s of all values, n of them leave s a tail of s^-n. From four values on the expected variance is
// finite. Two or three values that happen to be alike say little, and a limit for s has to come from elsewhere: their own magnitude is the
// only number that there is. For this reason these tables alone have an origin.
func fewDeviation(n int, sd, magnitude float64) float64 {
	if sd >= magnitude {
		return 0
	}
	switch n {
	case 2: // s^2 over the density s^-2 exp(-sd^2/s^2) up to the magnitude, and 3/2 for the mean
		return math.Sqrt(1.5*2/math.Sqrt(math.Pi)) * math.Sqrt(sd) * math.Sqrt(magnitude)
	case 3: // the leading term of s^2 over s^-3 exp(-3sd^2/2s^2), and 4/3 for the mean
		return math.Sqrt(4./3*3*(math.Log(magnitude)-math.Log(sd))) * sd
	}
	return 0
}

// equalDeviation is the deviation of a new value where n values are equal: of two or more, by the rule of succession, one in 2n+2 differs
// by their magnitude.
func equalDeviation(n int, magnitude float64) float64 {
	if n == 1 {
		return magnitude
	}
	return magnitude / math.Sqrt(float64(2*n+2))
}
