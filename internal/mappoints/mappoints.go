// Package mappoints makes points of a map of the tables of text that visitors of the server's page paste or drop. The reader is that of
// the program, in the server as in the browser, where the page has no server; columns are found by names that tables of places have.
package mappoints

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// What a table may have at most: bytes, and rows with a value.
const (
	MaxBytes  = 2 << 20
	MaxPoints = 2000
)

// Growth is how many bytes of memory a byte of a table takes at most while it is read; TestMemory measures it.
const Growth = 250

// maxMarkers bounds Options.Missing, as each is compared with every value.
const maxMarkers = 16

// Options say how a table is to be read.
type Options struct {
	Name    string // of the file, for errors and notes
	Columns string // names or numbers of x, y and value, with commas between them; "": as the header tells
	Decimal string // "." or ",", the decimal sign; "": as the file tells
	Dates   string // "dmy" or "mdy", the order of dates such as 8/7/2016; "": as the column tells
	Missing string // numbers and texts that stand for no value, with commas between them
}

// Points are those of a table that have a value.
type Points struct {
	Points  [][3]float64 `json:"points"`  // x, y, value
	Columns [3]string    `json:"columns"` // by name, or number
	Notes   []string     `json:"notes"`   // how it was read, in sentences
}

// Read reads a table of text. Its errors speak of the page's controls, not of the program's flags.
func Read(b []byte, opt Options) (*Points, error) { return readAs(b, opt, read) }

// readAs reads what read makes of a table, if it is not too large.
func readAs[T any](b []byte, opt Options, read func([]byte, Options) (*T, error)) (*T, error) {
	if opt.Name = name(opt.Name); len(b) > MaxBytes {
		return nil, fmt.Errorf("%s has %.1f MB: this page takes %d MB and %d points at most; equivcnp regress takes any number", opt.Name,
			float64(len(b))/1e6, MaxBytes>>20, MaxPoints)
	}
	p, err := read(b, opt)
	if err != nil {
		return nil, said{err}
	}
	return p, nil
}

// name is a file's name without its folders, of a length that errors can bear.
func name(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	const most = 60
	r := []rune(strings.ToValidUTF8(path, "?"))
	if len(r) > most {
		r = append(r[:most:most], '…')
	}
	if len(r) == 0 {
		return "table"
	}
	return string(r)
}

// said is an error in the words of the page.
type said struct{ error }

func (e said) Unwrap() error { return e.error }

var pageWords = strings.NewReplacer(
	"unless --decimal . or --decimal , says what the comma is", "unless Decimal sign says what the comma is",
	"decimals need a point, or --decimal ,", "decimals need a point, or a comma as Decimal sign",
	"if it stands for missing ones, say --missing", "if it stands for missing ones, Missing can say",
	"if that is wrong, say --missing", "if that is wrong, Missing can say",
	", or --robust without a model", ", or the box for outliers helps", "; if it is right, --positive or --log may suit the column", "",
	"between thousands, say --decimal ,", "between thousands, choose a comma as Decimal sign",
	": a column of texts, such as kinds, is none of inputs, but --aux takes it", "",
	"if it stands for a missing value, say --missing", "if it stands for a missing value, Missing can say",
	", or in a column that is joined, as --x Date+Time", "",
	"say --dates dmy or --dates mdy", "choose the order of Dates",
	"as --dates mdy says", "as Dates says", "as --dates dmy says", "as Dates says",
	"are skipped where --x and --y name columns", "are skipped where Columns names x, y and value",
	"gdal_translate -of netCDF makes a table of its cells", "gdal_translate -of XYZ makes a table of its cells",
	"write it as Parquet or CSV", "write it as CSV", "save it as .xlsx or CSV", "save it as CSV",
	"export it as .xlsx or CSV", "export it as CSV",
	"save it with -v7.3, or by writetable as CSV", "save it by writetable as CSV",
	"save its sheet as .xlsx or CSV", "copy its cells and paste them here, or save the sheet as CSV")

func (e said) Error() string { return pageWords.Replace(e.error.Error()) }

// unread are files of other kinds that the program takes, by what they begin with, and what a visitor can do.
var unread = []struct{ begin, what string }{
	{"PK\x03\x04", "a zip file, such as a spreadsheet: copy its cells and paste them here, or save the sheet as CSV"},
	{"PAR1", "a Parquet file: write it as CSV"}, {"CDF", "a NetCDF file: write a table of it as CSV"},
	{"\x89HDF", "an HDF5 or NetCDF file: write a table of it as CSV"}, {"\x93NUMPY", "an array of numpy: write it as CSV"},
	{"{\"", "JSON: write its records as CSV"}, {"{\n", "JSON: write its records as CSV"}, {"[{", "JSON: write its records as CSV"},
	{"\x1f\x8b", "compressed by gzip: unpack it first"}, {"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"},
	{"BZh91AY&", "compressed by bzip2: unpack it first"},
	{"[\n", "JSON: write its records as CSV"}, {"[[", "JSON: write its records as CSV"},
}

