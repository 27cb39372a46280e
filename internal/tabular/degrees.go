package tabular

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// degreesForm is an angle of degrees, minutes and seconds, or fewer of these, with the letter of a direction before or behind it.
var degreesForm = regexp.MustCompile(`^([NSEW])? *([+−-])?(\d{1,3}(?:[.,]\d+)?) *(?:(°|º|˚) *(?:(\d{1,2}(?:[.,]\d+)?) *['′’] *` +
	`(?:(\d{1,2}(?:[.,]\d+)?) *(?:"|″|”|''|′′) *)?)?)?([NSEW])?$`)

// degrees reads an angle with a letter, the axis of which is N or E, or with the sign of degrees, which has no axis. South and west are
// negative. Marked is whether it has that sign.
func degrees(text string) (v float64, axis byte, marked, ok bool) {
	if len(text) > 40 {
		return 0, 0, false, false
	}
	m := degreesForm.FindStringSubmatch(plainSpaces.Replace(text))
	if m == nil || m[1] != "" && m[7] != "" || m[1]+m[7] != "" && m[2] != "" || m[1]+m[7]+m[4] == "" {
		return 0, 0, false, false
	}
	fraction := false // only the last part has one
	for i, part := range []string{m[3], m[5], m[6]} {
		if part == "" {
			break
		}
		x, err := strconv.ParseFloat(strings.Replace(part, ",", ".", 1), 64)
		if err != nil || fraction || i > 0 && x >= 60 {
			return 0, 0, false, false
		}
		fraction = strings.ContainsAny(part, ".,")
		v += x / math.Pow(60, float64(i))
	}
	letter := m[1] + m[7]
	most := 360.
	switch letter {
	case "N", "S":
		axis, most = 'N', 90
	case "E", "W":
		axis, most = 'E', 180
	}
	if letter == "S" || letter == "W" || m[2] != "" && m[2] != "+" {
		v = 0 - v // of 0S it makes no -0
	}
	return v, axis, m[4] != "", math.Abs(v) <= most
}

// readDegrees makes numbers of columns of texts that are all latitudes, all longitudes or all degrees without a letter. Where none has the
// sign of degrees, the column's name must say what they are: 100W may be a power. A piece of a file is read only where the name says so.
func (t *reading) readDegrees() {
	for c := range t.Texts {
		if t.Texts[c] == nil || c < len(t.keys) && t.keys[c] {
			continue
		}
		if first, ok := t.degreesOf(c); ok {
			text := t.Texts[c][first]
			blanks := false
			for row, text := range t.Texts[c] {
				if text == "" || t.blank(text) {
					blanks = blanks || text != ""
					continue
				}
				t.Values[row*t.Cols+c], _, _, _ = degrees(text)
				t.Texts[c][row] = ""
			}
			t.remark(c, "%s has degrees like %s, which is read as %s", t.columnOf(c), quote(text),
				strconv.FormatFloat(t.Values[first*t.Cols+c], 'g', -1, 64))
			if !blanks {
				t.Texts[c] = nil
			}
		}
	}
}

// degreesOf reports whether a column holds such degrees and nothing else but missing values, and which row has the first.
func (t *reading) degreesOf(column int) (first int, ok bool) {
	first = -1
	var axis byte
	var named byte
	if column < len(t.Header) {
		switch name := strings.ToLower(t.Header[column]); {
		case strings.HasPrefix(name, "lat"):
			named = 'N'
		case strings.HasPrefix(name, "lon"), name == "lng":
			named = 'E'
		}
	}
	for row := range t.Rows() {
		text := t.Text(row, column)
		if v := t.Values[row*t.Cols+column]; v == v {
			return 0, false
		}
		if text == "" || t.blank(text) {
			continue
		}
		_, a, marked, ok := degrees(text)
		if !ok || first >= 0 && a != axis || named == 0 && (!marked || t.opt.Piece) || named != 0 && a != 0 && a != named {
			return 0, false
		}
		if first < 0 {
			first, axis = row, a
		}
	}
	return first, first >= 0
}

// isDegrees reports whether a text is an angle that a column may hold.
func isDegrees(text string) bool {
	_, _, _, ok := degrees(text)
	return ok
}
