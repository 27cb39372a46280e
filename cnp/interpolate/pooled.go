package interpolate

import (
	"fmt"
	"slices"
)

// pooledLeast is how many rows a table needs for several series in it to be told from values that were taken twice, and pooledMost how
// many rows are looked at, at most.
const (
	pooledLeast = 6
	pooledMost  = 1 << 20
)

// pooled says that the rows may be those of several series, which one column that is not read tells apart: at least half of the rows have
// their input in common with another, and none of these has the same cell there. It is "" where nothing points to it.
func (in *Interpolation) pooled() string {
	if in.Dx != 1 || in.Observed.TaskColumn >= 0 || in.Points.Rows() > pooledMost {
		return ""
	}
	var rows []int
	count := map[float64]int{}
	for row := range in.Points.Rows() {
		if in.Observed.Known(row) > 0 {
			rows = append(rows, row)
			count[in.Observed.X[row]]++
		}
	}
	shared := 0
	for _, n := range count {
		if n > 1 {
			shared += n
		}
	}
	if len(rows) < pooledLeast || 2*shared < len(rows) {
		return ""
	}
	columns := in.Observed.Columns
	extra := in.Points.Extra(columns)
	for k, name := range in.Points.Header {
		if slices.Contains(columns.Rest, k) && slices.Contains(extra, name) && in.tellsApart(k, rows) {
			return fmt.Sprintf("several rows of %s have the same %s, and column %s tells them apart: if that is one series each, predict "+
				"--task %s forecasts each on its own, and regress --backtest takes --task, too", in.Points.Name,
				in.Points.Header[columns.X[0]], name, name)
		}
	}
	return ""
}

// tellsApart reports whether rows of one input differ in a column that has few values.
func (in *Interpolation) tellsApart(column int, rows []int) bool {
	type place struct {
		x    float64
		cell string
	}
	seen, cells := map[place]bool{}, map[string]bool{}
	for _, row := range rows {
		p := place{in.Observed.X[row], in.Points.Cell(row, column)}
		if seen[p] || p.cell == "" {
			return false
		}
		seen[p], cells[p.cell] = true, true
		if 2*len(cells) > len(rows) {
			return false
		}
	}
	return len(cells) > 1
}
