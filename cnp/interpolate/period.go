package interpolate

import (
	"math"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// A Period is the length of a season, in the unit of the input or, if Time is set, in days, as in 1y, 7d or 12h.
type Period struct {
	Length float64
	Time   bool
}

// ParsePeriods reads periods in the input's unit, or as times such as 1y, 3mo, 7d or 12h: years, months, weeks, days, hours, minutes
// and seconds become days.
func ParsePeriods(texts []string) (out []Period, err error) {
	const month = 365.2425 / 12
	for _, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		months, days, timed := tabular.ParseDuration(text)
		if timed {
			v, err = months*month+days, nil
		}
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, settings.Errorf("{Period} %q: need a positive number, or a time such as 1y, 7d or 12h", text)
		}
		out = append(out, Period{v, timed})
	}
	return out, nil
}

// periods brings periods into the unit of the input.
func (in *Interpolation) periods(all []Period) (out []float64, err error) {
	if len(all) > 0 && in.Dx != 1 {
		return nil, settings.Errorf("{Period}: seasons are of tables with one input, and %s has %d", in.Points.Name, in.Dx)
	}
	for _, p := range all {
		if p.Time {
			clock, err := in.Points.Clock(in.Observed.Columns.X[0])
			if err != nil {
				return nil, err
			}
			if clock == nil {
				return nil, settings.Errorf("{Period}: the input of %s holds numbers without a unit of time: give a number in its unit, "+
					"instead of years, days or hours", in.Points.Name)
			}
			p.Length = clock.Span(p.Length)
		}
		out = append(out, p.Length)
	}
	return out, nil
}

// calendar returns a year, a week and a day in the unit of an input of times, none of another. A season of the calendar need not be found:
// where a year has two peaks, half a year would be. Times of a calendar that is not read, whose years have other lengths, are numbers.
func (in *Interpolation) calendar() []float64 {
	if in.Dx != 1 || in.Points.Cols == 0 {
		return nil
	}
	clock, err := in.Points.Clock(in.Observed.Columns.X[0])
	if clock == nil || err != nil {
		return nil
	}
	periods := krige.CalendarDays()
	for i, days := range periods {
		periods[i] = clock.Span(days)
	}
	return periods
}
