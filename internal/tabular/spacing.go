package tabular

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/internal/words"
)

// Spacing is the usual distance of the values of an input, by which it goes on behind the last.
type Spacing struct {
	by     float64
	clock  *Clock  // nil for numbers
	whole  float64 // of which dates lie whole multiples apart, in the unit of by; 0: of nothing
	Uneven bool    // fewer than half of the distances are like by

	months int       // instead of by, from date to date
	anchor anchor    // of a month, from which dates lie so many
	days   float64   // behind it
	week   []float64 // instead of by, days from a week's first to those of its days that occur
	dates  []float64 // instead of by, days from a month's first to those of its days that occur, see inDates

	decimals int // of all numbers, -1 for many
}

// anchor is a place in a month.
type anchor int

const (
	monthStart anchor = iota
	monthEnd
	monthMiddle
)

// in returns how many days of a month pass before the anchor, where length is how many it has.
func (a anchor) in(length float64) float64 {
	return length * [...]float64{0, 1, 0.5}[a]
}

const (
	// like is the share by which a distance may differ from the usual one and be another rounding of it.
	like = 0.05
	// likePlaces is how many units of the last decimal place a usual distance has at least where another that differs by one is like it.
	likePlaces = 5
	// monthDays is by how many days dates may differ that lie once a month: first and last working days do by as many.
	monthDays = 4
	// weekDays is the extent of dates that tells which days of a week occur.
	weekDays = 14
)

// SpacingOf returns the usual distance of the values of some series, each of different values, ascending, on a clock or, where it is nil,
// of numbers: their median, or its mean with those that are like it. Where all values are dates of the same day of a month, or nearly,
// it is one of months, of days that leave out days of a week, one of days that do, and of the same few days of each month, one of those.
// Without two values in a series it is nil.
func SpacingOf(series [][]float64, clock *Clock) *Spacing {
	s := &Spacing{clock: clock, decimals: -1}
	var distances []float64
	for _, x := range series {
		for i := 1; i < len(x); i++ {
			distances = append(distances, x[i]-x[i-1])
		}
	}
	if distances == nil {
		return nil
	}
	slices.Sort(distances)
	if s.by = distances[(len(distances)-1)/2]; clock != nil {
		s.wholes(distances)
		if s.inMonths(series, len(distances)) || s.inWeeks(series) || s.inDates(series) {
			return s
		}
	} else {
		s.decimals = decimals(series, s.by)
	}
	apart := like * s.by
	if place := math.Pow10(-s.decimals); s.decimals >= 0 && s.by > (likePlaces-0.5)*place {
		apart = max(apart, 1.01*place)
	}
	total, steps, alike, equal := 0.0, 0.0, 0, 0
	for _, d := range distances {
		n := math.Round(d / s.by)
		if math.Abs(d-n*s.by) > apart {
			continue
		}
		total, steps = total+d, steps+n
		if n == 1 {
			alike++
		}
		if clock != nil && s.seconds(d) == s.seconds(s.by) {
			equal++
		}
	}
	s.Uneven = 2*alike < len(distances)
	// Days of 23 and 25 hours are no reason to go on by another time than that of nearly all of them.
	if s.whole > 0 && s.seconds(s.whole) < 86400 && 2*equal >= len(distances) {
		return s
	}
	if !s.Uneven {
		s.by = total / steps
	}
	return s
}

// seconds is a distance in seconds.
func (s *Spacing) seconds(by float64) float64 { return math.Round(s.clock.Seconds(by)*1e3) / 1e3 }

// wholes finds of what dates lie whole multiples apart: a week, a day, an hour, a minute, a second or a thousandth.
func (s *Spacing) wholes(distances []float64) {
	for _, unit := range []float64{7 * 86400e3, 86400e3, 3600e3, 60e3, 1e3, 1} {
		if !slices.ContainsFunc(distances, func(d float64) bool {
			exact := s.clock.Seconds(d) * 1e3
			d = math.Round(exact)
			return d == 0 || math.Abs(d-exact) > 0.02 || math.Mod(d, unit) != 0
		}) {
			s.whole = s.clock.Span(unit / 86400e3)
			return
		}
	}
}

