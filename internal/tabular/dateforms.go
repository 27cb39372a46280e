package tabular

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Orders of the day and the month in dates such as 8/7/2016.
const (
	DayFirst   = "dmy"
	MonthFirst = "mdy"
)

const (
	clockTime = `(?:(?:,? +|[Tt:])(\d{1,2})(?::(\d{2})(?::(\d{2}(?:[.,]\d+)?))?)?` + halfDay + `)? ?` + timeZone
	halfDay   = `(?: *([AaPp])\.? ?[Mm]\.?)?` // am, PM, a.m.
	timeZone  = `([Zz]|UTC|GMT|[+-]\d{2}:?\d{2})?$`
	monthName = `(\pL{3,9})`
)

var (
	numericDate = regexp.MustCompile(`^(\d{1,2})([./-])(\d{1,2})([./-])(\d{4})` + clockTime)
	yearDate    = regexp.MustCompile(`^(\d{4})([./-])(\d{1,2})([./-])(\d{1,2})` + clockTime)
	dayDate     = regexp.MustCompile(`^(\d{1,2})([ -]|\. ?|(?:st|nd|rd|th|er) )?` + monthName + `\.?([ -])?(\d{4})` + clockTime)
	monthDate   = regexp.MustCompile(`^` + monthName + `(\.? )(\d{1,2})((?:st|nd|rd|th)?,? )(\d{4})` + clockTime)
	basicDate   = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})[T ](\d{2})(?::?(\d{2})(?::?(\d{2}(?:[.,]\d+)?))?)?() ?` + timeZone)
	weekDate    = regexp.MustCompile(`^(\d{4})-?W(\d{2})(?:-?([1-7]))?$`)
	shortYear   = regexp.MustCompile(`^(\d{1,2}[./-]\d{1,2}[./-]|\d{1,2}[ -]?[A-Za-z]{3,9}[ -]?)\d{2}\b`)
	weekday     = regexp.MustCompile(`^(\pL{2,9})\.?,? +`)
)

// periods are the ways to write a month or a quarter, which are the first of their days.
var periods = []struct {
	re          *regexp.Regexp
	year, month int // groups
	months      int // of a period
}{
	{regexp.MustCompile(`^` + monthName + `\.?[ -](\d{4})$`), 2, 1, 0},
	{regexp.MustCompile(`^(\d{4})[ -]` + monthName + `\.?$`), 1, 2, 0},
	{regexp.MustCompile(`^(\d{1,2})/([12]\d{3})$`), 2, 1, 1},
	{regexp.MustCompile(`^(\d{4})[ -]?M(\d{2})$`), 1, 2, 1},
	{regexp.MustCompile(`^(\d{4})[ -]?[QqK]([1-4])$`), 1, 2, 3},
	{regexp.MustCompile(`^[QqK]([1-4])[ /-]?(\d{4})$`), 2, 1, 3},
}

// written is a date whose day and month may be in either order.
type written struct {
	year, first, second int
	order               string // "": first and second may be day and month, or month and day
	rest                string // time and zone, as 2006-01-02 15:04:05Z has them behind the date
	half                half
	weekday             int // from 1, Monday; 0: none is named
}

// half says what a time of day says of the halves of its day.
type half int

const (
	noHalf    half = iota // it has an hour that only one half has, or there is no time
	eitherDay             // it has an hour from 1 to 12, and neither am nor pm
	named                 // it has am or pm
)

// readDate takes a date apart that is not written like 2006-01-02.
func readDate(text string) (d written, ok bool) {
	if len(text) < 6 || len(text) > 48 || !strings.ContainsAny(text, "0123456789") {
		return d, false
	}
	text = plainSpaces.Replace(text)
	day := 0
	if text[0] > '9' {
		text, day = withoutWeekday(text)
	}
	d, ok = readForm(text)
	d.weekday = day
	return d, ok
}

// readForm is readDate of a text without the name of a day of the week.
func readForm(text string) (d written, ok bool) {
	const longest = 18 // bytes of a name of a month and a year
	if len(text) <= longest {
		if d, ok = readPeriod(text); ok {
			return d, true
		}
	}
	if m := basicDate.FindStringSubmatch(text); m != nil {
		d = written{order: MonthFirst}
		d.year, _ = strconv.Atoi(m[1])
		d.first, _ = strconv.Atoi(m[2])
		d.second, _ = strconv.Atoi(m[3])
		m[5] = cmp.Or(m[5], "00")
		d.rest, d.half, ok = clockText(m[4:])
		d.half = noHalf // two digits of an hour are those of 24
		return d, ok && d.first > 0 && d.second > 0
	}
	for _, form := range []struct {
		re         *regexp.Regexp
		year, a, b int // groups of the day and the month, in the order in which they stand
		name       int // the group of the month, if that is a name
		order      string
		same       bool // what separates the parts is the same
	}{{numericDate, 5, 1, 3, 0, "", true}, {yearDate, 1, 3, 5, 0, MonthFirst, true}, {dayDate, 5, 1, 3, 3, DayFirst, false},
		{monthDate, 5, 1, 3, 1, MonthFirst, false}} {
		m := form.re.FindStringSubmatch(text)
		if m == nil || form.same && m[2] != m[4] {
			continue
		}
		number := func(group int) int {
			if group == form.name {
				return month(m[group])
			}
			v, _ := strconv.Atoi(m[group])
			return v
		}
		d = written{year: number(form.year), first: number(form.a), second: number(form.b), order: form.order}
		d.rest, d.half, ok = clockText(m[6:])
		return d, ok && d.first > 0 && d.second > 0
	}
	return d, false
}

// readPeriod reads a month, a quarter, or a week of ISO 8601, whose first day is a Monday, or a day of one.
func readPeriod(text string) (d written, ok bool) {
	for _, p := range periods {
		m := p.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		d = written{first: month(m[p.month]), second: 1, order: MonthFirst}
		if n, err := strconv.Atoi(m[p.month]); err == nil {
			d.first = (n-1)*p.months + 1
		}
		d.year, _ = strconv.Atoi(m[p.year])
		return d, d.first >= 1 && d.first <= 12
	}
	m := weekDate.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	year, _ := strconv.Atoi(m[1])
	week, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(cmp.Or(m[3], "1"))
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // of January, which is in the first week
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	at := monday.AddDate(0, 0, 7*(week-1)+day-1)
	if y, w := at.ISOWeek(); y != year || w != week || at.Year() < 1 || at.Year() > 9999 {
		return d, false
	}
	return written{year: at.Year(), first: int(at.Month()), second: at.Day(), order: MonthFirst}, true
}

// monthNames are those of months in English, German and French, and their abbreviations. No name is that of
// two months.
var monthNames = [12]string{"january jan januar jän jänner janvier janv", "february feb februar fev fév févr février fevrier",
	"march mar mär märz maerz mrz mars", "april apr avr avril", "may mai", "june jun juni juin", "july jul juli juil juillet",
	"august aug août aout", "september sep sept septembre", "october oct okt oktober octobre", "november nov novembre",
	"december dec dez dezember déc décembre decembre"}

// month is the number of a month by its name, or a short form of that; 0: it is none.
func month(name string) int {
	name = strings.ToLower(name)
	for i, names := range monthNames {
		for known := range strings.FieldsSeq(names) {
			if name == known {
				return i + 1
			}
		}
	}
	return 0
}

// weekdays are the names of the days of a week, from Monday on, and their abbreviations, in English, German and French. Mar is March.
var weekdays = [7]string{"monday mon montag mo lundi lun", "tuesday tue tues dienstag di mardi", "wednesday wed mittwoch mi mercredi mer",
	"thursday thu thur thurs donnerstag do jeudi jeu", "friday fri freitag fr vendredi ven",
	"saturday sat samstag sa sonnabend samedi sam", "sunday sun sonntag so dimanche dim"}

// withoutWeekday is a text without the name of a day of the week before it, and its number from 1, Monday; 0: it has none.
func withoutWeekday(text string) (string, int) {
	m := weekday.FindStringSubmatch(text)
	if m == nil {
		return text, 0
	}
	name := strings.ToLower(m[1])
	for i, names := range weekdays {
		if slices.Contains(strings.Fields(names), name) {
			return text[len(m[0]):], i + 1
		}
	}
	return text, 0
}

// isOn reports whether the date, with the day or the month first, is on the day of the week that stands with it, and which one it is on.
func (d *written) isOn(order string) (ok bool, on time.Weekday) {
	text, ok := d.iso(order)
	if !ok {
		return false, 0
	}
	days, _ := Days(text[:len("2006-01-02")])             // in the zone of the text, where it has one
	on = time.Weekday((int(math.Floor(days))%7 + 11) % 7) // day 0 was a Thursday
	return d.weekday == 0 || int(on) == d.weekday%7, on
}

// plainSpaces makes spaces of those that keep a line together, as programs write before PM.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// clockText is a time of hour, minute, second, am or pm, and a zone.
func clockText(m []string) (text string, h half, ok bool) {
	if m[0] == "" {
		return "", noHalf, m[4] == ""
	}
	hour, h, ok := hourOf(m[0], m[3])
	if !ok || m[1] == "" && m[3] == "" {
		return "", h, false
	}
	text = fmt.Sprintf(" %02d:%s", hour, cmp.Or(m[1], "00"))
	if m[2] != "" {
		text += ":" + strings.Replace(m[2], ",", ".", 1)
	}
	return text + strings.ToUpper(m[4]), h, true
}

// hourOf is the hour of a day that digits are before an a of am, a p of pm, or neither: 12 am is 0, and 12 pm is 12.
func hourOf(digits, letter string) (hour int, h half, ok bool) {
	hour, _ = strconv.Atoi(digits)
	twelve := hour >= 1 && hour <= 12
	switch {
	case letter != "" && !twelve:
		return 0, named, false
	case letter != "":
		if hour %= 12; strings.EqualFold(letter, "p") {
			hour += 12
		}
		return hour, named, true
	case twelve:
		return hour, eitherDay, true
	}
	return hour, noHalf, true
}

// timeOfDay is a time of day without its date.
var timeOfDay = regexp.MustCompile(`^([012]?[0-9])(?::([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?)?` + halfDay + `$`)

// readTime takes a time of day apart: its hour, minute and second as they are written, and the a of am or the p of pm.
func readTime(text string) (digits []string, letter string, ok bool) {
	m := timeOfDay.FindStringSubmatch(plainSpaces.Replace(text))
	if m == nil || m[2] == "" && m[4] == "" {
		return nil, "", false
	}
	return m[1:4], m[4], true
}

// isTimeOfDay reports whether a text is a time of day.
func isTimeOfDay(text string) bool {
	_, _, ok := readTime(text)
	return ok
}

// halved finds a time of day that has an hour from 1 to 12 and neither am nor pm among others that have one.
type halved struct {
	either, named int // the first rows, counted from 1
}

func (h *halved) add(row int, of half) {
	switch {
	case of == eitherDay && h.either == 0:
		h.either = row + 1
	case of == named && h.named == 0:
		h.named = row + 1
	}
}

// row is that of such a time, -1 where there is none.
func (h *halved) row() int {
	if h.named == 0 {
		return -1
	}
	return h.either - 1
}

// neitherHalf is why such a time is not read.
const neitherHalf = "has neither am nor pm, as others of the column do"

// iso is the date in the one form that says all; false: there is no such day.
func (d *written) iso(order string) (text string, ok bool) {
	day, month := d.first, d.second
	if d.order != "" {
		order = d.order
	}
	if order == MonthFirst {
		day, month = month, day
	}
	text = fmt.Sprintf("%04d-%02d-%02d%s", d.year, month, day, d.rest)
	_, ok = Days(text)
	return text, ok
}

// anyDate reports whether a text is a date in some form.
func anyDate(text string) (days float64, ok bool) {
	if days, ok = Days(text); ok {
		return days, ok
	}
	d, ok := readDate(text)
	return 0, ok && (d.first <= 12 || d.second <= 12)
}

// dateOrder says which of day and month is first in a column's dates. Row and why are an error: a text that is no date, or that
// nothing tells.
func (t *Table) dateOrder(column int, opt Options) (order string, row int, why string) {
	asked := opt.Dates
	least := map[string]int{} // the first row that has a day above 12 there
	example, first := -1, -1
	var halves halved
	for row, text := range t.Texts[column] {
		if text == "" || t.blank(text) {
			continue
		}
		d, ok := readDate(text)
		halves.add(row, d.half)
		if !ok {
			if _, ok = Days(text); ok {
				continue
			}
			return "", row, "is no date like the others"
		}
		if first < 0 {
			first = row
		}
		if d.order != "" || d.first == d.second {
			if is, on := d.isOn(DayFirst); !is && d.weekday > 0 && (d.first <= 12 || d.second <= 12) {
				return "", row, "is a " + on.String()
			}
			continue
		}
		if example < 0 {
			example = row
		}
		tells := ""
		if d.first > 12 {
			tells = DayFirst
		} else if d.second > 12 {
			tells = MonthFirst
		}
		if d.weekday > 0 {
			day, _ := d.isOn(DayFirst)
			month, _ := d.isOn(MonthFirst)
			switch {
			case day != month && tells == "":
				tells = map[bool]string{true: DayFirst, false: MonthFirst}[day]
			case !day && !month:
				return "", row, "is on another day of the week"
			}
		}
		if _, found := least[tells]; tells != "" && !found {
			least[tells] = row
		}
	}
	if row := halves.row(); row >= 0 {
		return "", row, neitherHalf
	}
	if example >= 0 {
		first = example
	}
	day, dayFirst := least[DayFirst]
	mon, monthFirst := least[MonthFirst]
	switch {
	case dayFirst && monthFirst:
		return "", max(day, mon), fmt.Sprintf("has day and month in another order than %s above", quote(t.Text(min(day, mon), column)))
	case dayFirst && asked == MonthFirst:
		return "", day, "has no month first, as --dates mdy says"
	case monthFirst && asked == DayFirst:
		return "", mon, "has no day first, as --dates dmy says"
	case asked == "" && opt.Piece && example >= 0:
		return "", example, "may have the day first or the month in other pieces of the file; say --dates dmy or --dates mdy"
	case dayFirst:
		return DayFirst, first, ""
	case monthFirst:
		return MonthFirst, first, ""
	case asked != "" || example < 0:
		return asked, first, ""
	}
	return "", example, fmt.Sprintf("may have the day first or the month: none of the %d rows has a day above 12; say --dates dmy or "+
		"--dates mdy", t.Rows())
}

// readDates writes dates as 2006-01-02 in columns whose texts are all dates, and say which of day and month is first.
func (t *reading) readDates() {
	for c := range t.Texts {
		if t.Texts[c] == nil || c < len(t.keys) && t.keys[c] || !t.foreignDates(c) {
			continue
		}
		order, first, why := t.dateOrder(c, t.opt)
		if why != "" {
			continue // whoever takes the column as numbers says so
		}
		texts := make([]string, len(t.Texts[c]))
		known := map[string]string{}
		for row, text := range t.Texts[c] {
			if texts[row] = known[text]; texts[row] != "" || text == "" {
				continue
			}
			texts[row] = text
			if d, ok := readDate(text); ok {
				if texts[row], ok = d.iso(order); !ok {
					texts = nil // a day that there is not
					break
				}
			}
			known[text] = texts[row]
		}
		if texts != nil {
			t.remark(c, "%s has dates like %s, which is read as %s", t.columnOf(c), quote(t.Texts[c][first]), texts[first])
			if t.written == nil {
				t.written = make([][]string, t.Cols)
			}
			t.written[c], t.Texts[c] = t.Texts[c], texts
		}
	}
}

// foreignDates reports whether the first text of a column is a date that is not written like 2006-01-02.
func (t *Table) foreignDates(column int) bool {
	for _, text := range t.Texts[column] {
		if text != "" && !t.blank(text) {
			_, ok := readDate(text)
			if _, own := Days(text); own {
				return false
			}
			return ok
		}
	}
	return false
}

// noDates says why a column that begins with a date is not one of dates, by the row; "": it does not begin with one.
func (t *Table) noDates(column int) (row int, why string) {
	if !t.foreignDates(column) {
		return 0, ""
	}
	order, row, why := t.dateOrder(column, t.asked)
	if why != "" {
		return row, why
	}
	for row, text := range t.Texts[column] {
		if d, ok := readDate(text); ok {
			if _, ok := d.iso(order); !ok {
				return row, "is a day that there is not"
			}
		}
	}
	return 0, ""
}
