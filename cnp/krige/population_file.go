package krige

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrFile is wrapped by every error about a population that cannot be read or written.
var ErrFile = errors.New("krige: population")

// populationVersion is that of the document, which changes where an old reader would misunderstand a new document. A new kind of member
// needs none: readers refuse kinds that they do not know.
const populationVersion = 1

// Bounds of a document. Estimation stays far below them.
const (
	populationMembers = 4096 // covariances
	populationAtoms   = 256  // of a covariance
	populationShape   = 1e6  // of a gamma distribution; beyond, rounding keeps gamma from accepting a draw
	populationExtreme = 1e30 // of what covariances are computed from; its square is a finite number
)

// covarianceKind is the kind of member that is a Gaussian process.
const covarianceKind = "covariance"

// The document is JSON. Numbers are written so that they are read as the same bits.
type (
	populationDocument struct {
		Version        int                `json:"version"`
		Dim            int                `json:"dim"`
		Sphere         bool               `json:"sphere,omitempty"`
		DifferentUnits bool               `json:"different_units,omitempty"`
		Centre         []float64          `json:"centre"`            // of the coordinates, on the sphere of unit vectors
		Unit           []float64          `json:"unit"`              // of each coordinate, with its sign
		Level          float64            `json:"level"`             // of the values
		Deviation      float64            `json:"deviation"`         // of the values
		Scale          string             `json:"scale,omitempty"`   // of the values: square root or logarithm
		Amounts        bool               `json:"amounts,omitempty"` // values are never negative
		Members        []populationMember `json:"members"`
	}
	populationMember struct {
		Kind string `json:"kind"`
		// The following are those of a covariance.
		Shape      string           `json:"shape,omitempty"`
		Second     string           `json:"second,omitempty"`
		Period     float64          `json:"period,omitempty"`
		Long       float64          `json:"long_period,omitempty"` // of a second season
		Axial      float64          `json:"axial,omitempty"`
		Aniso      bool             `json:"anisotropic,omitempty"`
		Turned     bool             `json:"turned,omitempty"`
		Parameters []float64        `json:"parameters,omitempty"`
		Atoms      []populationAtom `json:"atoms,omitempty"`
		Waves      *populationWaves `json:"waves,omitempty"` // those of waves
	}
	populationAtom struct {
		Share  float64 `json:"share"`
		Shape  float64 `json:"shape"`
		Scale  float64 `json:"scale"`
		Level2 float64 `json:"level_variance,omitempty"`
	}
)

// shapeNames are the names of shapes in documents, which never change.
var shapeNames = map[shape]string{noShape: "", matern12: "matern12", matern32: "matern32", matern52: "matern52", squared: "squared",
	rational: "rational"}

// shapeNamed returns the shape of a name.
func shapeNamed(name string) (shape, error) {
	for s, n := range shapeNames {
		if n == name {
			return s, nil
		}
	}
	return noShape, fmt.Errorf("%w: shape %q is not known", ErrFile, name[:min(len(name), 64)])
}

// shares returns what the shares of the members add up to: 1, to rounding, but for an empty population.
func (p *Population) shares() (total float64) {
	if p.waves != nil {
		total = p.waves.share
	}
	for i := range p.kernels {
		for _, a := range p.kernels[i].atoms {
			total += a.share
		}
	}
	return total
}

