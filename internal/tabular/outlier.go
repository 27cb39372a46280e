package tabular

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// What makes values outliers: at most mostOutliers of a column, and as few of its values as a twentieth, lie more than farSpreads robust
// standard deviations from the median, and leastGap times as far as the next.
const (
	mostOutliers = 5
	farSpreads   = 20
	leastGap     = 5
	wideGap      = 1000
)

// normal is the standard deviation of a normal distribution over its median distance from the median.
const normal = 1.4826

// outliers are values of a column that are too far from the others.
type outliers struct {
	values  []float64 // different ones
	rows    int       // that hold one
	row     int       // the first of them
	spreads float64   // how far the nearest of them is from the median, in robust standard deviations
	median  float64
	amounts bool // no value is negative
}

// outliers finds values of a column that neither its spread nor its tails explain. A tail is judged by how its own distances from the
// median grow, from each to the next: their logarithms, i times that of the i-th largest, are draws of an exponential distribution where
// the tail is a power of the distance, which is heavier than those of most data (B. M. Hill, A simple general approach to inference about
// the tail of a distribution, Annals of Statistics 1975). The gap must be one that such a tail has once in a thousand columns.
func (t *Table) outliers(column int) (out outliers, found bool) {
	var v []float64
	for row := range t.Rows() {
		if x := t.Values[row*t.Cols+column]; !math.IsNaN(x-x) && t.marked(x) == "" {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return out, false
	}
	slices.Sort(v)
	out.median, out.amounts = v[len(v)/2], v[0] >= 0
	var d []float64 // of counts, half may be the median: what differs from it has the spread
	for _, x := range v {
		if far := math.Abs(x - out.median); far > 0 {
			d = append(d, far)
		}
	}
	slices.Sort(d)
	n := len(d)
	spread := 0.0
	if n > 0 {
		spread = normal * d[n/2]
	}
	for k := max(1, min(mostOutliers, n/20)); k > 0; k-- {
		if m := min(max((n-k)/3, 5), 50); n > k+m && d[n-k] > farSpreads*spread && (isGap(d, k, m) || k == 1 && isLone(v, d, spread)) {
			out.spreads = d[n-k] / spread
			t.collect(column, &out, d[n-k])
			return out, true
		}
	}
	return out, false
}

// isGap reports whether the k largest of distances are too far for the m below them.
func isGap(d []float64, k, m int) bool {
	n := len(d)
	tail := d[n-k-m-1 : n-k]
	next := tail[m]
	growth := 0.0 // the mean of the tail's logarithms
	different := 1
	for i, x := range tail[1:] {
		growth += math.Log(x/tail[0]) / float64(m)
		if x != tail[i] {
			different++
		}
	}
	const rare = 1e-3
	const few, fewest = 5, 3                                  // levels, which have no tail
	least := float64(m) * (math.Pow(rare, -1/float64(m)) - 1) // as the mean of m draws varies, too
	gap := d[n-k] / next
	return gap > wideGap && different >= fewest || gap > leastGap && different >= few && float64(k)*math.Log(gap) > least*growth
}

// isLone reports whether the largest of distances stands alone beside values that have no tail at all, of which there may be too few to
// judge one: nor may their logarithms have one, as those of amounts that vary over orders of magnitude have. All are sorted.
func isLone(v, d []float64, spread float64) bool {
	const gap, near, farLogs, few = 30, 4, 10, 8
	n := len(d)
	next := d[n-2]
	if n < few || !(d[n-1] > gap*next && next < near*spread) || next == d[0] {
		return false
	}
	if v[0] <= 0 {
		return true
	}
	median := math.Log(v[len(v)/2])
	logs := make([]float64, len(v))
	for i, x := range v {
		logs[i] = math.Abs(math.Log(x) - median)
	}
	slices.Sort(logs)
	return logs[len(v)-1] > farLogs*normal*logs[len(v)/2]
}

// collect notes the values that are so far from the median.
func (t *Table) collect(column int, out *outliers, far float64) {
	out.row = -1
	for row := range t.Rows() {
		x := t.Values[row*t.Cols+column]
		if math.IsNaN(x-x) || t.marked(x) != "" || math.Abs(x-out.median) < far {
			continue
		}
		if out.rows++; out.row < 0 {
			out.row = row
		}
		if !slices.Contains(out.values, x) {
			out.values = append(out.values, x)
		}
	}
}

// outlying is the remark about outliers of a column of outputs or of auxiliary inputs; "": there are none.
func (t *Table) outlying(column int, output bool) string {
	o, found := t.outliers(column)
	if !found {
		return ""
	}
	var values []string
	for _, v := range o.values {
		values = append(values, strconv.FormatFloat(v, 'g', -1, 64))
	}
	where := t.Place(o.row, column)
	if o.rows > 1 {
		where = fmt.Sprintf("%d rows, the first in %s", o.rows, where)
	}
	list := strings.Join(values, ",")
	text := fmt.Sprintf("%s holds %s in %s, %.3g spreads from the median %.4g, far from all other values: "+
		"if that is wrong, say --missing %s", t.columnOf(column), strings.ReplaceAll(list, ",", ", "), where, o.spreads, o.median, list)
	if output {
		text += ", or --robust without a model"
	}
	if o.amounts && output {
		text += "; if it is right, --positive or --log may suit the column"
	}
	return text
}
