package tabular

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// UnixDays is the unit of dates, which are numbers here.
const UnixDays = "days since 1970-01-01"

// Days reads a date, with a time and a time zone or without, as days since the beginning of 1970, in UTC. The time 24:00 is the end of
// its day, as in ISO 8601 and in meters' hours that are called by their ends.
func Days(text string) (days float64, ok bool) {
	layout, ok := dateLayout(text)
	if !ok {
		return 0, false
	}
	if zone := strings.TrimRight(text, "ZUTCGM"); zone != text { // other names mean different hours in different places
		text = strings.TrimRight(zone, " ")
	}
	ends := len(text) >= 16 && text[11:16] == "24:00"
	if ends {
		text = text[:11] + "00" + text[13:]
	}
	d, err := time.Parse(layout, text)
	if err != nil || ends && (d.Second() != 0 || d.Nanosecond() != 0) {
		return 0, false
	}
	if ends {
		d = d.AddDate(0, 0, 1)
	}
	return (float64(d.Unix()) + float64(d.Nanosecond())*1e-9) / 86400, true
}

// otherDate is how dates are often written that are not read, or not alone: month or day may be first, a year has two digits, or there are
// days of a year or names of zones.
var otherDate = regexp.MustCompile(`^(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[ .-]+\pL{3,9}\.?[ -]\d{2,4}` +
	`|\pL{3,9}\.?[ -](\d{1,2}, )?(\d{4}|\d{2})|\d{4}[ -]?[QKMWT]\d{1,2}|[QKT]\d[ /-]?\d{4}|\d{4}-\d{3}` +
	`|\d{4}/\d{1,2}|\d{1,2}/\d{4}|\d{8}T\d+|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{4})(\b|Z)`)

// dateLayout is the layout of a text that may be a date: 2006-01-02 or 2006/01/02, then maybe T or a space and 15:04,
// seconds with a fraction, and a time zone; or 2006-01, the first day of a month.
func dateLayout(text string) (layout string, ok bool) {
	if len(text) == 7 && text[4] == '-' {
		return "2006-01", true
	}
	if len(text) < 10 || len(text) > 48 || text[4] != '-' && text[4] != '/' {
		return "", false
	}
	layout = "2006" + text[4:5] + "01" + text[4:5] + "02"
	if len(text) == 10 {
		return layout, true
	}
	if text[10] != 'T' && text[10] != ' ' || len(text) < 16 {
		return "", false
	}
	layout += text[10:11] + "15:04"
	rest := text[16:]
	if len(rest) >= 3 && rest[0] == ':' { // time.Parse takes a fraction that the layout lacks
		layout += ":05"
		if rest = rest[3:]; strings.HasPrefix(rest, ".") {
			rest = strings.TrimLeft(rest[1:], "0123456789")
		}
	}
	if zone := strings.TrimSpace(rest); zone == "" || zone == "Z" || zone == "UTC" || zone == "GMT" {
		return layout, true
	}
	if rest[0] == ' ' {
		layout, rest = layout+" ", rest[1:]
	}
	switch {
	case len(rest) == 6 && rest[3] == ':':
		return layout + "-07:00", true
	case len(rest) == 5:
		return layout + "-0700", true
	case len(rest) == 3:
		return layout + "-07", true
	}
	return "", false
}

// Clock is a unit of time and where it counts from.
type Clock struct {
	Unit    string
	seconds float64 // of one
	origin  float64 // seconds since the beginning of 1970
	julian  bool    // dates before firstGregorian are the Julian calendar's
}

var since = regexp.MustCompile(`(?i)^\s*[a-z]+\s+since\s`)

var sinceDate = regexp.MustCompile(`(?i)^\s*([A-Za-z]+)\s+since\s+(-?\d{1,4})-(\d{1,2})-(\d{1,2})` +
	`(?:[T ]\s*(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?)?` +
	`\s*(Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?\s*$`)

// timeUnits are seconds; months and years have no one length.
var timeUnits = map[string]float64{"day": 86400, "d": 86400, "hour": 3600, "hr": 3600, "h": 3600, "minute": 60, "min": 60,
	"second": 1, "sec": 1, "s": 1,
	"millisecond": 1e-3, "msec": 1e-3, "millisec": 1e-3, "ms": 1e-3, "microsecond": 1e-6, "microsec": 1e-6, "us": 1e-6,
	"nanosecond": 1e-9, "nanosec": 1e-9, "ns": 1e-9, "week": 604800}

