package recipe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// ParseViews reads the least and the greatest size of things: 0.3:1.
func ParseViews(text string) (*cnp.Views, error) {
	v := cnp.DefaultViews()
	if n, err := fmt.Sscanf(text+" ", "%g:%g ", &v.Min, &v.Max); n != 2 || err != nil {
		return nil, fmt.Errorf("need the least and the greatest size of things, as parts of that in training: 0.3:1 for example")
	}
	return &v, nil
}

// ShowViews writes views as ParseViews reads them, "" for none.
func ShowViews(v *cnp.Views) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%g:%g", v.Min, v.Max)
}

// ParseWaves reads a count and the fastest frequency: 32:12.
func ParseWaves(text string) (*cnp.Waves, error) {
	count, fastest, ok := strings.Cut(text, ":")
	n, errN := strconv.Atoi(count)
	most, errF := strconv.ParseFloat(fastest, 64)
	if !ok || errN != nil || errF != nil {
		return nil, errors.New("need COUNT:FASTEST, for example 32:12")
	}
	return &cnp.Waves{Count: n, Fastest: most}, nil
}

// ShowWaves writes waves as ParseWaves reads them, "" for none.
func ShowWaves(w *cnp.Waves) string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%d:%g", w.Count, w.Fastest)
}

// ParseWindow reads the lengths of a window: lon=2,lat=2.
func ParseWindow(text string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, part := range strings.Split(text, ",") {
		name, length, _ := strings.Cut(part, "=")
		v, err := strconv.ParseFloat(length, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, errors.New("need inputs and lengths, as in lon=2,lat=2")
		}
		out[strings.TrimSpace(name)] = v
	}
	return out, nil
}

// ShowWindow writes lengths as ParseWindow reads them, in the order of the names.
func ShowWindow(lengths map[string]float64) string {
	var parts []string
	for name, v := range lengths {
		parts = append(parts, fmt.Sprintf("%s=%g", name, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
