package picture

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// dateTicks are the ticks of an axis of times: whole seconds, minutes, hours, days, weeks that begin on Monday, months or
// years.
type dateTicks struct {
	days func(x float64) float64 // x as days since the beginning of 1970
}

// mostDates is how many ticks an axis of times has at most, but for one.
const mostDates = 8

// dateStep is a distance of ticks, in seconds or in months.
type dateStep struct {
	seconds float64
	months  int
	from    float64 // seconds since 1970 at which steps begin
	layout  string
	yearly  bool // ticks say their year
}

// steps are the distances of ticks from the shortest on, up to thousands of years.
func steps() (all []dateStep) {
	for _, unit := range []struct {
		seconds float64
		layout  string
		counts  []float64
	}{
		{1, "15:04:05", []float64{1, 2, 5, 10, 15, 30}}, {60, "15:04", []float64{1, 2, 5, 10, 15, 30}},
		{3600, "2 Jan 15:04", []float64{1, 2, 3, 6, 12}},
	} {
		for _, n := range unit.counts {
			all = append(all, dateStep{seconds: n * unit.seconds, layout: unit.layout})
		}
	}
	const day, monday = 86400, 4 * 86400
	for _, n := range []float64{1, 2, 7, 14} {
		all = append(all, dateStep{seconds: n * day, from: monday, layout: time.DateOnly, yearly: true})
	}
	for _, n := range []int{1, 2, 3, 6} {
		all = append(all, dateStep{months: n, layout: "2006-01", yearly: true})
	}
	for decade := 1; decade <= 1000; decade *= 10 {
		for _, n := range []int{1, 2, 5} {
			all = append(all, dateStep{months: 12 * n * decade, layout: "2006", yearly: true})
		}
	}
	return all
}

// times are the ticks of a step between two times.
func (s *dateStep) times(lo, hi float64) (out []time.Time) {
	if s.months == 0 {
		for k := math.Ceil((lo - s.from) / s.seconds); s.from+k*s.seconds <= hi && len(out) <= mostDates; k++ {
			out = append(out, time.Unix(int64(s.from+k*s.seconds), 0).UTC())
		}
		return out
	}
	first := time.Unix(int64(math.Floor(lo)), 0).UTC()
	month := 12*first.Year() + int(first.Month()) - 1
	month -= (month%s.months + s.months) % s.months
	for ; len(out) <= mostDates; month += s.months {
		// Month 1 + m of year 0 is whatever month that is.
		t := time.Date(0, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC)
		if float64(t.Unix()) > hi {
			break
		}
		if float64(t.Unix()) >= lo {
			out = append(out, t)
		}
	}
	return out
}

// choose returns the ends of an axis in seconds since 1970, its step and the ticks; nil where they are no times that have some.
func (d dateTicks) choose(lo, hi float64) (from, to float64, step dateStep, times []time.Time) {
	from, to = d.days(lo)*86400, d.days(hi)*86400
	const last = 2e11 // some six thousand years from 1970 to either side
	if !(to-from > 2) || !(math.Abs(from) < last && math.Abs(to) < last) {
		return from, to, step, nil
	}
	for _, s := range steps() {
		if times := s.times(from, to); len(times) <= mostDates && len(times) >= 2 {
			return from, to, s, times
		}
	}
	return from, to, step, nil
}

// Ticks returns the ticks of an axis, the usual ones where its ends are no times that have some.
func (d dateTicks) Ticks(lo, hi float64) []plot.Tick {
	from, to, s, times := d.choose(lo, hi)
	if times == nil {
		return steadyTicks{}.Ticks(lo, hi)
	}
	var ticks []plot.Tick
	for _, t := range times {
		share := (float64(t.Unix()) - from) / (to - from)
		ticks = append(ticks, plot.Tick{Value: lo + share*(hi-lo), Label: t.Format(s.layout)})
	}
	return ticks
}

// named returns what stands below an axis of times: its name, and the day or the year where the ticks do not say it.
func (d dateTicks) named(name string, lo, hi float64) string {
	from, _, s, times := d.choose(lo, hi)
	switch t := time.Unix(int64(from), 0).UTC(); {
	case times == nil || s.yearly:
		return name
	case s.seconds < 3600:
		return name + ", from " + t.Format(time.DateOnly)
	default:
		return name + ", " + t.Format("2006")
	}
}
