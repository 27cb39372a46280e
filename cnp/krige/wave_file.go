package krige

import (
	"fmt"
	"math"
	"strconv"
)

// wavesKind is the kind of member that are waves.
const wavesKind = "waves"

// Bounds of waves in a document. Estimation stays far below them.
const (
	waveFileExtreme = 1e12 // of numbers in units of values, which have a deviation of about 1
	waveFileLeast   = 1e-6 // of deviations of residuals
	waveFileApart   = 10   // of the deviations between tables
	waveFileLengths = 1e12 // of wave vectors, in periods a unit of coordinates
	waveFileKnown   = 4 * populationTables
)

// populationWaves are waves in a document. What follows from these numbers, such as smoother versions of the waveform, is computed anew.
type populationWaves struct {
	Share    float64   `json:"share"`    // of tables
	Waveform []float64 `json:"waveform"` // [cells, 2]: of each cell the values where it begins and where it ends
	Narrow   float64   `json:"narrow"`   // deviation of most residuals
	Broad    float64   `json:"broad"`    // and of the others
	Rare     float64   `json:"rare"`     // the share of the others
	// Deviations between tables, absent where they do not differ.
	Level     float64        `json:"level_deviation,omitempty"`
	Gain      float64        `json:"gain_deviation,omitempty"`  // of the logarithm
	Residuals float64        `json:"noise_deviation,omitempty"` // of the logarithm of narrow
	Vectors   populationWave `json:"wave_vectors"`
}

// populationWave is the prior of wave vectors in a document.
type populationWave struct {
	Known     []float64 `json:"known,omitempty"` // [n, dim] wave vectors or, if isotropic, [n] lengths
	Isotropic bool      `json:"isotropic,omitempty"`
	Width     float64   `json:"width,omitempty"` // of the kernels around the known ones
	Least     float64   `json:"least"`           // length of the others
	Most      float64   `json:"most"`
	Other     float64   `json:"other"` // the share of the others
}

// document returns waves as a document has them.
func (w *waves) document() *populationWaves {
	d := &populationWaves{Share: w.share, Narrow: w.narrow, Broad: w.broad, Rare: w.rare,
		Level: w.apart[waveLevel], Gain: w.apart[waveGain], Residuals: w.apart[waveNoise],
		Vectors: populationWave{w.prior.known, w.prior.isotropic, w.prior.width, w.prior.least, w.prior.most, w.prior.other}}
	for i := range waveCells {
		d.Waveform = append(d.Waveform, w.forms[0].lo[i], w.forms[0].hi[i])
	}
	return d
}

// within reports a number of a field that is not from least to most.
func within(field string, v, least, most float64) error {
	if !(v >= least && v <= most) {
		return fmt.Errorf("%w: %s is %g, need %g to %g", ErrFile, field, v, least, most)
	}
	return nil
}

// waves checks a member and makes it the waves of tables with so many coordinates.
func (m *populationMember) waves(p *Population) (*waves, error) {
	d := m.Waves
	switch {
	case d == nil:
		return nil, fmt.Errorf("%w: waves: need the field waves", ErrFile)
	case m.Shape != "" || m.Second != "" || m.Period != 0 || m.Axial != 0 || m.Aniso || m.Turned ||
		m.Parameters != nil || m.Atoms != nil:
		return nil, fmt.Errorf("%w: waves: with fields of a covariance", ErrFile)
	case p.frame.sphere:
		return nil, fmt.Errorf("%w: waves: on the sphere", ErrFile)
	case p.waves != nil:
		return nil, fmt.Errorf("%w: waves: a population has them once", ErrFile)
	}
	if err := d.check(p.frame.dim); err != nil {
		return nil, err
	}
	g := new(waveform)
	for i := range waveCells {
		g.lo[i], g.hi[i] = d.Waveform[2*i], d.Waveform[2*i+1]
	}
	w := &waves{dim: p.frame.dim, forms: blurred(g), narrow: d.Narrow, broad: d.Broad, rare: d.Rare, prior: d.Vectors.prior(p.frame.dim),
		share: d.Share}
	w.apart[waveLevel], w.apart[waveGain], w.apart[waveNoise] = d.Level, d.Gain, d.Residuals
	return w, nil
}

