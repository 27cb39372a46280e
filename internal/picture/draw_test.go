package picture

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/raster"
)

func nan() float32 { return float32(math.NaN()) }

func TestWritePNG(t *testing.T) {
	for _, c := range []struct {
		name    string
		c, h, w int
		in      []float32
		want    []float32
	}{
		{"grey", 1, 2, 2, []float32{0, 0.25, 1, 0.5}, nil},
		{"colour", 3, 1, 2, []float32{0, 0.25, 1, 0.5, 0.125, 0.75}, nil},
		{"clipped", 1, 1, 4, []float32{-3, 7, nan(), float32(math.Inf(1))}, []float32{0, 1, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WritePNG(&b, c.in, c.c, c.h, c.w))
			path := filepath.Join(t.TempDir(), "out.png")
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
			im, err := raster.Read(path)
			require.NoError(t, err)
			if c.want == nil {
				c.want = c.in
			}
			require.InDeltaSlice(t, c.want, im.Pix, 0.5/65535+1e-7)
			require.Equal(t, []int{c.c, c.h, c.w}, []int{im.C, im.H, im.W})
			require.False(t, im.Translucent)
		})
	}
	require.Panics(t, func() { WritePNG(&bytes.Buffer{}, make([]float32, 4), 2, 1, 2) })
	require.Panics(t, func() { WritePNG(&bytes.Buffer{}, make([]float32, 4), 1, 1, 2) })
}

// completion is a small example: a 3 x 2 image of which two pixels are observed.
func completion(channels int) *Completion {
	c := &Completion{Title: "a title", Scale: 5, Mask: []bool{true, false, false, false, true, false}}
	c.Truth = &raster.Image{C: channels, H: 2, W: 3}
	for i := range 6 * channels {
		c.Truth.Pix = append(c.Truth.Pix, float32(i%6)/5)
		c.Mean = append(c.Mean, float32(5-i%6)/5)
		c.Std = append(c.Std, 0.1+float32(i%6)/10)
	}
	return c
}

// The middle of each pixel in each panel has the colour of its value.
func TestDraw(t *testing.T) {
	for _, channels := range []int{1, 3} {
		c := completion(channels)
		im := c.Draw()
		w, h := c.Size()
		require.Equal(t, []int{w, h}, []int{im.Bounds().Dx(), im.Bounds().Dy()})
		grey := func(v float32) color.NRGBA {
			l := uint8(math.Round(255 * float64(v)))
			return color.NRGBA{l, l, l, 255}
		}
		top := margin + lineHeight + titleGap + lineHeight + labelGap
		for i := range 6 {
			at := func(panel int) color.NRGBA {
				return im.NRGBAAt(margin+panel*(cellWidth+gap)+i%3*5+2, top+i/3*5+2)
			}
			want := unobserved
			if c.Mask[i] {
				want = grey(c.Truth.Pix[i])
			}
			require.Equal(t, want, at(0), "context, pixel %d", i)
			require.Equal(t, grey(c.Mean[i]), at(1), "mean, pixel %d", i)
			require.Equal(t, shades()[51*i], at(2), "std, pixel %d", i)
			require.Equal(t, grey(c.Truth.Pix[i]), at(3), "truth, pixel %d", i)
		}
	}
}

func TestDrawOddSizes(t *testing.T) {
	for _, c := range []struct{ h, w, scale, width int }{
		{1, 1, 256, 2*margin + 4*256 + 3*gap},
		{64, 64, 4, 2*margin + 4*256 + 3*gap},
		{200, 1, 1, 2*margin + 4*cellWidth + 3*gap},
		{1, 300, 1, 2*margin + 4*300 + 3*gap},
	} {
		n := c.h * c.w
		d := &Completion{Truth: &raster.Image{C: 1, H: c.h, W: c.w, Pix: make([]float32, n)}, Mask: make([]bool, n),
			Mean: make([]float32, n), Std: make([]float32, n)}
		require.Equal(t, c.scale, d.scale())
		require.Equal(t, c.width, d.Draw().Bounds().Dx())
	}
	d := completion(1)
	d.Title = strings.Repeat("long ", 200)
	require.Equal(t, 2*margin+7*1000, d.Draw().Bounds().Dx(), "the title fits")
}

func TestDrawNotANumber(t *testing.T) {
	c := completion(1)
	c.Mean[0], c.Std[0], c.Std[1] = nan(), nan(), float32(math.Inf(1))
	im := c.Draw()
	top := margin + lineHeight + titleGap + lineHeight + labelGap
	require.Equal(t, notNumber, im.NRGBAAt(margin+cellWidth+gap+2, top+2))
	require.Equal(t, notNumber, im.NRGBAAt(margin+2*(cellWidth+gap)+2, top+2))
	require.Equal(t, shades()[255], im.NRGBAAt(margin+2*(cellWidth+gap)+7, top+2), "infinite")
}

