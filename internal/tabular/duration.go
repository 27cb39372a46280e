package tabular

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// shortUnits are units of durations beside timeUnits, in seconds.
var shortUnits = map[string]float64{"w": 604800, "m": 60}

// monthUnits are units of durations in months, whose days differ.
var monthUnits = map[string]float64{"mo": 1, "month": 1, "y": 12, "yr": 12, "year": 12}

// ParseDuration reads a number and a unit of time, such as 1y, 3mo, 7d, 12h or 30 min, as months or as days; m are minutes.
func ParseDuration(text string) (months, days float64, ok bool) {
	text = strings.TrimSpace(text)
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(number):]
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || unit == "" || math.IsNaN(v-v) {
		return 0, 0, false
	}
	for _, name := range []string{unit, strings.TrimSuffix(unit, "s")} {
		if n, found := monthUnits[name]; found {
			return v * n, 0, true
		}
		for _, units := range []map[string]float64{shortUnits, timeUnits} {
			if seconds, found := units[name]; found {
				return 0, v * seconds / 86400, true
			}
		}
	}
	return 0, 0, false
}

// MostDays bounds the days since the beginning of 1970, before and after, of years that AddMonths takes.
const MostDays = 3e6

// Month returns the month of a number of days since the beginning of 1970, counted from the year 0, and how many days of it have passed.
func Month(days float64) (month int, passed float64) {
	whole := math.Floor(days)
	d := time.Unix(int64(whole)*86400, 0).UTC()
	return d.Year()*12 + int(d.Month()), float64(d.Day()-1) + (days - whole)
}

// AddMonths returns the time so many months after a number of days since the beginning of 1970, on the same day of the month or, in
// a month without it, on its last.
func AddMonths(days float64, months int) float64 {
	whole := math.Floor(days)
	d := time.Unix(int64(whole)*86400, 0).UTC()
	first := time.Date(d.Year(), d.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return float64(first.Unix()/86400+int64(min(d.Day(), last)-1)) + (days - whole)
}
