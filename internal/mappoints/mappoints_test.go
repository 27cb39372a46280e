package mappoints

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/want.json anew")

// answer is what becomes of a file.
type answer struct {
	*Points
	Error string `json:"error,omitempty"`
}

// TestFiles: every file of testdata is read, or refused, as testdata/want.json says, which a test of the page compares with what
// browsers show. No error speaks of flags, which the page has not.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	got := map[string]answer{}
	for _, file := range files {
		if file = filepath.ToSlash(file); file == "testdata/want.json" {
			continue
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		p, err := Read(b, Options{Name: file})
		a := answer{Points: p}
		if err != nil {
			a.Error = err.Error()
		}
		text, err := json.Marshal(a)
		require.NoError(t, err, file)
		assert.NotContains(t, string(text), "--", file)
		got[filepath.Base(file)] = a
	}
	text, err := json.MarshalIndent(got, "", "\t")
	require.NoError(t, err)
	text = append(text, '\n')
	if *update {
		require.NoError(t, os.WriteFile("testdata/want.json", text, 0o666))
	}
	want, err := os.ReadFile("testdata/want.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
}

// TestOptions: what a file does not tell the visitor does, and words that are none of the choices are refused.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		text string
		opt  Options
		want [3]float64
		says string
	}{
		{"x;y;value\n1,250;2,500;3,125\n", Options{Decimal: ","}, [3]float64{1.25, 2.5, 3.125}, ""},
		{"x;y;value\n1,250;2,500;3,125\n", Options{Decimal: "."}, [3]float64{1250, 2500, 3125}, ""},
		{"x;y;value\n1,250;2,500;3,125\n", Options{Decimal: ";"}, [3]float64{}, "need a point or a comma"},
		{"d,y,value\n3/1/1970,2,3\n", Options{Dates: "dmy"}, [3]float64{2, 2, 3}, ""},
		{"d,y,value\n1/3/1970,2,3\n", Options{Dates: "mdy"}, [3]float64{2, 2, 3}, ""},
		{"x,y,value\n1,2,-9999\n-9999,2,3\n1,1,nd\n", Options{Missing: " -9999, ,ND"}, [3]float64{-9999, 2, 3}, ""},
		{"x,y,value\n1,2,3\n", Options{Missing: strings.Repeat("1,", 17)}, [3]float64{}, "missing: 17 numbers and texts, at most 16"},
		{"d,y,value\n1/3/1970,2,3\n", Options{Dates: "ymd"}, [3]float64{}, "need dmy or mdy"},
		{"a,b,c,d\n1,2,3,4\n", Options{Columns: "d, b, 1"}, [3]float64{4, 2, 1}, ""},
		{"a,b,c,d\n1,2,3,4\n", Options{Columns: "d, b"}, [3]float64{}, "need three"},
		{"a,b,c,d\n1,2,3,4\n", Options{Columns: "d, b, e"}, [3]float64{}, `it has no column "e"`},
		{"a,b,c,d\n1,2,3,4\n", Options{Columns: "d, b, b"}, [3]float64{}, "column 2 is taken twice"},
		{"A title\n\na,b,c\n1,2,3\n", Options{Columns: "a,b,c"}, [3]float64{1, 2, 3}, ""},
	} {
		p, err := Read([]byte(c.text), c.opt)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, "%q %+v", c.text, c.opt)
			continue
		}
		require.NoError(t, err, "%q %+v", c.text, c.opt)
		require.Equal(t, [][3]float64{c.want}, p.Points, "%q %+v", c.text, c.opt)
	}
}

// TestBounds: bytes, points and names of files have bounds, and the errors say them.
func TestBounds(t *testing.T) {
	rows := func(n int) []byte {
		return []byte("x,y,value\n" + strings.Repeat("1,2,3\n", n) + strings.Repeat("1,2,\n", 100))
	}
	p, err := Read(rows(MaxPoints), Options{Name: "C:\\data\\a.csv"})
	require.NoError(t, err)
	require.Len(t, p.Points, MaxPoints)
	require.Equal(t, []string{"100 rows of a.csv without a value, left out"}, p.Notes)
	_, err = Read(rows(MaxPoints+1), Options{Name: "/tmp/a.csv"})
	require.EqualError(t, err, "a.csv has 2001 rows with a value: this page takes 2000 at most; equivcnp regress takes any number")
	_, err = Read(make([]byte, MaxBytes+1), Options{Name: strings.Repeat("é", 1000)})
	require.ErrorContains(t, err, strings.Repeat("é", 60)+"… has 2.1 MB: this page takes 2 MB and 2000 points at most")
}

// TestMemory: what is allocated for tables that are made to take much stays below Growth bytes a byte.
func TestMemory(t *testing.T) {
	const n = 1 << 20
	for _, text := range []string{
		strings.Repeat(",", n), strings.Repeat("a,", n/2), strings.Repeat("1,", n/2) + "\n", strings.Repeat("a\n", n/2),
		strings.Repeat("1,\n", n/3), strings.Repeat("1,2,3\n", n/6), strings.Repeat("a,b,c\n", n/6), strings.Repeat("1 ", n/2),
		strings.Repeat("a,", 1000) + "\n" + strings.Repeat(strings.Repeat("1,", 1000)+"\n", n/2002), strings.Repeat("\"\"\"\",", n/5),
		strings.Repeat("x", n), strings.Repeat("1%,2%,3%\n", n/9), strings.Repeat("1/2/2016,2,3\n", n/13), strings.Repeat("\n", n),
		strings.Repeat("é,é,\xe9\n", n/8), "a,b,c\n" + strings.Repeat("1,2,?\n", n/6), strings.Repeat("\xff", n),
		strings.Repeat("0,x,0\n", n/6),
		"a,b,c" + strings.Repeat(",", n/2) + "\n1,2,3" + strings.Repeat(",", n/2) + "\n",
	} {
		b := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(b, Options{Name: "a.csv"})
		runtime.ReadMemStats(&after)
		each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(b))
		t.Logf("%.0f bytes a byte of %.12q: %.80v", each, text, err)
		assert.Less(t, each, float64(Growth)*2, "%.12q", text) // all of it, half of which growing slices leave behind
	}
}

// FuzzRead: no table makes it panic, and what it reads are finite numbers in the bounds of the page.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(b, "", "", "")
	}
	f.Add([]byte("a,b,c,d\n1,2,3,4\n"), "d,b,1", ",", "dmy")
	f.Fuzz(func(t *testing.T, b []byte, columns, decimal, dates string) {
		before := bytes.Clone(b)
		p, err := Read(b, Options{Name: "a.csv", Columns: columns, Decimal: decimal, Dates: dates})
		require.Equal(t, before, b)
		if err != nil {
			return
		}
		require.NotEmpty(t, p.Points)
		require.LessOrEqual(t, len(p.Points), MaxPoints)
		_, err = json.Marshal(p)
		require.NoError(t, err)
	})
}
