package tables

import (
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// told are the attributes of variables that are kept beside units and calendar: those that say which coordinate one is.
var told = []string{"standard_name", "long_name", "axis", "positive"}

// aboutOf returns what a variable's attributes say, nil if nothing.
func aboutOf(v *netcdf.Var) (about map[string]string) {
	for _, name := range told {
		if a := v.Attr(name); a != nil && a.Text != "" {
			if about == nil {
				about = map[string]string{}
			}
			about[name] = a.Text
		}
	}
	return about
}

// mappingOf returns the coordinate system that variables of a file name, nil if none does or they name several.
func mappingOf(f *netcdf.File) *tabular.Mapping {
	var found *netcdf.Var
	for i := range f.Vars {
		a := f.Vars[i].Attr("grid_mapping")
		if a == nil {
			continue
		}
		name, _, more := strings.Cut(strings.TrimSpace(a.Text), " ") // or "crs: x y", which names its coordinates
		v := f.Var(strings.TrimSuffix(name, ":"))
		if v == nil || found != nil && found != v || more && !strings.HasSuffix(name, ":") {
			return nil
		}
		found = v
	}
	if found == nil {
		return nil
	}
	out := &tabular.Mapping{Name: found.Name}
	for _, a := range found.Attrs {
		if a.Name != "GeoTransform" && a.Name != "_FillValue" { // GDAL's, of that file's pixels
			out.Attrs = append(out.Attrs, tabular.Attribute{Name: a.Name, Text: a.Text, Numbers: a.Numbers})
		}
	}
	return out
}

// addMapping adds a coordinate system to a file; "": it has a variable of that name.
func addMapping(f *netcdf.File, m *tabular.Mapping, header []string) (name string, err error) {
	if m == nil || m.Name == "" || slices.Contains(header, m.Name) || f.Var(m.Name) != nil {
		return "", nil
	}
	var attrs []netcdf.Attr
	for _, a := range m.Attrs {
		if a.Numbers == nil {
			attrs = append(attrs, netcdf.Text(a.Name, a.Text))
		} else {
			attrs = append(attrs, netcdf.Attr{Name: a.Name, Type: netcdf.Double, Numbers: a.Numbers})
		}
	}
	return m.Name, f.Add(m.Name, netcdf.Int, nil, []float64{0}, attrs...)
}

// direction is "X" of a column of longitudes or of what else goes along a map's rows, "Y" of latitudes, "" of others.
func direction(t *tabular.Table, c int) string {
	name, _ := column(t, c)
	said := []string{name}
	if t.Units != nil {
		said = append(said, t.Units[c])
	}
	if t.About != nil {
		said = append(said, t.About[c]["axis"], t.About[c]["standard_name"])
	}
	for _, word := range said {
		switch strings.ToLower(word) {
		case "x", "lon", "longitude", "east", "easting", "degrees_east", "projection_x_coordinate", "grid_longitude":
			return "X"
		case "y", "lat", "latitude", "north", "northing", "degrees_north", "projection_y_coordinate", "grid_latitude":
			return "Y"
		}
	}
	return ""
}

// mapAxes are the places among the axes of the one along a map's rows and the one along its columns; false where it is no map.
func mapAxes(t *tabular.Table, axes []int) (x, y int, ok bool) {
	found := map[string][]int{}
	for i, c := range axes {
		found[direction(t, c)] = append(found[direction(t, c)], i)
	}
	if len(found["X"]) != 1 || len(found["Y"]) != 1 {
		return 0, 0, false
	}
	return found["X"][0], found["Y"][0], true
}

// northUp puts the axes of a map last, its columns before its rows, which programs of maps take for granted. from are the
// rows of the table in the new order, nil where the order is the old one.
func northUp(t *tabular.Table, axes, lengths []int) (ordered, counts, from []int) {
	x, y, ok := mapAxes(t, axes)
	if !ok {
		return axes, lengths, nil
	}
	var order []int
	for i := range axes {
		if i != x && i != y {
			order = append(order, i)
		}
	}
	order = append(order, y, x)
	if slices.IsSorted(order) {
		return axes, lengths, nil
	}
	strides, step := make([]int, len(axes)), 1
	for i := len(axes) - 1; i >= 0; i-- {
		strides[i] = step
		step *= lengths[i]
	}
	for _, i := range order {
		ordered, counts = append(ordered, axes[i]), append(counts, lengths[i])
	}
	from = make([]int, step)
	for k := range from {
		rest := k
		for i := len(order) - 1; i >= 0; i-- {
			from[k] += rest % counts[i] * strides[order[i]]
			rest /= counts[i]
		}
	}
	return ordered, counts, from
}

// helpful are the attributes by which programs know the coordinates of a map: which axis each is of, without which GDAL finds
// no place for x and y, and degrees.
func helpful(t *tabular.Table, x, axes []int) map[int][]netcdf.Attr {
	found := degrees(t, x)
	if i, k, ok := mapAxes(t, axes); ok {
		for c, axis := range map[int]string{axes[i]: "X", axes[k]: "Y"} {
			if t.About == nil || t.About[c]["axis"] == "" {
				found[c] = append(found[c], netcdf.Text("axis", axis))
			}
		}
	}
	return found
}

// degrees are the attributes of columns of latitudes and longitudes whose table has no units, as CSV has none: known by
// both names, and by values that can be degrees.
func degrees(t *tabular.Table, x []int) map[int][]netcdf.Attr {
	found := map[int][]netcdf.Attr{}
	for _, pair := range [][2]string{{"lat", "lon"}, {"latitude", "longitude"}} {
		for _, c := range x {
			name, values := column(t, c)
			k := slices.Index(pair[:], strings.ToLower(name))
			if k < 0 || t.Units != nil && t.Units[c] != "" || hasText(t, c) {
				continue
			}
			most := []float64{90, 360}[k]
			if !slices.ContainsFunc(values, func(v float64) bool { return !(v >= -most && v <= most) }) {
				found[c] = []netcdf.Attr{netcdf.Text("units", []string{"degrees_north", "degrees_east"}[k]),
					netcdf.Text("standard_name", []string{"latitude", "longitude"}[k])}
			}
		}
		if len(found) == 2 {
			return found
		}
		clear(found)
	}
	return found
}
