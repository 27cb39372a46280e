package cli

import (
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPackagedVersion: what a packager gives the linker is the version, and the pages that tell packagers how name that variable: a linker
// says nothing of one that does not exist.
func TestPackagedVersion(t *testing.T) {
	require.NotEmpty(t, BuildVersion())
	packaged = "v0.1.0"
	defer func() { packaged = "" }()
	require.Equal(t, "v0.1.0", BuildVersion())
	for _, file := range []string{"deploy/Dockerfile", "CONTRIBUTING.md"} {
		text, err := os.ReadFile("../../" + file)
		require.NoError(t, err)
		require.Contains(t, string(text), "-X "+reflect.TypeFor[UsageError]().PkgPath()+".packaged=", file)
	}
}