// MarshalJSON writes the population as a document that UnmarshalJSON reads back, bit by bit.
func (p *Population) MarshalJSON() ([]byte, error) {
	if p.frame == nil || len(p.kernels) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrFile)
	}
	d := populationDocument{Version: populationVersion, Dim: p.opt.Dim, Sphere: p.opt.Sphere, DifferentUnits: p.opt.DifferentUnits,
		Centre: p.frame.centre, Unit: p.frame.unit, Level: p.frame.y0, Deviation: p.frame.ys,
		Scale: p.bend.String(), Amounts: p.amounts}
	for _, k := range p.kernels {
		m := populationMember{Kind: covarianceKind, Shape: shapeNames[k.spec.shape], Second: shapeNames[k.spec.second],
			Period: k.spec.period, Long: k.spec.long, Axial: k.spec.axial, Aniso: k.spec.aniso, Turned: k.spec.turned,
			Parameters: k.theta}
		for _, a := range k.atoms {
			m.Atoms = append(m.Atoms, populationAtom{a.share, a.shape, a.scale, a.level2})
		}
		d.Members = append(d.Members, m)
	}
	if p.waves != nil {
		d.Members = append(d.Members, populationMember{Kind: wavesKind, Waves: p.waves.document()})
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads a population. A document that no population has is refused with an error that wraps ErrFile and names the member;
// the population is then as it was.
func (p *Population) UnmarshalJSON(text []byte) error {
	var d populationDocument
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the document goes on after its end", ErrFile)
	}
	read, err := d.population()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}

// population checks a document and makes it a population.
func (d *populationDocument) population() (*Population, error) {
	if d.Version != populationVersion {
		return nil, fmt.Errorf("%w: version %d, need %d", ErrFile, d.Version, populationVersion)
	}
	p := &Population{opt: Options{Dim: d.Dim, Sphere: d.Sphere, DifferentUnits: d.DifferentUnits}}
	if d.Dim < 1 || d.Dim > MaxDim {
		return nil, fmt.Errorf("%w: %d coordinates, need 1 to %d", ErrFile, d.Dim, MaxDim)
	}
	if d.Sphere && d.Dim != 2 {
		return nil, fmt.Errorf("%w: %d coordinates of the sphere, need 2", ErrFile, d.Dim)
	}
	p.frame = &frame{dim: d.Dim, sphere: d.Sphere, centre: d.Centre, unit: d.Unit, y0: d.Level, ys: d.Deviation}
	if d.Sphere {
		p.frame.dim = 3
	}
	if err := p.frame.check(); err != nil {
		return nil, err
	}
	p.amounts = d.Amounts
	switch d.Scale {
	case straight.String():
	case root.String():
		if p.bend = root; !p.amounts {
			return nil, fmt.Errorf("%w: scale %q of values that are no amounts", ErrFile, d.Scale)
		}
	case logarithm.String():
		p.bend = logarithm
	default:
		return nil, fmt.Errorf("%w: scale %q is not known", ErrFile, d.Scale[:min(len(d.Scale), 64)])
	}
	if n := len(d.Members); n < 1 || n > populationMembers {
		return nil, fmt.Errorf("%w: %d members, need 1 to %d", ErrFile, n, populationMembers)
	}
	for i := range d.Members {
		if d.Members[i].Kind == wavesKind {
			w, err := d.Members[i].waves(p)
			if err != nil {
				return nil, fmt.Errorf("member %d: %w", i, err)
			}
			p.waves = w
			continue
		}
		k, err := d.Members[i].covariance(p)
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
		p.kernels = append(p.kernels, k)
	}
	if total := p.shares(); !(math.Abs(total-1) <= 1e-6) {
		return nil, fmt.Errorf("%w: shares add up to %g, need 1", ErrFile, total)
	}
	if len(p.kernels) == 0 {
		return nil, fmt.Errorf("%w: no covariance beside the waves", ErrFile)
	}
	p.axial = slices.ContainsFunc(p.kernels, func(k populationKernel) bool { return k.spec.axial > 0 })
	return p, nil
}

// check reports numbers that no frame has.
func (f *frame) check() error {
	if len(f.centre) != f.dim || len(f.unit) != f.dim {
		return fmt.Errorf("%w: %d centres and %d units of %d coordinates", ErrFile, len(f.centre), len(f.unit), f.dim)
	}
	for i, c := range f.centre {
		if u := math.Abs(f.unit[i]); math.IsNaN(c-c) || !(u > 0) || math.IsInf(u, 0) {
			return fmt.Errorf("%w: coordinate %d has centre %g and unit %g", ErrFile, i, c, f.unit[i])
		}
	}
	if math.IsNaN(f.y0-f.y0) || !(f.ys > 0) || math.IsInf(f.ys, 0) {
		return fmt.Errorf("%w: values have level %g and deviation %g", ErrFile, f.y0, f.ys)
	}
	return nil
}

