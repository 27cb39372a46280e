package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

const weather = `station,day,lon,t2m
A,2024-01-01,0,1
B,2024-01-01,1,2
C,2024-01-01,2,3
A,2024-01-02,0,4
B,2024-01-02,1,
C,2024-01-02,2,6
C,2024-01-03,2,7
`

func TestSplitTable(t *testing.T) {
	table, err := tabular.Decode([]byte(weather), "w.csv")
	require.NoError(t, err)
	opt := CSVOptions{X: []string{"lon"}, Y: []string{"t2m"}, Task: "day"}
	for name, c := range map[string]struct {
		by          string
		share       float64
		train, test string // y of the tasks, and of their contexts
	}{
		"region":  {"lon=1.5:2.5", 0, "1 2|4", "3<1 2|6<4|7"},
		"time":    {"day=2024-01-02:2024-01-03", 0, "1 2 3", "4 6|7"},
		"both":    {"day=2024-01-02:2024-01-03,lon=0:1", 0, "1 2 3|6|7", "4<6"},
		"station": {"station", 0.3, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			by, err := ParseHoldoutRows(c.by, c.share, 5)
			require.NoError(t, err)
			train, test, err := SplitTable(table, opt, by)
			require.NoError(t, err)
			if name == "station" {
				require.Contains(t, train.Name, "but 1 of the 3 values of station drawn with seed 5, of w.csv")
				held := map[float64]bool{}
				for _, k := range test.Curves {
					for i, x := range k.X {
						held[x] = true
						if k.Context != nil {
							require.NotContains(t, k.Context.X, x, i)
						}
					}
				}
				require.Len(t, held, 1)
				for _, k := range train.Curves {
					for _, x := range k.X {
						require.False(t, held[x])
					}
				}
				again, _, err := SplitTable(table, opt, by)
				require.NoError(t, err)
				require.Equal(t, train, again)
				return
			}
			require.Equal(t, c.train, words(train))
			require.Equal(t, c.test, words(test))
		})
	}
	for by, words := range map[string]string{"": "need the name of a column", "lat=": "is no range", "lon=2:1": "is no range",
		"lon=a:b": "is no range", "lon=1:2,x": "is no range"} {
		_, err := ParseHoldoutRows(by, 0.1, 1)
		require.ErrorContains(t, err, words)
	}
	for by, words := range map[string]string{"place": `no column "place"`, "lon=8:9": "none are left to test on",
		"lon=0:9": "none are left to train on", "station=0:1": `"A" is not a number`} {
		h, err := ParseHoldoutRows(by, 0.5, 1)
		require.NoError(t, err)
		_, _, err = SplitTable(table, opt, h)
		require.ErrorContains(t, err, words)
	}
}

// words writes y of a set's tasks, and of their contexts if they have their own.
func words(s *CurveSet) string {
	var out []string
	for _, c := range s.Curves {
		text := digitsOf(c.Y)
		if c.Context != nil {
			text += "<" + digitsOf(c.Context.Y)
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

func digitsOf(v []float64) string {
	var out []string
	for _, x := range v {
		out = append(out, string(rune('0'+int(x))))
	}
	return strings.Join(out, " ")
}

// With gaps, points of a context may lack outputs; without, they are left out.
func TestSourceGaps(t *testing.T) {
	s, err := DecodeCSV(strings.NewReader("x,a,b\n0,1,2\n1,,3\n2,4,\n3,,\n"), "g.csv", CSVOptions{Y: []string{"a", "b"}})
	require.NoError(t, err)
	for gaps, want := range map[bool]int{true: 3, false: 1} {
		b, err := CurveSetSource[float32]{Set: s, MinContext: 9, MaxContext: 9, Gaps: gaps}.Batch(1, 1, 0)
		require.NoError(t, err)
		require.Equal(t, want, b.Curves.Nc)
		require.Equal(t, 3, b.Curves.Nt)
		require.Equal(t, []bool{true, true, false, true, true, false}, b.Known)
	}
}