// inMonths looks for dates that lie months apart, on about the same day of each.
func (s *Spacing) inMonths(series [][]float64, distances int) bool {
	var months []int
	var behind [3][]float64
	for _, x := range series {
		last := 0
		for i, v := range x {
			days := math.Round(s.clock.Days(v)*86400) / 86400
			if !(math.Abs(days) < MostDays) {
				return false
			}
			month, passed := Month(days)
			if i > 0 {
				months = append(months, month-last)
			}
			last = month
			length := AddMonths(days-passed, 1) - (days - passed)
			for a := range behind {
				behind[a] = append(behind[a], math.Round((passed-anchor(a).in(length))*86400)/86400)
			}
		}
	}
	slices.Sort(months)
	if months[0] < 1 {
		return false
	}
	least := math.Inf(1)
	for a, v := range behind {
		slices.Sort(v)
		middle, sum := v[(len(v)-1)/2], 0.0
		for _, d := range v {
			sum += math.Abs(d - middle)
		}
		side := anchor(a) == monthStart || anchor(a) == monthEnd && middle >= -7
		about := side && distances > 2 && v[len(v)-1]-v[0] <= monthDays && !s.even(series)
		if sum < least && (sum == 0 || about) {
			least, s.anchor, s.days = sum, anchor(a), middle
		}
	}
	if least < math.Inf(1) {
		s.months = months[(len(months)-1)/2]
	}
	return s.months > 0
}

// even reports whether all dates lie whole multiples of the usual distance apart, as every fourth week does.
func (s *Spacing) even(series [][]float64) bool {
	for _, x := range series {
		for i := 1; i < len(x); i++ {
			if math.Mod(s.seconds(x[i]-x[i-1]), s.seconds(s.by)) != 0 {
				return false
			}
		}
	}
	return true
}

// inWeeks looks for days of a week that never occur in series of days.
func (s *Spacing) inWeeks(series [][]float64) bool {
	if s.seconds(s.by) != 86400 || s.seconds(s.whole) != 86400 {
		return false
	}
	var occurs [7]bool
	extent, first := 0.0, math.NaN()
	for _, x := range series {
		for _, v := range x {
			if first != first {
				first = v
			}
			day := int(math.Round(s.seconds(v-first)/86400)) % 7
			occurs[(day+7)%7] = true
		}
		if len(x) > 0 {
			extent = max(extent, s.seconds(x[len(x)-1]-x[0])/86400)
		}
	}
	if extent < weekDays {
		return false
	}
	monday := math.Floor(s.clock.Days(first))
	monday -= math.Mod(math.Mod(monday+3, 7)+7, 7) // the beginning of 1970 was a Thursday
	from := math.Round(math.Floor(s.clock.Days(first)) - monday)
	for d := range 7 {
		if occurs[(d+7-int(from))%7] {
			s.week = append(s.week, float64(d))
		}
	}
	if len(s.week) == 7 {
		s.week = nil
	}
	return s.week != nil
}

// After is the value so many steps behind another.
func (s *Spacing) After(last float64, steps int) float64 {
	switch {
	case s.months > 0:
		return s.afterMonths(s.clock.Days(last), steps)
	case s.week != nil:
		return s.afterDays(s.clock.Days(last), steps)
	case s.dates != nil:
		return s.afterDates(s.clock.Days(last), steps)
	}
	by := float64(steps) * s.by
	if s.clock != nil {
		if s.whole > 0 {
			by = math.Round(by/s.whole) * s.whole
		}
		v := last + by
		seconds := s.clock.Days(v) * 86400
		if r := math.Round(seconds); math.Abs(r-seconds) < 1e-3 {
			return s.clock.Of(r / 86400)
		}
		return v
	}
	v := last + by
	text := strconv.FormatFloat(v, 'g', 12, 64) // 0.3, and not the sum of 0.1 and 0.2
	if s.decimals >= 0 {
		text = strconv.FormatFloat(v, 'f', s.decimals, 64)
	}
	if short, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(short-v) <= max(like*s.by, 0.51*math.Pow10(-s.decimals)) {
		return short
	}
	return v
}