// The scale of the standard deviation gets lighter from end to end, so it reads without colour too. Lightness is
// CIE L*, 0 to 100; half a unit is what rounding to 8 bits can take back.
func TestShadesGrowLighter(t *testing.T) {
	linear := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	last := 0.0
	for i, c := range shades() {
		y := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
		l := 116*math.Cbrt(y) - 16
		if y <= 216./24389 {
			l = 24389. / 27 * y
		}
		if !(l >= last-0.5) {
			t.Errorf("shade %d has lightness %.2f after %.2f", i, l, last)
		}
		last = max(last, l)
	}
	require.Greater(t, last, 99.0)
}

func curve(n int) Curve {
	c := Curve{XLabel: "x", YLabel: "y", ContextX: []float64{0, 1, 1}, ContextY: []float64{1, 2, 2}}
	for i := range n {
		c.X = append(c.X, float64(n-i))
		c.Mean = append(c.Mean, math.Sin(float64(i)))
		c.Std = append(c.Std, 0.5)
	}
	return c
}

func TestWriteCurves(t *testing.T) {
	none := Curve{XLabel: "x", YLabel: "y"}
	for _, c := range []struct {
		name   string
		curves []Curve
	}{
		{"one", []Curve{curve(50)}},
		{"two", []Curve{curve(50), curve(50)}},
		{"a single target", []Curve{curve(1)}},
		{"no targets", []Curve{curve(0)}},
		{"nothing at all", []Curve{none}},
		{"no curves", nil},
		{"truth and marks", []Curve{{X: []float64{1, 0}, Mean: []float64{2, 1}, Std: []float64{1, 1}, Truth: []float64{2, 0},
			Title: "a", MarkTo: 1}}},
		{"constant", []Curve{{X: []float64{0, 1}, Mean: []float64{2, 2}, Std: []float64{0, 0}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b, again, svg bytes.Buffer
			require.NoError(t, WriteCurves(&b, "png", "title", c.curves))
			require.NoError(t, WriteCurves(&again, "png", "title", c.curves))
			require.Equal(t, b.Bytes(), again.Bytes(), "equal input, equal file")
			im, err := png.Decode(&b)
			require.NoError(t, err)
			require.Equal(t, 960, im.Bounds().Dx())
			require.Equal(t, 540*max(1, len(c.curves)), im.Bounds().Dy())
			require.NoError(t, WriteCurves(&svg, "svg", "title", c.curves))
			require.Contains(t, svg.String(), "</svg>")
		})
	}
	bad := curve(3)
	bad.Std[1] = math.NaN()
	require.ErrorContains(t, WriteCurves(&bytes.Buffer{}, "png", "", []Curve{bad}), "the prediction at x = 2 is not finite")
	require.ErrorContains(t, WriteCurves(&bytes.Buffer{}, "gif", "", nil), `"gif"`)
	require.ErrorContains(t, WriteCurves(failing{}, "svg", "", []Curve{curve(3)}), "disk full")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// The band is drawn by ascending x whatever the order of the targets.
func TestCurveSorted(t *testing.T) {
	c := Curve{X: []float64{2, 0, 1}, Mean: []float64{20, 0, 10}, Std: []float64{2, 0.5, 1}}
	mean, upper, lower := c.sorted()
	for i := range 3 {
		require.Equal(t, float64(10*i), mean[i].Y)
		require.Equal(t, 2*[]float64{0.5, 1, 2}[i], upper[i].Y-mean[i].Y)
		require.Equal(t, upper[i].Y-mean[i].Y, mean[i].Y-lower[i].Y)
	}
}

func TestCurveFormat(t *testing.T) {
	for path, want := range map[string]string{"a.png": "png", "b/c.SVG": "svg", "a.gif": "", "png": ""} {
		got, err := CurveFormat(path)
		require.Equal(t, want, got)
		require.Equal(t, want == "", err != nil)
	}
}

// TestGlobe: every place is drawn where it lies: the projection and its inverse agree, and areas are equal.
func TestGlobe(t *testing.T) {
	places := GlobePlaces()
	south, cap := 0, 0
	for _, p := range places {
		x, y := mollweide(p)
		back, ok := mollweideInverse(x, y)
		require.True(t, ok)
		require.InDelta(t, p[0], back[0], 1e-6)
		require.InDelta(t, p[1], back[1], 1e-6)
		if p[0] < 0 {
			south++
		}
		if p[0] > 60 {
			cap++
		}
	}
	require.Equal(t, len(places), 2*south)
	require.InEpsilon(t, (1-math.Sin(math.Pi/3))/2, float64(cap)/float64(len(places)), 0.02)
	g := &Globe{Title: "globe", Label: "y", Places: [][2]float64{{90, 0}, {0, 180}, {-45, -180}}, Values: []float64{1, 2, 3}}
	require.NotPanics(t, func() { g.Draw() }, "without a prediction")
	for i := range places {
		g.Mean, g.Std = append(g.Mean, float64(i)), append(g.Std, math.NaN())
	}
	var png, svg bytes.Buffer
	require.NoError(t, WriteGlobes(&png, "png", g, g))
	require.NoError(t, WriteGlobes(&svg, "svg", g))
	require.True(t, bytes.HasPrefix(svg.Bytes(), []byte("<svg")))
}
