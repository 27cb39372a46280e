package tabular

import (
	"math"
	"slices"
	"strconv"

	"github.com/equivcnp/equivcnp/internal/words"
)

// Spacing is the usual distance of the values of an input, by which it goes on behind the last.
type Spacing struct {
	by     float64
	clock  *Clock  // nil for numbers
	months int     // instead of by, from date to date
	before float64 // days from a date to the first of a month, where all dates are as far before one
	Uneven bool    // fewer than half of the distances are like it

	decimals int // of all numbers, -1 for many
}

// like is the share by which a distance may differ from the usual one and be another rounding of it.
const like = 0.05

// SpacingOf returns the usual distance of the values of some series, each of different values in their order, on a clock or, where it is
// nil, of numbers: their median, or its mean with those that are like it. Where all values are dates of the same day of a month, or of the
// last, it is one of months. Without two values in a series it is nil.
func SpacingOf(series [][]float64, clock *Clock) *Spacing {
	s := &Spacing{clock: clock}
	var distances []float64
	for _, x := range series {
		for i := 1; i < len(x); i++ {
			distances = append(distances, x[i]-x[i-1])
		}
	}
	if distances == nil {
		return nil
	}
	if s.inMonths(series) {
		return s
	}
	slices.Sort(distances)
	s.by = distances[(len(distances)-1)/2]
	total, steps, alike := 0.0, 0.0, 0
	for _, d := range distances {
		n := math.Round(d / s.by)
		if math.Abs(d-n*s.by) > like*s.by {
			continue
		}
		total, steps = total+d, steps+n
		if n == 1 {
			alike++
		}
	}
	if s.Uneven = 2*alike < len(distances); !s.Uneven {
		s.by = total / steps
	}
	s.decimals = -1
	if clock == nil {
		s.decimals = decimals(series)
	} else { // whole seconds, if that is what they are
		seconds := clock.Seconds(s.by)
		if r := math.Round(seconds); r > 0 && math.Abs(r-seconds) < 1e-3 {
			s.by = clock.Span(r / 86400)
		}
	}
	return s
}

// inMonths looks for dates that lie whole months apart.
func (s *Spacing) inMonths(series [][]float64) bool {
	if s.clock == nil {
		return false
	}
	for _, before := range []float64{0, 1} { // 1: the last days of months are those before the first
		var months []int
		day, same := math.NaN(), true
		for _, x := range series {
			last := 0
			for i, v := range x {
				days := s.clock.Days(v) + before
				if !(math.Abs(days) < MostDays) {
					return false
				}
				month, of := Month(math.Round(days*86400) / 86400)
				if day != day {
					day = of
				}
				same = same && of == day && (before == 0 || math.Floor(of) == 0)
				if i > 0 {
					months = append(months, month-last)
				}
				last = month
			}
		}
		if same {
			slices.Sort(months)
			s.months, s.before = months[(len(months)-1)/2], before
			return true
		}
	}
	return false
}

// After is the value so many steps behind another.
func (s *Spacing) After(last float64, steps int) float64 {
	if s.months > 0 {
		return s.clock.Of(AddMonths(s.clock.Days(last)+s.before, steps*s.months) - s.before)
	}
	v := last + float64(steps)*s.by
	if s.clock != nil {
		seconds := s.clock.Days(v) * 86400
		if r := math.Round(seconds); math.Abs(r-seconds) < 1e-3 {
			return s.clock.Of(r / 86400)
		}
		return v
	}
	text := strconv.FormatFloat(v, 'g', 12, 64) // 0.3, and not the sum of 0.1 and 0.2
	if s.decimals >= 0 {
		text = strconv.FormatFloat(v, 'f', s.decimals, 64)
	}
	if short, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(short-v) <= like*s.by {
		return short
	}
	return v
}

// decimals returns how many all numbers have at most, up to nine; -1 if they have more.
func decimals(series [][]float64) int {
	most := 0
	for _, x := range series {
		for _, v := range x {
			for most < 10 {
				scaled := v * math.Pow10(most)
				if math.Abs(scaled-math.Round(scaled)) < 1e-6 {
					break
				}
				most++
			}
		}
	}
	if most == 10 {
		return -1
	}
	return most
}

// String says how long a step is.
func (s *Spacing) String() string {
	switch {
	case s.months > 0 && s.months%12 == 0:
		return words.Plural(s.months/12, "year")
	case s.months > 0:
		return words.Plural(s.months, "month")
	case s.clock == nil:
		return strconv.FormatFloat(s.by, 'g', 6, 64)
	}
	v, unit := s.clock.Seconds(s.by), "second"
	for _, u := range []struct {
		name string
		of   float64
	}{{"day", 86400}, {"hour", 3600}, {"minute", 60}} {
		if v >= u.of {
			v, unit = v/u.of, u.name
			break
		}
	}
	if v != 1 {
		unit += "s"
	}
	return strconv.FormatFloat(v, 'g', 6, 64) + " " + unit
}
