package mappoints

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// MaxAhead is how many places a series says that follow it.
const MaxAhead = 200

// Series are the values of a table over one input, in its order.
type Series struct {
	Points  [][2]float64 `json:"points"`  // time, value
	Dates   bool         `json:"dates"`   // times are days since the beginning of 1970
	Ahead   []float64    `json:"ahead"`   // the times that follow the last point at the usual distance of rows; none of a single time
	Step    string       `json:"step"`    // that distance, "1 month"
	Columns [2]string    `json:"columns"` // by name, or number
	Notes   []string     `json:"notes"`   // how it was read, in sentences
}

// ReadSeries reads a table of text as Read does, with one input, a date or a number.
func ReadSeries(b []byte, opt Options) (*Series, error) { return readAs(b, opt, readSeries) }

// timeNames are what columns of times are called.
var timeNames = []string{"t", "time", "date", "datetime", "timestamp", "ds", "year", "month", "week", "day", "x"}

func readSeries(b []byte, opt Options) (*Series, error) {
	t, asked, err := tableOf(b, opt, "time", "value")
	if err != nil {
		return nil, err
	}
	var c tabular.Columns
	note := ""
	if asked != nil {
		c, err = t.Find(tabular.Want{X: asked[:1], Y: asked[1:], Dx: 1, Dy: 1})
	} else {
		c, note, err = chooseSeries(t)
	}
	if err != nil {
		return nil, err
	}
	return seriesOf(t, c, note)
}

// chooseSeries finds the column of times, by its name or as the first of dates or numbers, and that of values, the next one of numbers; a
// note says which they are where there are others.
func chooseSeries(t *tabular.Table) (c tabular.Columns, note string, err error) {
	if t.Cols < 2 {
		row := 0
		if t.Header != nil {
			row = -1
		}
		return c, "", t.Errorf(row, 0, "%w: need two columns, time and value, and not %d", tabular.ErrColumns, t.Cols)
	}
	time := slices.IndexFunc(t.Header, func(h string) bool { return slices.Contains(timeNames, strings.ToLower(h)) })
	var numbers []int
	for column := range t.Cols {
		if t.IsText(column) {
			if _, err := t.Coordinates(column); err == nil && time < 0 {
				time = column
			}
		} else if !empty(t, column) && (t.Header == nil || t.Header[column] != "") {
			numbers = append(numbers, column)
		}
	}
	if time < 0 && len(numbers) > 0 {
		time = numbers[0]
	}
	numbers = slices.DeleteFunc(numbers, func(column int) bool { return column == time })
	switch {
	case time < 0:
		time, numbers = 0, []int{1} // and one of them says why it is no number
	case len(numbers) == 0:
		return c, "", t.Errorf(-1, 0, "%w: no column of numbers besides that of times", tabular.ErrColumns)
	}
	c = tabular.Columns{X: []int{time}, Y: numbers[:1]}
	if t.Cols > 2 || time > numbers[0] {
		names := namesOf(t, c.X[0], c.Y[0])
		note = fmt.Sprintf("time is column %s, and the value is column %s: Columns can name others", names[0], names[1])
	}
	return c, note, nil
}

// seriesOf takes the rows that have a value, and looks ahead.
func seriesOf(t *tabular.Table, c tabular.Columns, note string) (*Series, error) {
	var clock *tabular.Clock // numbers with a unit of time stay numbers
	if t.IsText(c.X[0]) {
		var err error
		if clock, err = t.Clock(c.X[0]); err != nil {
			return nil, err
		}
	}
	s := &Series{Points: [][2]float64{}, Dates: clock != nil, Ahead: []float64{}, Columns: [2]string(namesOf(t, c.X[0], c.Y[0]))}
	var err error
	s.Notes, err = known(t, c, note, func(x []float64, y float64) { s.Points = append(s.Points, [2]float64{x[0], y}) })
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	s.ahead(clock)
	return s, nil
}

// ahead finds the times that follow, where there is a distance.
func (s *Series) ahead(clock *tabular.Clock) {
	var x []float64
	for _, p := range s.Points {
		x = append(x, p[0])
	}
	x = slices.Compact(x)
	series := [][]float64{x}
	if clock == nil && tabular.DateForm(series) != "" {
		return // a remark on the table says so
	}
	d := tabular.SpacingOf(series, clock)
	if d == nil {
		return
	}
	s.Step = d.String()
	if d.Uneven {
		s.Notes = append(s.Notes, "rows are not evenly spaced: what follows them goes by the median of their distances, "+s.Step)
	}
	for k := range MaxAhead {
		v := d.After(x[len(x)-1], k+1)
		if math.IsNaN(v - v) {
			return
		}
		s.Ahead = append(s.Ahead, v)
	}
}
