package serve

import (
	"context"
	"os"
	"path/filepath"
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
		require.NoError(t, plan.Info().FileErr)
		if made == "" {
			made = plan.Info().File
		}
		require.Equal(t, made, plan.Info().File)
		release()
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
	}
}

// TestPlansDamaged: a damaged file of a plan is made anew, and costs its request nothing but time.
func TestPlansDamaged(t *testing.T) {
	dir := t.TempDir()
	im := images(rngOf(1), 1, 16, 16)
	want := wantImages(t, im)
	h, body := imagesBinary(t, nil, im)
	for n := range 4 {
		s := newServer(t, func(o *Options) { o.Models, o.Plans = testSources[:1], dir })
		for range 2 {
			w := do(s, "POST", "/v2/models/digits/infer", h, body)
			require.Equal(t, 200, w.Code, "%s", w.Body)
			sameBits(t, want.Mean, answerBinary(t, w.Header(), w.Body.Bytes())["mean"], "mean")
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, files, 1)
			path := filepath.Join(dir, files[0].Name())
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			switch n { // the second request finds the plan in memory
			case 0:
				b[len(b)/2] ^= 1
			case 1:
				b = b[:len(b)/2]
			case 2:
				b = []byte("garbage")
			}
			require.NoError(t, os.WriteFile(path, b, 0o600))
		}
	}
}
