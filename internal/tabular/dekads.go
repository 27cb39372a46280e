package tabular

import (
	"math"
	"slices"
)

const (
	// mostDates is how many days of a month may occur, as in pentads.
	mostDates = 6
	// lastDate stands for the last day of a month, however long it is.
	lastDate = 31
	// meanMonth is a month's length in days.
	meanMonth = 365.2425 / 12
)

// dayOfMonth returns the beginning of a day's month, in days since that of 1970, and which of its days it is, from 0, or lastDate.
func dayOfMonth(days float64) (first, date float64) {
	_, passed := Month(days)
	first, date = math.Round(days-passed), math.Floor(passed)
	if date == AddMonths(first, 1)-first-1 {
		date = lastDate
	}
	return first, date
}

// inDates looks for days of the month on which all dates lie, several in each: the 1st and 15th, the 15th and the last, dekads, pentads.
func (s *Spacing) inDates(series [][]float64) bool {
	if whole := s.seconds(s.whole); whole == 0 || math.Mod(whole, 86400) != 0 || s.even(series) {
		return false
	}
	count := map[float64]int{}
	for _, x := range series {
		for _, v := range x {
			days := math.Round(s.clock.Days(v)*86400) / 86400
			if !(math.Abs(days) < MostDays) {
				return false
			}
			_, date := dayOfMonth(days)
			if count[date]++; len(count) > mostDates {
				return false
			}
		}
	}
	var dates []float64
	for date, n := range count {
		if n < 2 {
			return false
		}
		dates = append(dates, date)
	}
	if len(dates) < 2 || s.seconds(s.by)/86400 > 1.5*meanMonth/float64(len(dates)) {
		return false
	}
	slices.Sort(dates)
	s.dates = dates
	return true
}

// afterDates is After of days of a month, in days since the beginning of 1970.
func (s *Spacing) afterDates(last float64, steps int) float64 {
	last = math.Round(last*86400) / 86400
	first, date := dayOfMonth(last)
	at := max(0, slices.Index(s.dates, date)) + steps
	first = AddMonths(first, at/len(s.dates))
	day := min(s.dates[at%len(s.dates)], AddMonths(first, 1)-first-1)
	return s.clock.Of(math.Round((first+day+last-math.Floor(last))*86400) / 86400)
}
