package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"sync"

	"gonum.org/v1/plot/palette/moreland"
)

// Globe is a prediction for the whole sphere, with the points it was made from. Maps are in Mollweide's projection, on
// which equal areas are equal; (0, 0) is in the middle and north above.
type Globe struct {
	Title string // a line of ASCII text; may be empty
	Label string // of the values
	// Mean and Std have a value for each of GlobePlaces; NaN is no value.
	Mean, Std []float64
	// Places are latitude and longitude in degrees of each context point, Values what was seen there.
	Places [][2]float64
	Values []float64
}

// A map's width and height, in pixels, and the sides of the squares that have one colour.
const (
	globeWidth, globeHeight = 640, 320
	globeSquare             = 2
	graticule               = 30 // degrees
)

// GlobePlaces are latitude and longitude in degrees of the places that a map shows, row by row from the north.
func GlobePlaces() (places [][2]float64) {
	eachGlobeSquare(func(_, _ int, place [2]float64) { places = append(places, place) })
	return places
}

// eachGlobeSquare calls f with the corners of all squares of a map, and the place in their middle.
func eachGlobeSquare(f func(x, y int, place [2]float64)) {
	for y := 0; y < globeHeight; y += globeSquare {
		for x := 0; x < globeWidth; x += globeSquare {
			if place, ok := mollweideInverse(float64(x)+globeSquare/2, float64(y)+globeSquare/2); ok {
				f(x, y, place)
			}
		}
	}
}

// mollweideInverse is the place shown at a pixel of a map, if there is one.
func mollweideInverse(px, py float64) (place [2]float64, ok bool) {
	x, y := 2*px/globeWidth-1, 1-2*py/globeHeight
	theta := math.Asin(max(-1, min(1, y)))
	if across := math.Cos(theta); x*x+y*y < 1 && across > 0 {
		latitude := math.Asin((2*theta + math.Sin(2*theta)) / math.Pi)
		return [2]float64{latitude * 180 / math.Pi, 180 * x / across}, true
	}
	return place, false
}

