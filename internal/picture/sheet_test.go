package picture

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSheet: every panel's pixels stand where the layout has them, blank places stay blank, labels fit.
func TestSheet(t *testing.T) {
	require.NotPanics(t, func() { (&Sheet{Scale: 1}).Draw() })
	s := Sheet{Title: "two lines\nof a title", Scale: 3, Rows: [][]Panel{
		{{Label: "a", C: 1, H: 2, W: 4, Pix: []float32{0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1}}, {}},
		{{C: 3, H: 1, W: 2, Pix: []float32{1, 0, 0, 1, 0, 0}}, {Label: "a wide label", C: 1, H: 1, W: 2, Pix: []float32{0.5, 0.5},
			Mask: []bool{true, false}}},
		{{C: 1, H: 1, W: 2, Pix: []float32{0, 2}, Spread: true, MaxSpread: 2}},
	}}
	im := s.Draw()
	w, h := s.Size()
	require.Equal(t, image.Rect(0, 0, w, h), im.Bounds())
	at := func(x, y int) color.NRGBA { return im.NRGBAAt(x, y) }
	top := margin + 2*lineHeight + titleGap + lineHeight + labelGap
	require.Equal(t, color.NRGBA{0, 0, 0, 255}, at(margin+1, top+1))
	require.Equal(t, color.NRGBA{51, 51, 51, 255}, at(margin+4, top+1))
	require.Equal(t, color.NRGBA{204, 204, 204, 255}, at(margin+1, top+4))
	require.Equal(t, faint, at(margin-1, top))
	second := margin + 3*4 + gap
	require.Equal(t, paper, at(second+1, top+1))
	top += 6 + gap + lineHeight + labelGap
	require.Equal(t, color.NRGBA{255, 0, 0, 255}, at(margin+1, top+1))
	require.Equal(t, color.NRGBA{0, 255, 0, 255}, at(margin+4, top+1))
	require.Equal(t, color.NRGBA{128, 128, 128, 255}, at(second+1, top+1))
	require.Equal(t, unobserved, at(second+4, top+1))
	top += 3 + gap
	require.Equal(t, shades()[0], at(margin+1, top+1))
	require.Equal(t, shades()[255], at(margin+4, top+1))
	require.Equal(t, top+3+margin, h)
	require.Equal(t, second+7*len("a wide label")+margin, w)
}
