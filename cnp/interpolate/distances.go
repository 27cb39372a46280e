package interpolate

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Limits beyond which distances hardly mean what they are taken for.
const (
	unlikeExtents = 10  // the largest extent of an input over the least
	wideDegrees   = 180 // of longitude, beyond which the other way around the globe is shorter
	highDegrees   = 60  // of latitude, where a degree of longitude is half as long as one of latitude
)

// Distances says where distances between rows may not mean what they are taken for: inputs of different kinds count alike, unless units
// says that the caller knows about their units, or the globe is taken for a plane.
func (in *Interpolation) Distances(units bool) (notes []settings.Text) {
	if in.Sphere || in.Dx < 2 {
		return nil
	}
	names := tabletask.Labels(in.Points, in.Observed.Columns.X, "x", in.Dx)
	if why := in.unlike(names); why != "" && !units {
		notes = append(notes, settings.Textf("%s, and distances take a unit of each as equally long: {Units} different gives each input a "+
			"scale of its own; {Units} same says that this is right", why))
	}
	if in.Dx > 2 {
		return notes
	}
	for k, name := range names {
		if !tabular.IsLongitude(name) || !tabular.IsLatitude(names[1-k]) {
			continue
		}
		west, east := extent(in.Observed.X, k, 2)
		south, north := extent(in.Observed.X, 1-k, 2)
		if east-west > wideDegrees || max(north, -south) > highDegrees {
			notes = append(notes, settings.Textf("%s and %s are taken for a plane, without poles and a date line: {Sphere} takes them for "+
				"places on the globe", names[1-k], name))
		}
	}
	return notes
}

// unlike says why inputs may be of different kinds, if they may: times beside numbers, or extents that are far from each other.
func (in *Interpolation) unlike(names []string) string {
	var times, numbers []string
	least, most := math.Inf(1), 0.0
	var short, long string
	for d, name := range names {
		column := in.Observed.Columns.X[d]
		if clock, err := in.Points.Clock(column); err == nil && clock != nil {
			times = append(times, name)
			continue
		}
		numbers = append(numbers, name)
		lo, hi := extent(in.Observed.X, d, in.Dx)
		if width := hi - lo; width > 0 {
			if width < least {
				least, short = width, name
			}
			if width > most {
				most, long = width, name
			}
		}
	}
	switch {
	case len(times) > 0 && len(numbers) > 0:
		return fmt.Sprintf("%s has times and %s has not", times[0], numbers[0])
	case most > unlikeExtents*least:
		return fmt.Sprintf("%s extends over %.6g and %s over %.6g", long, most, short, least)
	}
	return ""
}
