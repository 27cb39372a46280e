package cli

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStepLines: a run that no terminal watches says every so often how far it is and how long it will take.
func TestStepLines(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	report := stepLines(&out, 3600, func() time.Time { return clock })
	for step := 601; step <= 3600; step++ { // continued; a step takes two seconds
		clock = clock.Add(2 * time.Second)
		report(step, "loss", step%1000 == 0)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "step 605 of 3600, 100 min left: loss", lines[0])
	require.Contains(t, lines, "step 2000 of 3600, 53 min left: loss", "a score has a line")
	require.Regexp(t, `^step 3[0-9]+ of 3600, [0-9]+ (s|min) left`, lines[len(lines)-1])
	require.Less(t, len(lines), 120)
	require.Greater(t, len(lines), 40)

	out.Reset()
	for _, c := range []struct{ quiet, lines bool }{{true, true}, {false, false}} {
		report, remove := Steps(&out, 10, c.quiet, c.lines)
		report(1, "loss", true)
		remove()
	}
	require.Empty(t, out.String())
	report, _ = Steps(io.Discard, 10, false, true)
	report(1, "loss", true)
}

// TestTaskLines: a measurement that no terminal watches says every so often how far it is and how long it will take.
func TestTaskLines(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	lines := taskLines(&out, func() time.Time { return clock })
	report := func(done, total int) { lines("table2", done, total) }
	for done := 600; done <= 1000; done += 8 { // 600 by an earlier run; a task takes half a second
		report(done, 1000)
		clock = clock.Add(4 * time.Second)
	}
	written := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "task 624 of 1000, 3 min left: table2", written[0])
	require.Regexp(t, "^task 9[0-9]+ of 1000, [0-9]+ s left: table2$", written[len(written)-1])
	require.Less(t, len(written), 20)

	out.Reset()
	for _, what := range []string{"measuring", "measuring", "moving"} { // stages, of which each takes two minutes
		for done := range 100 {
			lines(what, done, 100)
			clock = clock.Add(1200 * time.Millisecond)
		}
	}
	found := regexp.MustCompile("(?m)^task ([0-9]+) of 100, ([0-9]+) s left: (.*)$").FindAllStringSubmatch(out.String(), -1)
	require.Greater(t, len(found), 30, "%s", &out)
	for _, line := range found {
		done, left := number(line[1]), number(line[2])
		require.InDelta(t, 120, left+1.2*done, 3, line[0])
		require.Contains(t, []string{"measuring", "moving"}, line[3])
	}
	require.Equal(t, "moving", found[len(found)-1][3])

	out.Reset()
	report, _ = Tasks(&out, "table2", true, true)
	require.Nil(t, report, "quiet")
	report, _ = Tasks(&out, "table2", false, false)
	require.Nil(t, report, "JSON")
	report, _ = Tasks(&out, "table2", false, true)
	report(1, 2)
	require.Empty(t, out.String(), "nothing in the first ten seconds")
}
