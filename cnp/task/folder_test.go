package task

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture returns a w x h image of one colour.
func picture(w, h int, c color.Color) image.Image {
	im := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		im.Set(i%w, i/w, c)
	}
	return im
}

// TestReadFolder: images of any format and depth below the folder, in order; others and those of another size are named.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	encode := func(im image.Image) []byte {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, im))
		return b.Bytes()
	}
	grey, red := color.Gray{51}, color.NRGBA{255, 0, 0, 255}
	write("b.png", encode(picture(3, 2, red)))
	write("a.PNG", encode(picture(3, 2, grey)))
	write("sub/c.jpeg", func() []byte {
		var b bytes.Buffer
		require.NoError(t, jpeg.Encode(&b, picture(3, 2, grey), &jpeg.Options{Quality: 100}))
		return b.Bytes()
	}())
	write("odd.png", encode(picture(2, 3, grey)))
	write("text.png", []byte("no image"))
	write("notes.txt", []byte("notes"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.png"), 0o700))

	s, err := ReadFolder(dir, FolderOptions{Channels: 1})
	require.NoError(t, err)
	require.Equal(t, []int{3, 1, 2, 3}, []int{s.N, s.C, s.H, s.W})
	require.InDelta(t, 0.2, s.Image(0)[0], 1e-6)
	require.InDelta(t, 0.299, s.Image(1)[5], 1e-6)
	require.InDelta(t, 0.2, s.Image(2)[3], 0.01)
	require.Len(t, s.Skipped, 2)
	require.Contains(t, s.Skipped[0], "odd.png")
	require.Contains(t, s.Skipped[0], "2 x 3 pixels, the first image has 3 x 2")
	require.Contains(t, s.Skipped[1], "text.png")

	s, err = ReadFolder(dir, FolderOptions{Channels: 3, H: 3, W: 2})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3, 3, 2}, []int{s.N, s.C, s.H, s.W})
	require.Len(t, s.Skipped, 4)
	require.Contains(t, s.Skipped[0], "3 x 2 pixels, wanted are 2 x 3")

	s, err = ReadFolder(dir, FolderOptions{Channels: 3, H: 2, W: 2, Resize: true})
	require.NoError(t, err)
	require.Equal(t, []int{4, 3, 2, 2}, []int{s.N, s.C, s.H, s.W})
	require.Len(t, s.Skipped, 1, "the text alone")
	require.InDelta(t, 0.2, s.Image(0)[0], 1e-6)
	require.Equal(t, dir+" with 4 resized", s.Name)
	_, err = ReadFolder(dir, FolderOptions{Channels: 3, Resize: true})
	require.ErrorIs(t, err, ErrData)

	_, err = ReadFolder(dir, FolderOptions{Channels: 1, H: 9, W: 9})
	require.ErrorIs(t, err, ErrData)
	require.ErrorContains(t, err, "none of 5 images is usable")
	write("sub/odd2.png", encode(picture(2, 3, grey)))
	write("sub/odd3.png", encode(picture(3, 3, grey)))
	s, err = ReadFolder(dir, FolderOptions{Channels: 1})
	require.NoError(t, err, "half of the images have the size of the first")
	require.Len(t, s.Skipped, 4)
	write("sub/odd4.png", encode(picture(4, 3, grey)))
	_, err = ReadFolder(dir, FolderOptions{Channels: 1})
	require.ErrorIs(t, err, ErrData)
	require.ErrorContains(t, err, "4 have not the 3 x 2 pixels of the first, "+filepath.Join(dir, "a.PNG"))
	s, err = ReadFolder(dir, FolderOptions{Channels: 1, H: 2, W: 3})
	require.NoError(t, err, "whoever names a size wants the others left out")
	require.Equal(t, 3, s.N)

	_, err = ReadFolder(t.TempDir(), FolderOptions{Channels: 1})
	require.ErrorContains(t, err, "no PNG, JPEG or TIFF image in it")
	_, err = ReadFolder(filepath.Join(dir, "missing"), FolderOptions{Channels: 1})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFolder(dir, FolderOptions{Channels: 2})
	require.ErrorContains(t, err, "2 channels")
}
