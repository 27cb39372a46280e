package tabletask

import (
	"errors"
	"math"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Place is a coordinate: a number or a date.
type Place struct {
	Value float64
	Date  bool   // Value counts days since the beginning of 1970
	Text  string // as it was written, for errors
}

// ParsePlace reads a number or a date such as 2006-01-02.
func ParsePlace(text string) (Place, error) {
	p := Place{Text: text}
	if p.Value, p.Date = tabular.Days(text); p.Date {
		return p, nil
	}
	var err error
	if p.Value, err = strconv.ParseFloat(text, 64); err != nil {
		return p, errors.New("need a number or a date like 2006-01-02")
	}
	return p, nil
}

// MaxPoints bounds the number of targets that options may ask for.
const MaxPoints = 1 << 24

// leastDegrees is the finest grid of the globe.
const leastDegrees = 0.1

// CheckTargets refuses options that name no targets; whole reports whether Sphere was given.
func (o *Options) CheckTargets(whole bool) error {
	if whole {
		if !(o.Sphere >= leastDegrees && o.Sphere <= 90) {
			return settings.Errorf("{Sphere} %g: need %g to 90 degrees", o.Sphere, leastDegrees)
		}
		return nil
	}
	if o.Grid != nil {
		_, _, err := cellSize(o.Grid)
		return err
	}
	if o.Next != 0 {
		return checkNext(o.Next, 1, "")
	}
	if o.Targets != "" {
		return nil
	}
	switch from, to := o.From.Value, o.To.Value; {
	case o.Points < 1 || o.Points > MaxPoints:
		return settings.Errorf("{Points} %d: need 1 to %d", o.Points, MaxPoints)
	case o.From.Date != o.To.Date:
		return settings.Errorf("{From} and {To}: need two numbers or two dates")
	case math.IsNaN(to-from) || math.IsInf(to-from, 0):
		return settings.Errorf("{From} %g {To} %g: need finite numbers", from, to)
	case from > to:
		return settings.Errorf("{From} %s lies beyond {To} %s", o.From.Text, o.To.Text)
	}
	return nil
}

// Linspace returns n evenly spaced numbers from lo to hi; one is lo.
func Linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo
		if i > 0 { // weighted ends, so that the last is hi exactly
			t := float64(i) / float64(n-1)
			x[i] = (1-t)*lo + t*hi
		}
	}
	return x
}

// LatLonColumns returns the names of the columns of latitude and longitude, nil if a table has none.
func LatLonColumns(t *table.Table) []string {
	var found [2]string
	for _, name := range t.Header {
		switch {
		case tabular.IsLatitude(name):
			found[0] = name
		case tabular.IsLongitude(name):
			found[1] = name
		}
	}
	if found[0] == "" || found[1] == "" {
		return nil
	}
	return found[:]
}

// GlobeGrid returns the centres of equal cells of latitude and longitude that cover the globe from the south, about step
// degrees long.
func GlobeGrid(step float64) (places [][2]float64) {
	rows, columns := max(1, int(math.Round(180/step))), max(1, int(math.Round(360/step)))
	for i := range rows {
		for k := range columns {
			places = append(places, [2]float64{-90 + (float64(i)+0.5)*180/float64(rows), -180 + (float64(k)+0.5)*360/float64(columns)})
		}
	}
	return places
}

// OnSphere converts latitudes and longitudes to the coordinates of a model on the sphere.
func OnSphere(cfg *cnp.Config, places [][2]float64) (x []float64) {
	for _, p := range places {
		if cfg.Degrees() {
			x = append(x, p[:]...)
		} else {
			u := cnp.UnitVector(p[0], p[1])
			x = append(x, u[:]...)
		}
	}
	return x
}

// LatLon converts the coordinates of a model on the sphere to latitudes and longitudes.
func LatLon(cfg *cnp.Config, x []float64) (out [][2]float64) {
	for i := 0; i+cfg.DimX <= len(x); i += cfg.DimX {
		if cfg.Degrees() {
			out = append(out, [2]float64{x[i], x[i+1]})
		} else {
			latitude, longitude := cnp.LatLon([3]float64(x[i : i+3]))
			out = append(out, [2]float64{latitude, longitude})
		}
	}
	return out
}
