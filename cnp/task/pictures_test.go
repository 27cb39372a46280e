package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func total(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum
}

// TestDigitArea: a digit's ink is the area of its segments, wherever it is and however it is turned, and scales with the
// square of the scale.
func TestDigitArea(t *testing.T) {
	motions := map[string]Motion{
		"still": Still, "turned": {Angle: 0.7, Scale: 1}, "small": {Angle: -1.5, Scale: 0.3},
		"moved": {Angle: 3, Scale: 0.4, ShiftY: 7.3, ShiftX: -9.9},
	}
	for digit, letters := range lit {
		want := 0.0
		for _, l := range letters {
			want += area(segments[l-'a']) * 56 * 56
		}
		for name, m := range motions {
			dst := make([]float32, 64*64)
			dst[0] = 9 // what was there does not count
			DrawDigit(dst, 64, 64, 56, digit, m)
			require.InDelta(t, want*m.Scale*m.Scale, total(dst), 1e-3, "%d %s", digit, name)
			for _, v := range dst {
				require.True(t, v >= 0 && v <= 1)
			}
		}
	}
}

// TestDigitShape: segments touch nowhere, every digit fills its height, and a segment's points lie where its letter says.
func TestDigitShape(t *testing.T) {
	im := make([]float32, 64*64)
	at := func(y, x float64) float32 { return im[int(32+56*y)*64+int(32+56*x)] }
	in, w := digitStroke/2, digitWidth/2-digitStroke/2
	places := map[rune]point{'a': {-0.5 + in, 0}, 'b': {-0.25, w}, 'c': {0.25, w}, 'd': {0.5 - in, 0}, 'e': {0.25, -w},
		'f': {-0.25, -w}, 'g': {0, 0}}
	for digit, letters := range lit {
		DrawDigit(im, 64, 64, 56, digit, Still)
		on := map[rune]bool{}
		for _, l := range letters {
			on[l] = true
		}
		for l, p := range places {
			require.Equal(t, on[l], at(p.y, p.x) == 1, "%d segment %c", digit, l)
		}
		require.Zero(t, total(im[:4*64]))
		require.Zero(t, total(im[60*64:]))
		require.Positive(t, im[4*64+32]+im[4*64+47]+im[5*64+47], "%d reaches up to the fourth row", digit)
	}
	// The parts of an 8, one by one, add up to it: no two overlap, and no pixel is full across a gap.
	DrawDigit(im, 64, 64, 56, 8, Still)
	require.Less(t, total(im), 56*56*(6*digitWidth*digitStroke+digitStroke))
	require.Panics(t, func() { DrawDigit(im, 63, 64, 56, 8, Still) })
}

// TestDigitTurns: a quarter turn of a digit is the digit turned by a quarter, pixel by pixel.
func TestDigitTurns(t *testing.T) {
	const n = 32
	a, b := make([]float32, n*n), make([]float32, n*n)
	DrawDigit(a, n, n, 24, 5, Still)
	DrawDigit(b, n, n, 24, 5, Motion{Angle: math.Pi / 2, Scale: 1})
	for y := range n {
		for x := range n {
			require.InDelta(t, a[y*n+x], b[(n-1-x)*n+y], 1e-5) // the right goes up
		}
	}
}

// TestMove: a whole shift moves pixels, a quarter turn turns them, shrinking averages, and what comes from outside is black.
func TestMove(t *testing.T) {
	const h, w = 5, 5
	rng := rand.New(rand.NewPCG(1, 1))
	src, dst := make([]float32, 2*h*w), make([]float32, 2*h*w)
	for i := range src {
		src[i] = rng.Float32()
	}
	Move(dst, src, 2, h, w, Still)
	require.InDeltaSlice(t, src, dst, 1e-7)
	Move(dst, src, 2, h, w, Motion{Scale: 1, ShiftY: 1, ShiftX: -2})
	for i := range dst {
		c, y, x := i/(h*w), i/w%h-1, i%w+2
		want := float32(0)
		if y >= 0 && x < w {
			want = src[c*h*w+y*w+x]
		}
		require.InDelta(t, want, dst[i], 1e-6)
	}
	Move(dst, src, 2, h, w, Motion{Scale: 1, Angle: math.Pi / 2})
	for i := range dst {
		c, y, x := i/(h*w), i/w%h, i%w
		require.InDelta(t, src[c*h*w+x*w+(w-1-y)], dst[i], 1e-6)
	}
	even := make([]float32, 16)
	for i := range even {
		even[i] = 1
	}
	small := make([]float32, 16)
	Move(small, even, 1, 4, 4, Motion{Scale: 0.5})
	require.InDelta(t, 4, total(small), 0.5, "a quarter of the area, blurred at the edge")
	require.InDelta(t, 1, small[5], 0.25)
	require.Panics(t, func() { Move(small, even, 2, 4, 4, Still) })
}

func TestMotionInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	r := Motions{MaxAngle: math.Pi, MinScale: 0.1, MaxScale: 10, MaxShift: 5}
	for range 100 {
		m, y, x := r.Draw(rng), rng.NormFloat64(), rng.NormFloat64()
		gy, gx := m.backward(m.forward(y, x))
		require.InDelta(t, y, gy, 1e-12)
		require.InDelta(t, x, gx, 1e-12)
	}
}

// TestPaperMotions: the test digits have 0.3 to 0.45 of the height of those in training, and are turned both ways.
func TestPaperMotions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	lo, hi, left, right := 1.0, 0.0, 0.0, 0.0
	for range 2000 {
		m := PaperMotions.Draw(rng)
		lo, hi, left, right = min(lo, m.Scale), max(hi, m.Scale), min(left, m.Angle), max(right, m.Angle)
		require.Zero(t, m.ShiftY+m.ShiftX)
	}
	require.InDelta(t, 0.3, lo, 1e-3)
	require.InDelta(t, 0.45, hi, 1e-3)
	require.InDelta(t, -math.Pi/2, left, 0.02)
	require.InDelta(t, math.Pi/2, right, 0.02)
}

// TestRates: the share of observed pixels is uniform over the images, and pixels of one image are observed independently.
func TestRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	mask := make([]bool, 4096)
	var sum, sq, twice float64
	const images = 400
	for range images {
		n := PaperRates.Mask(mask, rng)
		r, both := float64(n)/4096, 0
		for i := 1; i < len(mask); i++ {
			if mask[i] && mask[i-1] {
				both++
			}
		}
		sum, sq, twice = sum+r/images, sq+r*r/images, twice+float64(both)/4095/images
	}
	require.InDelta(t, 0.255, sum, 5*0.49/math.Sqrt(12*images))
	require.InDelta(t, 0.49/math.Sqrt(12), math.Sqrt(sq-sum*sum), 0.02)
	require.InDelta(t, sq, twice, 0.002, "neighbours are observed together as often as chance has it")
	require.Zero(t, Rates{0, 0}.Mask(mask, rng))
	require.Equal(t, 4096, Rates{1, 1}.Mask(mask, rng))
}

func TestImageSource(t *testing.T) {
	s := ImageSource[float32]{Pictures: TestDigits(), Rates: PaperRates}
	var _ Source[float32] = s
	b, err := s.Batch(3, 1, 2)
	require.NoError(t, err)
	again, err := s.Batch(3, 1, 2)
	require.NoError(t, err)
	require.Equal(t, b, again)
	other, err := s.Batch(3, 1, 3)
	require.NoError(t, err)
	require.NotEqual(t, b.Images.Mask, other.Images.Mask)
	require.Equal(t, b.Images.Pixels, b.Y)
	require.Len(t, b.Images.Mask, 3*64*64)
	require.Equal(t, "clock digits 56 pixels high on 64 x 64, turned by up to 90 degrees, scaled by 0.3 to 0.45, "+
		"shifted by up to 0 pixels, "+
		"0.01 to 0.5 of the pixels context", s.String())
	require.Contains(t, ImageSource[float32]{Pictures: TrainDigits(), Rates: PaperRates}.String(), "upright")

	s.Rates.Max = 1.1
	_, err = s.Batch(1, 1, 1)
	require.ErrorContains(t, err, "0.01 to 1.1")
	for want, d := range map[string]Digits{
		"0 x 0":           {H: 0, Height: 1, Motions: Upright},
		"NaN pixels high": {H: 8, W: 8, Height: math.NaN(), Motions: Upright},
		"scales 0 to 1":   {H: 8, W: 8, Height: 8, Motions: Motions{MaxScale: 1}},
		"angles up to 4":  {H: 8, W: 8, Height: 8, Motions: Motions{MinScale: 1, MaxScale: 1, MaxAngle: 4}},
		"shifts up to -1": {H: 8, W: 8, Height: 8, Motions: Motions{MinScale: 1, MaxScale: 1, MaxShift: -1}},
	} {
		require.ErrorContains(t, d.Validate(), want)
	}
	_, err = ImageSource[float32]{Pictures: Digits{}, Rates: PaperRates}.Batch(1, 1, 1)
	require.ErrorContains(t, err, "0 x 0 pixels")
	require.NoError(t, TrainDigits().Validate())
}
