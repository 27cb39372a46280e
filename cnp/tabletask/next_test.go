package tabletask

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

func TestNext(t *testing.T) {
	for name, c := range map[string]struct {
		column, want, said string
	}{
		"numbers":             {"0 0.1 0.2 0.4 0.5", "0.6 0.7 0.8", "0.1"},
		"in any order, twice": {"3 1 2 2 5 4", "6 7 8", "1"},
		"rounded years":       {"1949.000 1949.083 1949.167 1949.250 1949.333 1949.417", "1949.5 1949.584 1949.667", "0.0834"},
		"tens of thousands":   {"10000 20000 30000", "40000 50000 60000", "10000"},
		"days":                {"2024-02-26 2024-02-27 2024-02-28", "2024-02-29 2024-03-01 2024-03-02", "1 day"},
		"weeks":               {"2024-02-12 2024-02-19 2024-03-04", "2024-03-11 2024-03-18 2024-03-25", "7 days"},
		"working days":        {"2024-02-22 2024-02-23 2024-02-26 2024-02-27", "2024-02-28 2024-02-29 2024-03-01", "1 day"},
		"months":              {"2023-11-01 2023-12-01 2024-01-01", "2024-02-01 2024-03-01 2024-04-01", "1 month"},
		"ends of months":      {"2023-11-30 2023-12-31 2024-01-31", "2024-02-29 2024-03-31 2024-04-30", "1 month"},
		"middles of quarters": {"2023-05-15 2023-08-15 2023-11-15", "2024-02-15 2024-05-15 2024-08-15", "3 months"},
		"years":               {"2021-07-01 2022-07-01 2023-07-01", "2024-07-01 2025-07-01 2026-07-01", "1 year"},
		"hours":               {"2024-02-28T22:00 2024-02-28T23:00", "2024-02-29T00:00 2024-02-29T01:00 2024-02-29T02:00", "1 hour"},
		"20 s": {"2024-02-28T21:00:00 2024-02-28T21:00:20",
			"2024-02-28T21:00:40 2024-02-28T21:01:00 2024-02-28T21:01:20", "20 seconds"},
		"years to two places": {"1990.00 1990.08 1990.17 1990.25 1990.33 1990.42 1990.50", "1990.58 1990.67 1990.75", "0.083"},
		"no weekends": {"2024-02-15 2024-02-16 2024-02-19 2024-02-20 2024-02-21 2024-02-22 2024-02-23 2024-02-26 2024-02-27 2024-02-28 " +
			"2024-02-29", "2024-03-01 2024-03-04 2024-03-05", "1 day without Saturdays and Sundays"},
		"no Mondays": {"2024-02-15 2024-02-16 2024-02-17 2024-02-18 2024-02-20 2024-02-21 2024-02-22 2024-02-23 2024-02-24 2024-02-25 " +
			"2024-02-27 2024-02-28 2024-02-29 2024-03-02", "2024-03-03 2024-03-05 2024-03-06", "without Mondays"},
		"last working days":  {"2023-09-29 2023-10-31 2023-11-30 2023-12-29 2024-01-31", "2024-02-29 2024-03-31 2024-04-30", "1 month"},
		"first working days": {"2023-09-01 2023-10-02 2023-11-01 2023-12-01 2024-01-02", "2024-02-01 2024-03-01 2024-04-01", "1 month"},
		"the 30th":           {"2023-12-30 2024-01-30 2024-02-29 2024-03-30 2024-04-30", "2024-05-30 2024-06-30 2024-07-30", "1 month"},
		"middles of months": {"2023-01-16T12:00 2023-02-15T00:00 2023-03-16T12:00 2023-04-16T00:00",
			"2023-05-16T12:00 2023-06-16T00:00 2023-07-16T12:00", "1 month"},
		"twice a month": {"2023-11-01 2023-11-15 2023-12-01 2023-12-15 2024-01-01 2024-02-01 2024-02-15",
			"2024-03-01 2024-03-15 2024-04-01", "days 1 and 15 of each month"},
		"15th and last": {"2023-11-15 2023-11-30 2023-12-15 2023-12-31 2024-01-15 2024-01-31", "2024-02-15 2024-02-29 2024-03-15",
			"days 15 and the last of each month"},
		"dekads": {"2023-12-11 2023-12-21 2024-01-01 2024-01-11 2024-01-21 2024-02-01", "2024-02-11 2024-02-21 2024-03-01",
			"days 1, 11 and 21 of each month"},
		"every week of a short month": {"2023-02-01 2023-02-08 2023-02-15 2023-02-22 2023-03-01 2023-03-08 2023-03-15 2023-03-22",
			"2023-03-29 2023-04-05 2023-04-12", "7 days"},
		"every fourth week": {"2024-01-05 2024-02-02 2024-03-01 2024-03-29", "2024-04-26 2024-05-24 2024-06-21", "28 days"},
		"years of weeks": {"2019-02-02 2020-02-01 2021-01-30 2022-01-29 2023-01-28 2024-02-03 2025-02-01",
			"2026-01-31 2027-01-30 2028-02-05", "365.167 days"},
		"summer time": {"2024-03-29T23:00:00Z 2024-03-30T23:00:00Z 2024-03-31T22:00:00Z 2024-04-01T22:00:00Z",
			"2024-04-02T22:00:00Z 2024-04-03T22:00:00Z 2024-04-04T22:00:00Z", "1 day"},
		"quarters of seconds": {"2024-02-28T21:00:00.25 2024-02-28T21:00:00.50",
			"2024-02-28T21:00:00.75 2024-02-28T21:00:01.00 2024-02-28T21:00:01.25", "0.25 seconds"},
		"counted":                 {"202201 202202 202203", "202204 202205 202206", "1"},
		"nanoseconds, in seconds": {"0 1e-09 2e-09 3e-09", "4e-09 5e-09 6e-09", "1e-09"},
		"tiny":                    {"0 1.5e-20 3e-20 4.5e-20", "6e-20 7.5e-20 9e-20", "1.5e-20"},
		"uneven":                  {"0 1 3 9 10.5", "12 13.5 15", "median"},
		"odd gap":                 {"0 1 2 3.4 4.4", "5.4 6.4 7.4", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := tabular.Read(strings.NewReader("x,y\n"+strings.ReplaceAll(c.column, " ", ",1\n")+",1\n"), "t.csv")
			require.NoError(t, err)
			cfg := &cnp.Config{DimX: 1, DimY: 1}
			tasks, err := TasksOf(&TasksOptions{Next: 3}, cfg, in)
			require.NoError(t, err)
			require.Contains(t, strings.Join(tasks.said, ""), c.said)
			var got strings.Builder
			require.NoError(t, tabular.Write(&got, tasks.places, ','))
			require.Equal(t, "x "+c.want, strings.Join(strings.Fields(got.String()), " "))
		})
	}
}

