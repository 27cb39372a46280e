package cli

import (
	"bytes"
	"io"
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
