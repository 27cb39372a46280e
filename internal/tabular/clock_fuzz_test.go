package tabular

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzClock reads units of time, calendars and dates. What is read counts without end: a time on a clock is the same after a way there
// and back, and a date is a finite number of days.
func FuzzClock(f *testing.F) {
	for _, s := range [][3]string{{UnixDays, "", "1970-01-01"},
		{"hours since 2000-01-01 00:00:00 +02:00", "gregorian", "2001-02-03T04:05:06.5Z"},
		{"Seconds since 1-1-1 24", "standard", "1582-10-15"}, {"us since 9999-12-31 23:59:60.999", "proleptic_gregorian", "20240229"},
		{"months since 1900-01-01", "noleap", "1900-02-29"}, {"d since -001-1-1", "", "0000-00-00"},
		{UnixDays, "", "8/17/2016, 12:05:07.5 p. m."}, {UnixDays, "", "17-Aug-2016 3\u202fAM +02:00"}, {UnixDays, "", "2016/8/7 00:30 PM"},
		{UnixDays, "", "Mon, 1er août 2024"}, {UnixDays, "", "9999-W52-7"}, {UnixDays, "", "0001W01"}, {UnixDays, "", "Q3 2024"},
		{UnixDays, "", "20240131T134530,5Z"},
		{" min since 1582-10-4", "julian", "12:30"},
		{"weeks since 1900-2-29 1:2:3 -12345", "", "2020-01-01 00:00:00+14:00"}} {
		f.Add(s[0], s[1], s[2], 1.5)
	}
	f.Fuzz(func(t *testing.T, unit, calendar, date string, v float64) {
		days, ok := Days(date)
		require.False(t, ok && (math.IsNaN(days) || math.Abs(days) > 4e6), "%q is %v days", date, days)
		if d, other := readDate(date); other {
			for _, order := range []string{DayFirst, MonthFirst} {
				if text, is := d.iso(order); is {
					days, ok := Days(text)
					require.True(t, ok && math.Abs(days) < 4e6, "%q is %q", date, text)
				}
			}
		}
		c, err := ParseClock(unit, calendar)
		if err != nil {
			require.ErrorIs(t, err, ErrCell)
			require.Nil(t, c)
			return
		}
		if c == nil {
			return
		}
		if ok {
			v, err := c.At(days)
			if err != nil {
				require.ErrorIs(t, err, ErrCell)
			} else {
				require.InDelta(t, days, c.Days(v), 1e-9*(1+math.Abs(days)), "%q of %q", date, unit)
			}
		}
		if math.Abs(v) < 1e9 {
			there := c.Days(v)
			require.InDelta(t, v, c.Of(there), 1e-6*(1+math.Abs(v)+1e13/c.seconds*1e-9), "%q", unit)
		}
	})
}