// ParseClock reads a unit as the conventions CF write one, "hours since 2000-01-01 00:00:00", and its calendar; nil: it
// is no unit of time. A calendar in which dates are others than on a wall, and one that is not known, are errors.
func ParseClock(unit, calendar string) (*Clock, error) {
	if !since.MatchString(unit) {
		return nil, nil
	}
	julian := false // dates before 1582-10-15 are those of the Julian calendar
	switch strings.ToLower(strings.TrimSpace(calendar)) {
	case "", "standard", "gregorian":
		julian = true
	case "proleptic_gregorian":
	default:
		return nil, fmt.Errorf("%w: the calendar %q has other days than ours: dates in it are not read, give numbers in %q",
			ErrCell, calendar, unit)
	}
	m := sinceDate.FindStringSubmatch(unit)
	if m == nil {
		return nil, fmt.Errorf("%w: the unit %q has no date that can be read", ErrCell, unit)
	}
	name := strings.ToLower(m[1])
	seconds, ok := timeUnits[name]
	if !ok {
		seconds, ok = timeUnits[strings.TrimSuffix(name, "s")]
	}
	if !ok {
		return nil, fmt.Errorf("%w: the unit %q counts in %s, which have no one length: dates are not read, give numbers in it",
			ErrCell, unit, m[1])
	}
	number := func(i int) int {
		v, _ := strconv.Atoi(m[i])
		return v
	}
	year, month, day := number(2), number(3), number(4)
	second, _ := strconv.ParseFloat("0"+m[7], 64)
	if number(5) > 24 || number(6) > 59 || second >= 61 {
		return nil, fmt.Errorf("%w: the unit %q has no date that can be read", ErrCell, unit)
	}
	date, ok := origin(year, month, day, julian)
	if !ok {
		return nil, fmt.Errorf("%w: the unit %q counts from a day that no calendar here has: dates are not read, give numbers in it",
			ErrCell, unit)
	}
	return &Clock{Unit: unit, seconds: seconds, origin: date + float64(number(5)*3600+number(6)*60) + second - zoneSeconds(m[8]),
		julian: julian}, nil
}

// origin is a date in seconds since the beginning of 1970; false: there is no such day. The years before the first are
// counted with a year 0 and without, so that nobody knows which days theirs are.
func origin(year, month, day int, julian bool) (seconds float64, ok bool) {
	d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	seconds, ok = float64(d.Unix()), d.Day() == day && int(d.Month()) == month
	switch date := year*10000 + month*100 + day; {
	case year < 1, julian && date > 15821004 && date < firstGregorian:
		return 0, false
	case julian && date <= 15821004:
		leap := year%4 == 0 && month == 2 && day == 29
		return float64(julianDay(year, month, day)-unixJulianDay) * 86400, ok || leap
	}
	return seconds, ok
}

// firstGregorian is the day from which on the calendars agree, and gregorianDays that day since the beginning of 1970.
const (
	firstGregorian = 15821015
	gregorianDays  = -141427
)

// unixJulianDay is the Julian day number of 1970-01-01.
const unixJulianDay = 2440588

// julianDay is the Julian day number of a date of the Julian calendar.
func julianDay(year, month, day int) int {
	a := (14 - month) / 12
	y, m := year+4800-a, month+12*a-3
	return day + (153*m+2)/5 + 365*y + y/4 - 32083
}

// zoneSeconds is how far the clocks of a time zone, "+02:00", are ahead.
func zoneSeconds(zone string) float64 {
	if zone == "" || zone[0] != '+' && zone[0] != '-' {
		return 0
	}
	digits := strings.ReplaceAll(zone[1:], ":", "")
	hours, minutes := digits, "0"
	if len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	if zone[0] == '-' {
		h, m = -h, -m
	}
	return float64(3600*h + 60*m)
}

// Of is days since the beginning of 1970 on this clock.
func (c *Clock) Of(days float64) float64 { return (float64(days*86400) - c.origin) / c.seconds } // not fused: the same on every machine

// At is Of for a date that somebody wrote, which before 1582-10-15 is another day in some calendars.
func (c *Clock) At(days float64) (float64, error) {
	if c.julian && days < gregorianDays {
		return 0, fmt.Errorf("%w: a day before 1582-10-15 is another in the calendar of %q: give numbers in it", ErrCell, c.Unit)
	}
	return c.Of(days), nil
}

// Span is so many days on this clock.
func (c *Clock) Span(days float64) float64 { return days * 86400 / c.seconds }

