package tabletask

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// lastDay is the last of the year 9999, in days since the beginning of 1970. Dates have no more digits.
const lastDay = 2932896

// next makes a table of the places that follow each series at its usual distance, n of each, and says which that is. Without values a
// series goes on where the others end.
func next(n int, series [][]float64, t *table.Table, column int) (*table.Table, string, error) {
	clock, err := t.Clock(column)
	unread := err != nil // a calendar of other days than ours, whose numbers go on all the same
	for k, x := range series {
		slices.Sort(x)
		series[k] = slices.Compact(x)
	}
	last := last(series)
	if clock == nil && !unread {
		if form := tabular.DateForm(series); form != "" {
			return nil, "", settings.Errorf("{Next}: numbers such as %.0f look like dates, which no even step leads on: write them like %s",
				last, form)
		}
	}
	s := tabular.SpacingOf(series, clock)
	if s == nil {
		return nil, "", settings.Errorf("{Next}: need two different values of the input, whose distance is that of the next ones")
	}
	values := make([]float64, 0, n*len(series))
	for _, x := range series {
		from := last
		if len(x) > 0 {
			from = x[len(x)-1]
		}
		for k := range n {
			values = append(values, s.After(from, k+1))
		}
	}
	if slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v - v) }) {
		return nil, "", settings.Errorf("{Next} %d: steps of %v from %g lead beyond all numbers", n, s, last)
	}
	if clock != nil && slices.ContainsFunc(values, func(v float64) bool { return clock.Days(v) >= lastDay+1 }) {
		return nil, "", settings.Errorf("{Next} %d: steps of %v lead beyond the year 9999", n, s)
	}
	places := tabular.Of([]tabular.Column{{Name: Labels(t, []int{column}, "x", 1)[0], Values: values}})
	places.InheritDates(0, t, column)
	said := fmt.Sprintf("targets follow the last row that has a value in steps of %v, the usual distance of rows", s)
	if s.Uneven {
		said = fmt.Sprintf("rows are not evenly spaced: targets follow the last that has a value in steps of %v, "+
			"the median of their distances", s)
	}
	return places, said, nil
}

// checkNext refuses numbers of steps, and inputs, that Next cannot be for.
func checkNext(n, dx int, name string) error {
	if n < 0 || n > MaxPoints {
		return settings.Errorf("{Next} %d: need 1 to %d", n, MaxPoints)
	}
	if dx > 1 {
		return settings.Errorf("{Next}: %s has %d inputs, and only a series of one goes on: use {Grid} or {Targets}", name, dx)
	}
	return nil
}

// last is the greatest value of some series.
func last(series [][]float64) float64 {
	most := math.Inf(-1)
	for _, x := range series {
		if len(x) > 0 {
			most = max(most, x[len(x)-1])
		}
	}
	return most
}