// TestNextOfTasks: each task goes on behind its own last row that has a value, at the distance of all.
func TestNextOfTasks(t *testing.T) {
	in, err := tabular.Read(strings.NewReader("site,t,y\na,0,1\na,2,1\na,4,1\nb,10,1\nc,6,1\nc,8,\nd,3,\n"), "t.csv")
	require.NoError(t, err)
	o := &TasksOptions{Next: 2}
	o.X, o.Y, o.Task = []string{"t"}, []string{"y"}, "site"
	tasks, err := TasksOf(o, &cnp.Config{DimX: 1, DimY: 1}, in)
	require.NoError(t, err)
	require.Equal(t, []float64{6, 8, 12, 14, 8, 10, 12, 14}, tasks.places.Values) // d, of which nothing is known, like the last of all
	for k, want := range [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}} {
		require.Equal(t, want, tasks.targets[k])
	}
	out := tasks.base()
	require.Equal(t, "b", out.Cell(2, 0))
	require.Equal(t, 12.0, out.Values[2*out.Cols+1])
}

// TestNextOfOtherCalendars: times of a calendar that is not read go on as the numbers that they are.
func TestNextOfOtherCalendars(t *testing.T) {
	in, err := tabular.Read(strings.NewReader("time,y\n360,1\n365,2\n370,3\n"), "t.csv")
	require.NoError(t, err)
	in.Units, in.Calendars = []string{"days since 2000-01-01", ""}, []string{"noleap", ""}
	o := &TasksOptions{Next: 2}
	o.X, o.Y = []string{"time"}, []string{"y"}
	tasks, err := TasksOf(o, &cnp.Config{DimX: 1, DimY: 1}, in)
	require.NoError(t, err)
	require.Equal(t, []float64{375, 380}, tasks.places.Values)
	require.Equal(t, "noleap", tasks.places.Calendars[0])
}

func TestNextErrors(t *testing.T) {
	for name, c := range map[string]struct {
		csv, want string
		next, dx  int
	}{
		"one value":      {"x,y\n1,2\n", "two different values", 3, 1},
		"equal values":   {"x,y\n1,2\n1,3\n", "two different values", 3, 1},
		"no rows":        {"x,y\n", "two different values", 3, 1},
		"two inputs":     {"x1,x2,y\n1,2,3\n2,3,4\n", "has 2 inputs", 3, 2},
		"negative":       {"x,y\n1,2\n2,3\n", "need 1 to", -1, 1},
		"too many":       {"x,y\n1,2\n2,3\n", "need 1 to", math.MaxInt, 1},
		"months":         {"x,y\n202211,2\n202212,3\n202301,3\n", "like 2022-12", 3, 1},
		"days":           {"x,y\n20221130,2\n20221201,3\n", "like 2022-12-31", 3, 1},
		"hours":          {"x,y\n2022113022,2\n2022113023,3\n", "like 2022-12-31 18:00", 3, 1},
		"minutes":        {"x,y\n202211302250,2\n202211302255,3\n", "like 2022-12-31 18:30", 3, 1},
		"year 10000":     {"x,y\n9999-11-30,2\n9999-12-31,3\n", "beyond the year 9999", 3, 1},
		"beyond numbers": {"x,y\n-1.7e308,2\n1.7e308,3\n", "beyond all numbers", 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := tabular.Read(strings.NewReader(c.csv), "t.csv")
			require.NoError(t, err)
			_, err = TasksOf(&TasksOptions{Next: c.next}, &cnp.Config{DimX: c.dx, DimY: 1}, in)
			require.ErrorContains(t, err, c.want)
		})
	}
}
