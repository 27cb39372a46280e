package tabular

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// dateForm is how the dates of a column are written. The zero form is 2006-01-02 15:04:05, in UTC.
type dateForm struct {
	slash   bool   // 2006/01/02
	letter  bool   // 2006-01-02T15:04
	month   bool   // 2006-01, where all are first days
	time    bool   // with a time, even if all are midnights
	minutes bool   // 15:04 where all are whole minutes
	number  bool   // no dates: numbers that got the unit of another table
	zone    string // behind the time: Z, UTC, +02:00 and so on; "": none
}

// dateZone is the time of a date: its seconds, and the zone behind it.
var dateZone = regexp.MustCompile(`\d{2}:\d{2}(:\d{2}(?:\.\d*)?)?( ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$`)

// formOf is the form of dates that [Days] reads. Where their zones differ, as with daylight saving, they are written in UTC.
func formOf(texts []string) dateForm {
	f, first := dateForm{month: true, minutes: true}, true
	for _, text := range texts {
		if _, ok := Days(text); !ok {
			continue
		}
		zone := ""
		if m := dateZone.FindStringSubmatch(text); m != nil {
			zone, f.time, f.minutes = m[2], true, f.minutes && m[1] == ""
		}
		f.month = f.month && len(text) == len("2006-01")
		if first {
			f.slash, f.zone = strings.Contains(text, "/"), zone
		} else if zone != f.zone && len(text) > len("2006-01-02") {
			f.zone = "Z"
			if strings.ContainsAny(zone, "+-") {
				f.zone = zone[:len(zone)-len(strings.TrimLeft(zone, " "))] + "+00:00"
			}
		}
		f.letter = f.letter || strings.Contains(strings.TrimSuffix(text, zone), "T")
		first = false
	}
	return f
}

// leastDay and endDay bound the days since the beginning of 1970 whose years have four digits.
const leastDay, endDay = -719162, 2932897

// dateResolution is the power of ten of seconds, 0 to -6, to which a number of days tells times apart.
func dateResolution(days float64) int {
	ulp := math.Nextafter(math.Abs(days), math.Inf(1)) - math.Abs(days)
	return min(0, max(-6, int(math.Ceil(math.Log10(1.5*86400*ulp)))))
}

// dateOf is a time of so many days, rounded to what they tell apart, in a zone that is so many seconds ahead.
func dateOf(days, zone float64) time.Time {
	unit := math.Pow10(-dateResolution(days))
	whole := math.Floor(days)
	ticks := int64(math.Round((days - whole) * 86400 * unit))
	return time.Unix(int64(whole)*86400+int64(zone), ticks*int64(1e9/unit)).UTC()
}

// Dated returns how the cells of a column of dates that are numbers, in a unit of time, are written as text; nil: it is no such column.
// A column's dates have one form, with as many digits as the longest needs.
func (t *Table) Dated(column int) func(row int) string {
	clock, err := ParseClock(t.unit(column))
	if clock == nil || err != nil || t.Texts != nil && t.Texts[column] != nil || t.Single != nil && t.Single[column] {
		return nil
	}
	var form dateForm
	if t.forms != nil {
		form = t.forms[column]
	}
	if form.number {
		return nil
	}
	days := func(row int) float64 { return clock.Days(t.Values[row*t.Cols+column]) }
	least := leastDay + 1.
	if clock.julian && clock.Unit != UnixDays {
		least = gregorianDays // before, days have other dates
	}
	zone, digits, months := zoneSeconds(strings.TrimSpace(form.zone)), 0, form.month
	hours, seconds := form.time, false
	for row := range t.Rows() {
		v := days(row)
		if math.IsNaN(v) {
			continue
		}
		if !(v >= least && v < endDay-1) {
			return nil
		}
		d := dateOf(v, zone)
		hour, minute, second := d.Clock()
		months = months && d.Day() == 1
		hours = hours || hour != 0 || minute != 0
		seconds = seconds || second != 0
		for n := d.Nanosecond(); n%int(math.Pow10(9-digits)) != 0; {
			digits++
		}
	}
	hours = hours || seconds || digits > 0
	layout := "2006-01-02"
	switch {
	case digits > 0:
		layout += " 15:04:05." + strings.Repeat("0", digits)
	case seconds, hours && !(form.time && form.minutes):
		layout += " 15:04:05"
	case hours:
		layout += " 15:04"
	case months:
		layout = "2006-01"
	}
	if form.slash {
		layout = strings.ReplaceAll(layout, "-", "/")
	}
	if form.letter {
		layout = strings.Replace(layout, " ", "T", 1)
	}
	return func(row int) string {
		v := days(row)
		if math.IsNaN(v) {
			return ""
		}
		text := dateOf(v, zone).Format(layout)
		if hours {
			text += form.zone
		}
		return text
	}
}

// InheritDates says of a column of numbers that they are dates, written as those of a column of another table, if that has some: dates
// as text, or times in a unit, which the column gets.
func (t *Table) InheritDates(column int, like *Table, from int) {
	var form dateForm
	if t.Texts != nil && t.Texts[column] != nil {
		return
	}
	t.InheritUnit(column, like, from)
	if texts := like.Texts; texts != nil && texts[from] != nil {
		if !slices.ContainsFunc(texts[from], func(s string) bool { _, ok := Days(s); return ok }) {
			return
		}
		form = formOf(texts[from])
		t.setUnit(column, UnixDays, "")
	} else if like.forms != nil {
		form = like.forms[from]
	}
	t.setForm(column, form)
}

// setForm says how the dates of a column are written; the list may be shared with other tables.
func (t *Table) setForm(column int, form dateForm) {
	t.forms = slices.Clone(t.forms)
	if t.forms == nil {
		t.forms = make([]dateForm, t.Cols)
	}
	t.forms[column] = form
}

// Timed returns the table with those of the columns that hold nothing but dates, as text, as days since the beginning of 1970.
func (t *Table) Timed(columns ...int) *Table {
	out := t
	for _, c := range columns {
		if t.Texts == nil || t.Texts[c] == nil || !slices.ContainsFunc(t.Texts[c], func(s string) bool { return s != "" }) {
			continue
		}
		days, err := t.Coordinates(c)
		if err != nil {
			continue
		}
		if out == t {
			clone := *t
			out, clone.Values, clone.Texts = &clone, slices.Clone(t.Values), slices.Clone(t.Texts)
		}
		out.Texts[c] = nil
		for row, v := range days {
			out.Values[row*t.Cols+c] = v
		}
		out.setUnit(c, UnixDays, "")
	}
	return out
}