// covariance checks a member and makes it a covariance of p.
func (m *populationMember) covariance(p *Population) (k populationKernel, err error) {
	if m.Kind != covarianceKind {
		return k, fmt.Errorf("%w: kind %q is not known: it may be of a newer version", ErrFile, m.Kind[:min(len(m.Kind), 64)])
	}
	if m.Waves != nil {
		return k, fmt.Errorf("%w: a covariance with waves", ErrFile)
	}
	s := &spec{dim: p.frame.dim, period: m.Period, long: m.Long, axial: m.Axial, aniso: m.Aniso, turned: m.Turned,
		different: p.opt.DifferentUnits}
	if s.shape, err = shapeNamed(m.Shape); err != nil {
		return k, err
	}
	if s.second, err = shapeNamed(m.Second); err != nil {
		return k, err
	}
	for _, v := range []float64{m.Period, m.Long, m.Axial} {
		if !(v >= 0 && v <= populationExtreme) {
			return k, fmt.Errorf("%w: a period of %g", ErrFile, v)
		}
	}
	switch {
	case s.shape == noShape:
		return k, fmt.Errorf("%w: no shape", ErrFile)
	case s.aniso && !p.aniso():
		return k, fmt.Errorf("%w: anisotropic in %d dimensions, sphere %t", ErrFile, s.dim, p.frame.sphere)
	case s.turned && !(s.aniso && s.dim == 3):
		return k, fmt.Errorf("%w: turned anisotropy in %d dimensions, anisotropic %t", ErrFile, s.dim, s.aniso)
	case s.axial > 0 && (p.frame.sphere || p.opt.DifferentUnits):
		return k, fmt.Errorf("%w: a period along axes of the sphere, or of different units", ErrFile)
	case s.long > 0 && !(s.period > 0 && s.period < s.long):
		return k, fmt.Errorf("%w: a season of %g beside one of %g, which must be shorter", ErrFile, s.long, s.period)
	case len(m.Parameters) != s.params():
		return k, fmt.Errorf("%w: %d parameters, need %d", ErrFile, len(m.Parameters), s.params())
	}
	k = populationKernel{spec: s, theta: m.Parameters, kernel: s.kernel(m.Parameters)}
	if err := k.kernel.check(); err != nil {
		return k, err
	}
	if n := len(m.Atoms); n < 1 || n > populationAtoms {
		return k, fmt.Errorf("%w: %d atoms, need 1 to %d", ErrFile, n, populationAtoms)
	}
	for i, a := range m.Atoms {
		if !(a.Share > 0 && a.Share <= 1) || !(a.Shape > 1 && a.Shape <= populationShape) ||
			!(a.Scale > 0 && a.Scale <= populationExtreme) || !(a.Level2 >= 0 && a.Level2 <= populationExtreme) {
			return k, fmt.Errorf("%w: atom %d: share %g, shape %g, scale %g, variance of the level %g", ErrFile, i, a.Share, a.Shape,
				a.Scale, a.Level2)
		}
		k.atoms = append(k.atoms, atom{a.Share, a.Shape, a.Scale, a.Level2})
	}
	return k, nil
}

// check reports numbers that covariances cannot be computed from.
func (k *kernel) check() error {
	all := []float64{k.noise, k.slope2, k.season.variance, k.season.width, k.season.decay,
		k.season.frequency, k.long.variance, k.long.width, k.long.decay, k.long.frequency, k.axial.width, k.axial.frequency}
	for _, m := range k.metric {
		all = append(all, math.Abs(m))
	}
	for _, p := range k.parts {
		all = append(all, p.variance, p.inverse)
	}
	for _, v := range all {
		if !(v >= 0 && v <= populationExtreme) {
			return fmt.Errorf("%w: the parameters make a number of %g, need 0 to %g", ErrFile, v, populationExtreme)
		}
	}
	return nil
}