// mollweide is where a map shows a place.
func mollweide(place [2]float64) (px, py float64) {
	want := math.Pi * math.Sin(place[0]*math.Pi/180)
	lo, hi := -math.Pi/2, math.Pi/2 // 2θ + sin 2θ grows with θ
	for range 40 {
		if mid := (lo + hi) / 2; 2*mid+math.Sin(2*mid) < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	longitude := math.Remainder(place[1], 360)
	return (1 + longitude/180*math.Cos(lo)) * globeWidth / 2, (1 - math.Sin(lo)) * globeHeight / 2
}

// warmth maps [0, 1] to the colours of values: from blue through white to red. Source: K. Moreland, Diverging Color Maps for Scientific
// Visualization, 2009.
var warmth = sync.OnceValue(func() [256]color.NRGBA { return coloursOf(moreland.SmoothBlueRed()) })

func hue(v, lo, hi float64) color.NRGBA {
	if math.IsNaN(v) {
		return notNumber
	}
	at := 0.5
	if hi > lo {
		at = clip((v - lo) / (hi - lo))
	}
	return warmth()[int(math.Round(255*at))]
}

// Draw draws two maps, of mean and standard deviation, each with the graticule, the context and its scale.
func (g *Globe) Draw() *image.NRGBA {
	top := margin
	if g.Title != "" {
		top += lineHeight + titleGap
	}
	const labelled = lineHeight + labelGap
	below := globeHeight + barGap + barHeight + lineHeight + 2
	im := newDrawing("Globe", 2*margin+2*globeWidth+gap, top+labelled+below+margin)
	write(im, g.Title, margin, margin)
	lo, hi := extent(append(append([]float64(nil), g.Mean...), g.Values...))
	g.draw(im, margin, top, g.Label+": predicted mean, and context", g.Mean, lo, hi, hue, true)
	lo, hi = extent(g.Std)
	g.draw(im, margin+globeWidth+gap, top, g.Label+": predicted std", g.Std, lo, hi, shade, false)
	return im
}

// draw draws one map; seen is whether context points have the colours of what was seen there.
func (g *Globe) draw(im *image.NRGBA, left, top int, label string, values []float64, lo, hi float64,
	colour func(v, lo, hi float64) color.NRGBA, seen bool) {
	write(im, label, left, top)
	top += lineHeight + labelGap
	k := 0
	eachGlobeSquare(func(x, y int, _ [2]float64) {
		c := faint
		if k < len(values) {
			c = colour(values[k], lo, hi)
		}
		fill(im, image.Rect(left+x, top+y, left+x+globeSquare, top+y+globeSquare), c)
		k++
	})
	line := func(from, to, step float64, place func(v float64) [2]float64) {
		for v := from; v <= to; v += step {
			x, y := mollweide(place(v))
			at := image.Pt(left+int(x), top+int(y))
			c := im.NRGBAAt(at.X, at.Y)
			im.SetNRGBA(at.X, at.Y, color.NRGBA{mixed(c.R), mixed(c.G), mixed(c.B), 255})
		}
	}
	for latitude := -90.0 + graticule; latitude < 90; latitude += graticule {
		line(-180, 180, 0.5, func(v float64) [2]float64 { return [2]float64{latitude, v} })
	}
	for longitude := -180.0 + graticule; longitude < 180; longitude += graticule {
		line(-90, 90, 0.5, func(v float64) [2]float64 { return [2]float64{v, longitude} })
	}
	for i, place := range g.Places {
		x, y := mollweide(place)
		inside, edge := ink, paper // on the map of deviations, which is dark there
		if seen && i < len(g.Values) {
			inside, edge = colour(g.Values[i], lo, hi), ink
		}
		dot(im, left+int(x), top+int(y), inside, edge)
	}
	bar := top + globeHeight + barGap
	for i := range globeWidth {
		fill(im, image.Rect(left+i, bar, left+i+1, bar+barHeight), colour(float64(i), 0, globeWidth-1))
	}
	right := fmt.Sprintf("%.3g", hi)
	write(im, fmt.Sprintf("%.3g", lo), left, bar+barHeight+2)
	write(im, right, left+globeWidth-7*len(right), bar+barHeight+2)
}

// mixed is a colour's part, between it and grey.
func mixed(v uint8) uint8 { return uint8((int(v) + 110) / 2) }

// dot draws a small disc with an edge.
func dot(im *image.NRGBA, x, y int, inside, edge color.NRGBA) {
	for dy := -3; dy <= 3; dy++ {
		for dx := -3; dx <= 3; dx++ {
			switch r := dx*dx + dy*dy; {
			case r <= 4:
				fill(im, image.Rect(x+dx, y+dy, x+dx+1, y+dy+1), inside)
			case r <= 10:
				fill(im, image.Rect(x+dx, y+dy, x+dx+1, y+dy+1), edge)
			}
		}
	}
}

// WriteGlobes draws globes below each other, as a PNG, or as an SVG that holds it.
func WriteGlobes(w io.Writer, format string, globes ...*Globe) (err error) {
	defer drawn(&err)
	var all []image.Image
	for i, g := range globes {
		if g == nil {
			return fmt.Errorf("picture: globe %d is nil", i)
		}
		all = append(all, g.Draw())
	}
	im := Stack(all...)
	switch format {
	case "png":
		return png.Encode(w, im)
	case "svg":
	default:
		return noFormat(format)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		return err
	}
	width, height := im.Bounds().Dx(), im.Bounds().Dy()
	_, err = fmt.Fprintf(w,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">`+
			`<image width="%[1]d" height="%[2]d" href="data:image/png;base64,%s"/></svg>`+"\n",
		width, height, base64.StdEncoding.EncodeToString(b.Bytes()))
	return err
}
