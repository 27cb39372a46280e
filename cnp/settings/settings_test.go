package settings_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

func flag(field string) string { return "--" + strings.ToLower(field) }

// TestNamed: the names of fields are replaced, also those of an error within another, and no other braces.
func TestNamed(t *testing.T) {
	inner := settings.Errorf("{Rows} %d: need 1 to %d, not {x}", 0, 9)
	require.EqualError(t, inner, "Rows 0: need 1 to 9, not {x}")
	outer := settings.Hintf("%w ({Columns} says which)", inner)
	require.EqualError(t, outer, "Rows 0: need 1 to 9, not {x} (Columns says which)")
	var named settings.Named
	require.ErrorAs(t, fmt.Errorf("file: %w", outer), &named)
	require.Equal(t, "--rows 0: need 1 to 9, not {x} (--columns says which)", named.Named(flag))
	var bad *settings.Error
	require.ErrorAs(t, outer, &bad, "a cause keeps its kind")
	require.Equal(t, "--rows 0: need 1 to 9, not {x}", bad.Named(flag))
}

func TestWrap(t *testing.T) {
	require.NoError(t, settings.Wrap(nil))
	err := settings.Wrap(io.EOF)
	require.ErrorIs(t, err, io.EOF)
	var bad *settings.Error
	require.True(t, errors.As(err, &bad))
	var hint *settings.Hint
	require.False(t, errors.As(err, &hint))
}

// ExampleErrorf shows the text of an error for users of a library and of a program.
func ExampleErrorf() {
	err := settings.Errorf("{Rows} %d: need at least 1", 0)
	fmt.Println(err)
	fmt.Println(err.(settings.Named).Named(flag))
	// Output:
	// Rows 0: need at least 1
	// --rows 0: need at least 1
}
