package recipe

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers of lifts, and of angles and scales.
func TestParseLifts(t *testing.T) {
	for text, want := range map[string]Lifts{"4": {4, 0}, "1": {1, 0}, "4x3": {12, 3}, "2X1": {2, 1}} {
		l, err := ParseLifts(text)
		require.NoError(t, err)
		require.Equal(t, want, l)
		again, err := ParseLifts(l.String())
		require.NoError(t, err)
		require.Equal(t, l, again)
	}
	for _, bad := range []string{"", "x", "4x", "x3", "4x0", "-1", "4x-3", "4x3x2", "9999999", "1x99999", "four"} {
		_, err := ParseLifts(bad)
		require.Error(t, err, bad)
	}
}