// Season is how many steps dates usually take to a season's return: to the same month or quarter of a year, day of a week, or time of a
// day; 0 where a step does not say.
func (s *Spacing) Season() int {
	switch {
	case s.months > 0 && s.months < 12 && 12%s.months == 0:
		return 12 / s.months
	case s.week != nil:
		return len(s.week)
	case s.dates != nil:
		return 12 * len(s.dates)
	case s.months > 0 || s.clock == nil:
		return 0
	}
	for _, whole := range []float64{86400, 7 * 86400} {
		if n := math.Round(whole / s.seconds(s.by)); n > 1 && n < 1500 && n*s.seconds(s.by) == whole {
			return int(n)
		}
	}
	return 0
}

// Steps is how many steps a length has, in the unit of the values.
func (s *Spacing) Steps(length float64) float64 {
	if s.months > 0 {
		return s.clock.Seconds(length) / 86400 / (meanMonth * float64(s.months))
	}
	if s.dates != nil {
		return s.clock.Seconds(length) / 86400 * float64(len(s.dates)) / meanMonth
	}
	steps := length / s.by
	if s.week != nil {
		steps *= float64(len(s.week)) / 7
	}
	return steps
}

// afterMonths is After of months, in days since the beginning of 1970.
func (s *Spacing) afterMonths(last float64, steps int) float64 {
	_, passed := Month(math.Round(last*86400) / 86400)
	first := AddMonths(math.Round((last-passed)*86400)/86400, steps*s.months)
	length := AddMonths(first, 1) - first
	days := s.anchor.in(length) + s.days
	if days >= length { // a month without that day
		days = length - 1 + (days - math.Floor(days))
	}
	return s.clock.Of(math.Round((first+days)*86400) / 86400)
}

// afterDays is After of days of a week, in days since the beginning of 1970.
func (s *Spacing) afterDays(last float64, steps int) float64 {
	day := math.Floor(last)
	monday := day - math.Mod(math.Mod(day+3, 7)+7, 7)
	at := slices.Index(s.week, math.Round(day-monday)) + steps
	days := monday + float64(at/len(s.week)*7) + s.week[at%len(s.week)] + (last - day)
	return s.clock.Of(math.Round(days*86400) / 86400)
}

// DateForm returns how the numbers of some series, each ascending, would be written as dates if they are some, such as 202212 or 20221231,
// which no distance of numbers leads beyond their month or year; "" where they are none.
func DateForm(series [][]float64) string {
	for _, form := range []struct{ layout, like string }{{"200601", "2022-12"}, {"20060102", "2022-12-31"},
		{"2006010215", "2022-12-31 18:00"}, {"200601021504", "2022-12-31 18:30"}, {"20060102150405", "2022-12-31 18:30:00"}} {
		all, jumps := true, false
		for _, x := range series {
			for i, v := range x {
				text := strconv.FormatFloat(v, 'f', 0, 64)
				_, err := time.Parse(form.layout, text)
				all = all && err == nil && len(text) == len(form.layout) && (text[0] == '1' || text[0] == '2')
				jumps = jumps || i > 0 && int(v)/100 != int(x[i-1])/100 || len(form.layout) > 8
			}
		}
		if all && jumps {
			return form.like
		}
	}
	return ""
}

// decimals returns how many all numbers have at most, up to nine; -1 if they have more. What numbers that lie so far apart differ by is
// none of rounding.
func decimals(series [][]float64, apart float64) int {
	most := 0
	for _, x := range series {
		for _, v := range x {
			for most < 10 {
				scaled := v * math.Pow10(most)
				if math.Abs(scaled-math.Round(scaled)) < 1e-6*min(1, apart*math.Pow10(most)) {
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
	case s.week != nil:
		var names []string
		for d := range 7 {
			if !slices.Contains(s.week, float64(d)) {
				names = append(names, time.Weekday((d+1)%7).String()+"s")
			}
		}
		return "1 day without " + strings.Join(names, " and ")
	case s.dates != nil:
		var days []string
		for _, d := range s.dates {
			if d == lastDate {
				days = append(days, "the last")
				continue
			}
			days = append(days, strconv.Itoa(int(d)+1))
		}
		return "days " + strings.Join(days[:len(days)-1], ", ") + " and " + days[len(days)-1] + " of each month"
	case s.clock == nil:
		return strconv.FormatFloat(s.by, 'g', 6, 64)
	}
	v, unit := s.clock.Seconds(s.by), "second"
	if r := s.seconds(s.by); r > 0 {
		v = r
	}
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
