package mappoints

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzSeries: whatever visitors paste is a series within the bounds, of finite numbers and in the order of time, or an error in the page's
// words.
func FuzzSeries(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds: ", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 4<<10 {
			f.Add(b, "", "", "", "")
		}
	}
	f.Add([]byte("shop;day;sold\na;1/2/1999;1,5\nb;2/2/1999;-1\n"), "day,sold", ",", "dmy", "-1")
	f.Fuzz(func(t *testing.T, b []byte, columns, decimal, dates, missing string) {
		opt := Options{Name: "table", Columns: columns, Decimal: decimal, Dates: dates, Missing: missing}
		s, err := ReadSeries(b, opt)
		if err != nil {
			inPageWords(t, err)
			return
		}
		if n := len(s.Points); n == 0 || n > MaxPoints || len(s.Ahead) > MaxAhead {
			t.Fatalf("%d points, %d ahead", n, len(s.Ahead))
		}
		x := []float64{}
		for _, v := range s.Points {
			finite(t, v[:])
			x = append(x, v[0])
		}
		finite(t, s.Ahead)
		if !slices.IsSorted(append(x, s.Ahead...)) {
			t.Fatalf("%v, and %v ahead: not in order", x, s.Ahead)
		}
	})
}

func finite(t *testing.T, v []float64) {
	for _, x := range v {
		if math.IsNaN(x - x) {
			t.Fatalf("%v: not finite", v)
		}
	}
}

func inPageWords(t *testing.T, err error) {
	if strings.Contains(err.Error(), " --x") || strings.Contains(err.Error(), "say --") {
		t.Fatalf("%v: the page has no flags", err)
	}
}