// tableOf reads the table, and returns the columns that were asked for, one for each of the roles; nil: none.
func tableOf(b []byte, opt Options, roles ...string) (t *tabular.Table, asked []string, err error) {
	for _, f := range unread {
		if bytes.HasPrefix(b, []byte(f.begin)) {
			return nil, nil, fmt.Errorf("%s: %w: it is %s", opt.Name, tabular.ErrCell, f.what)
		}
	}
	if err := tabular.CheckForeign(b, opt.Name); err != nil {
		return nil, nil, err
	}
	how := tabular.Options{Dates: opt.Dates}
	if opt.Dates != "" && opt.Dates != tabular.DayFirst && opt.Dates != tabular.MonthFirst {
		return nil, nil, fmt.Errorf("dates %.20q: need dmy or mdy", opt.Dates)
	}
	switch opt.Decimal {
	case "":
	case ".", ",":
		how.Decimal = rune(opt.Decimal[0])
	default:
		return nil, nil, fmt.Errorf("decimal %.20q: need a point or a comma", opt.Decimal)
	}
	for marker := range strings.SplitSeq(opt.Missing, ",") {
		if marker = strings.TrimSpace(marker); marker != "" {
			how.Missing = append(how.Missing, marker)
		}
	}
	if n := len(how.Missing); n > maxMarkers {
		return nil, nil, fmt.Errorf("missing: %d numbers and texts, at most %d are allowed", n, maxMarkers)
	}
	if strings.TrimSpace(opt.Columns) != "" {
		for column := range strings.SplitSeq(opt.Columns, ",") {
			asked = append(asked, strings.TrimSpace(column))
		}
		if len(asked) != len(roles) || slices.Contains(asked, "") {
			return nil, nil, fmt.Errorf("columns %.60q: need %s, with commas between them", opt.Columns, listOf(roles))
		}
		how.X, how.Y = asked[:len(roles)-1], asked[len(roles)-1:]
	}
	t, err = tabular.ReadAs(bytes.NewReader(b), opt.Name, how)
	if err != nil {
		return nil, nil, err
	}
	if t.Cols == 0 || t.Rows() == 0 {
		return nil, nil, fmt.Errorf("%s: no rows: need some of %s", opt.Name, strings.TrimPrefix(listOf(roles), counts[len(roles)]+", "))
	}
	return t, asked, nil
}

// counts are numbers in words.
var counts = []string{2: "two", 3: "three"}

// listOf says how many roles there are, and which.
func listOf(roles []string) string {
	last := len(roles) - 1
	return counts[len(roles)] + ", " + strings.Join(roles[:last], ", ") + " and " + roles[last]
}

func read(b []byte, opt Options) (*Points, error) {
	t, asked, err := tableOf(b, opt, "x", "y", "value")
	if err != nil {
		return nil, err
	}
	var c tabular.Columns
	var note string
	if asked != nil {
		c, err = t.Find(tabular.Want{X: asked[:2], Y: asked[2:], Dx: 2, Dy: 1})
	} else {
		c, note, err = choose(t)
	}
	if err != nil {
		return nil, err
	}
	return pointsOf(t, c, note)
}

// pointsOf takes the rows that have a value, by the same calls as tasks of the program.
func pointsOf(t *tabular.Table, c tabular.Columns, note string) (*Points, error) {
	p := &Points{Points: [][3]float64{}, Columns: [3]string(namesOf(t, c.X[0], c.X[1], c.Y[0]))}
	var err error
	p.Notes, err = known(t, c, note, func(x []float64, y float64) { p.Points = append(p.Points, [3]float64{x[0], x[1], y}) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

// known gives the coordinates and the values of the rows that have one to add, and returns what is to be said of the table.
func known(t *tabular.Table, c tabular.Columns, note string, add func(x []float64, y float64)) (notes []string, err error) {
	x, err := t.Coordinates(c.X...)
	if err != nil {
		return nil, err
	}
	y, err := t.Numbers(true, c.Y...)
	if err != nil {
		return nil, err
	}
	notes = []string{}
	for _, note := range t.Remarks(c) {
		notes = append(notes, pageWords.Replace(note))
	}
	if note != "" {
		notes = append(notes, note)
	}
	rows := 0
	var single tabular.Single
	for i, v := range y {
		single.Add(v)
		if math.Abs(v) > math.MaxFloat32 {
			return nil, t.Errorf(i, c.Y[0], "%w: %g is beyond float32: write the column in a larger unit", tabular.ErrCell, v)
		}
		if math.IsNaN(v) {
			continue
		}
		if rows++; rows <= MaxPoints {
			dx := len(c.X)
			add(x[i*dx:(i+1)*dx], v)
		}
	}
	switch {
	case single.Loses(): // requests have float32
		mean, std := single.Moments()
		return nil, t.Errorf(0, c.Y[0], "%s has a standard deviation of %.3g around %.9g, which is too little for float32: subtract a "+
			"number from all of its values", namesOf(t, c.Y[0])[0], std, mean)
	case rows == 0:
		return nil, fmt.Errorf("%s: no row has a value", t.Name)
	case rows > MaxPoints:
		return nil, fmt.Errorf("%s has %d rows with a value: this page takes %d at most; equivcnp regress takes any number", t.Name, rows,
			MaxPoints)
	case rows < len(y):
		notes = append(notes, words.Plural(len(y)-rows, "row")+" of "+t.Name+" without a value, left out")
	}
	return notes, nil
}
