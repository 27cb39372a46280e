package pretrained

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// contextOf finds the numbers of context points of a description of tasks.
var contextOf = regexp.MustCompile(`([0-9]+) to ([0-9]+) (?:context points|of them context)`)

// TestTrainedContext: what a model says it was trained on goes with the tasks that it names. Contexts that are denser are thinned, so a
// model that names less than it has seen loses accuracy: vectors-curl-free, which named 25 points instead of 15 to 600, lost 0.15 to
// 0.24 nats a value in contexts of 150 to 560 points.
func TestTrainedContext(t *testing.T) {
	checked := 0
	for _, name := range Names() {
		i, err := About(name)
		require.NoError(t, err)
		m := contextOf.FindStringSubmatch(i.Tasks)
		if m == nil || i.Config.Trained == nil {
			continue
		}
		least, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		most, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		checked++
		got := i.Config.Trained.Context
		require.GreaterOrEqual(t, got[0], least, "%s: %s", name, i.Tasks)
		require.LessOrEqual(t, got[0], 2*least+1, "%s: %s", name, i.Tasks)
		require.GreaterOrEqual(t, got[1], most*9/10, "%s: %s", name, i.Tasks)
	}
	require.GreaterOrEqual(t, checked, 6)
}