// check reports the first number that no waves in so many coordinates have.
func (d *populationWaves) check(dim int) error {
	if len(d.Waveform) != 2*waveCells {
		return fmt.Errorf("%w: waves: waveform: %d numbers, need %d", ErrFile, len(d.Waveform), 2*waveCells)
	}
	const leastShare = 1e-9
	for _, c := range []struct {
		field          string
		v, least, most float64
	}{
		{"share", d.Share, leastShare, 1 - leastShare},
		{"narrow", d.Narrow, waveFileLeast, waveFileExtreme}, {"broad", d.Broad, waveFileLeast, waveFileExtreme},
		{"rare", d.Rare, leastShare, 0.5},
		{"level_deviation", d.Level, 0, waveFileApart}, {"gain_deviation", d.Gain, 0, waveFileApart},
		{"noise_deviation", d.Residuals, 0, waveFileApart},
	} {
		if err := within("waves: "+c.field, c.v, c.least, c.most); err != nil {
			return err
		}
		if c.v > 0 && c.v < leastShare { // its square has to be a number that others can be divided by
			return fmt.Errorf("%w: waves: %s is %g, need 0 or at least %g", ErrFile, c.field, c.v, leastShare)
		}
	}
	for i, v := range d.Waveform {
		if err := within("waves: waveform: number "+strconv.Itoa(i), v, -waveFileExtreme, waveFileExtreme); err != nil {
			return err
		}
	}
	return d.Vectors.check(dim)
}

// prior returns the prior of wave vectors in so many coordinates.
func (d *populationWave) prior(dim int) wavePrior {
	return wavePrior{dim, d.Known, d.Isotropic, d.Width, d.Least, d.Most, d.Other}
}

// check reports the first number that no prior of wave vectors in so many coordinates has.
func (d *populationWave) check(dim int) error {
	const where = "waves: wave_vectors: "
	if err := within(where+"least", d.Least, 0, waveFileLengths); err != nil {
		return err
	}
	if err := within(where+"most", d.Most, 0, waveFileLengths); err != nil {
		return err
	}
	if least := 1e-9 * max(d.Most, 1e-9); !(d.Most-d.Least >= least) {
		return fmt.Errorf("%w: %slengths from %g to %g", ErrFile, where, d.Least, d.Most)
	}
	if err := within(where+"other", d.Other, 1e-9, 1); err != nil {
		return err
	}
	per := dim
	if d.Isotropic {
		per = 1
	}
	n := len(d.Known)
	switch {
	case n == 0 && d.Other == 1:
		if d.Width != 0 || d.Isotropic {
			return fmt.Errorf("%w: %swidth %g, isotropic %t, and none is known", ErrFile, where, d.Width, d.Isotropic)
		}
		return nil
	case n == 0 || d.Other == 1:
		return fmt.Errorf("%w: %s%d numbers of known ones, and a share of %g of others", ErrFile, where, n, d.Other)
	case n%per != 0 || n > waveFileKnown*per:
		return fmt.Errorf("%w: %s%d numbers of known ones, need %d for each of at most %d", ErrFile, where, n, per, waveFileKnown)
	}
	for i, v := range d.Known {
		least := -waveFileLengths
		if d.Isotropic {
			least = 0
		}
		if err := within(where+"known: number "+strconv.Itoa(i), v, least, waveFileLengths); err != nil {
			return err
		}
	}
	p := d.prior(dim)
	scale := p.scale()
	if !(scale > 1e-9) {
		return fmt.Errorf("%w: %sknown ones of a mean length of %g", ErrFile, where, scale*math.Sqrt(float64(dim)))
	}
	return within(where+"width", d.Width, 1e-9*scale, waveFileLengths)
}
