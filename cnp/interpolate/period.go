package interpolate

import (
	"math"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

// A Period is the length of a season, in the unit of the input or, if Time is set, in days, as in 1y, 7d or 12h.
type Period struct {
	Length float64
	Time   bool
}

// ParsePeriods reads periods in the input's unit, or as times such as 1y, 7d or 12h: years, weeks, days, hours, minutes and
// seconds become days.
func ParsePeriods(texts []string) (out []Period, err error) {
	days := map[string]float64{"y": 365.2425, "w": 7, "d": 1, "h": 1. / 24, "m": 1. / 1440, "s": 1. / 86400, "": 1}
	for _, text := range texts {
		number := strings.TrimRight(text, "ywdhms")
		v, err := strconv.ParseFloat(number, 64)
		unit, ok := days[text[len(number):]]
		if err != nil || !ok || !(v > 0) || math.IsInf(v, 0) {
			return nil, settings.Errorf("{Period} %q: need a positive number, or a time such as 1y, 7d or 12h", text)
		}
		out = append(out, Period{v * unit, number != text})
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