// Seconds is a span of time on this clock, in seconds.
func (c *Clock) Seconds(span float64) float64 { return span * c.seconds }

// Days returns a time of this clock as days since the beginning of 1970.
func (c *Clock) Days(v float64) float64 { return (float64(v*c.seconds) + c.origin) / 86400 }

// From returns a time of another clock on this one. Days between them would cost digits.
func (c *Clock) From(other *Clock, v float64) float64 {
	return (float64(v*other.seconds) + (other.origin - c.origin)) / c.seconds
}

// Clock is the clock of a column: that of its unit, or, where its cells are dates, days since the beginning of 1970;
// nil where it has neither.
func (t *Table) Clock(column int) (*Clock, error) {
	if t.Texts != nil && t.Texts[column] != nil {
		for _, text := range t.Texts[column] {
			if _, ok := Days(text); ok {
				return ParseClock(UnixDays, "")
			}
		}
	}
	c, err := ParseClock(t.unit(column))
	if err != nil {
		return nil, fmt.Errorf("%s: column %d: %w", t.Name, column+1, err)
	}
	return c, nil
}

// SetClock brings the dates and times of a column to the clock of column from of another table, whose tasks they belong
// to; a column of numbers without a unit stays.
func (t *Table) SetClock(column int, like *Table, from int) error {
	dates := t.Texts != nil && slices.ContainsFunc(t.Texts[column], func(s string) bool { return s != "" })
	unit, calendar := t.unit(column)
	likeUnit, likeCalendar := like.unit(from)
	if !dates && (unit == "" || unit == likeUnit && calendar == likeCalendar) {
		return nil
	}
	own, err := t.Clock(column)
	if own == nil || err != nil {
		return err // text that is no date, which whoever needs numbers finds
	}
	to, err := like.Clock(from)
	switch {
	case err != nil:
		return err
	case to == nil && !dates:
		return nil
	case to == nil:
		return fmt.Errorf("%s: %w: column %s holds dates, and in %s it holds numbers without a unit of time", t.Name, ErrCell,
			t.label(column), like.Name)
	case to.Unit == own.Unit && to.Unit == UnixDays:
		return nil // dates in both
	}
	v, err := t.Coordinates(column)
	if err != nil {
		return err
	}
	t.Values = slices.Clone(t.Values)
	for row, x := range v {
		v := to.Of(own.Days(x))
		if dates {
			if v, err = to.At(own.Days(x)); err != nil {
				return t.Errorf(row, column, "%s: %w", like.Name, err)
			}
		}
		t.Values[row*t.Cols+column] = v
	}
	if t.Texts != nil {
		t.Texts = slices.Clone(t.Texts)
		t.Texts[column] = nil
	}
	t.setUnit(column, to.Unit, likeCalendar)
	return nil
}

// InheritUnit gives a column that has no unit, and is not of texts, the unit and the calendar of a column of another table,
// and what that says of it and of the coordinate system. Its numbers are written as they are, also those of times.
func (t *Table) InheritUnit(column int, like *Table, from int) {
	if unit, _ := t.unit(column); unit != "" || t.Texts != nil && t.Texts[column] != nil {
		return
	}
	if unit, calendar := like.unit(from); unit != "" {
		t.setUnit(column, unit, calendar)
		t.setForm(column, dateForm{number: true})
		if t.Mapping == nil {
			t.Mapping = like.Mapping
		}
		if like.About != nil {
			about := make([]map[string]string, t.Cols)
			copy(about, t.About)
			if about[column] == nil {
				about[column] = like.About[from]
			}
			t.About = about
		}
	}
}

// setUnit gives a column a unit and a calendar; lists that other tables may share are copied.
func (t *Table) setUnit(column int, unit, calendar string) {
	set := func(list []string, s string) []string {
		if list == nil {
			if s == "" {
				return nil
			}
			list = make([]string, t.Cols)
		}
		list = slices.Clone(list)
		list[column] = s
		return list
	}
	t.Units, t.Calendars = set(t.Units, unit), set(t.Calendars, calendar)
}

// unit is the unit of a column and its calendar, "" where the format has none.
func (t *Table) unit(column int) (unit, calendar string) {
	if t.Units != nil {
		unit = t.Units[column]
	}
	if t.Calendars != nil {
		calendar = t.Calendars[column]
	}
	return unit, calendar
}

// label names a column for an error.
func (t *Table) label(column int) string {
	if column < len(t.Header) {
		return quote(t.Header[column])
	}
	return strconv.Itoa(column + 1)
}
