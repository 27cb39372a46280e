package serve

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlansFolder: a server finds the plans of the one before it.
func TestPlansFolder(t *testing.T) {
	dir := t.TempDir()
	var made string
	for range 2 {
		s := newServer(t, func(o *Options) { o.Plans = dir })
		plan, release, err := s.plans.get(context.Background(), lane{model: (*s.models.Load())["digits"], h: 16, w: 16})
		require.NoError(t, err)
		require.NoError(t, plan.members[0].Info().FileErr)
		if made == "" {
			made = plan.members[0].Info().File
		}
		require.Equal(t, made, plan.members[0].Info().File)
		release()
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
	}
}
