package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
)

// Keys of the metadata that Save writes.
const (
	metaFormat = "equivcnp.format"
	metaConfig = "equivcnp.config"
	metaPrefix = "equivcnp."

	formatVersion = "1"
)

// Options say what a file may leave open. The zero value takes everything from the file.
type Options struct {
	// Group names the group where the shapes of the tensors leave a choice. Where the file says it, Group must agree.
	Group string
	// Alpha replaces the weight of the group's distance; 0 keeps the file's, or the group's default.
	Alpha float64
	// PointsPerUnit replaces the density of a curve model's lattice; 0 keeps it.
	PointsPerUnit float64
}

// Load reads a model of any format that ReadState knows. Tensors of other float types are converted to T.
//
// The configuration comes from the file's metadata if Save wrote it, else from Recognize. Errors name the file and wrap
// ErrFormat, ErrArchitecture, ErrGroup, ErrTensor or cnp.ErrConfig.
func Load[T cnp.Float](path string, opt Options) (cnp.Model[T], error) {
	s, err := ReadState(path)
	if err != nil {
		return nil, err
	}
	m, err := Build[T](s, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// LoadConfig reads only the configuration of the model that Load would build.
func LoadConfig(path string, opt Options) (cnp.Config, error) {
	s, err := ReadState(path)
	if err != nil {
		return cnp.Config{}, err
	}
	c, err := ConfigOf(s, opt)
	if err != nil {
		return cnp.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ConfigOf returns the configuration of the model that Build would make.
func ConfigOf(s *State, opt Options) (cnp.Config, error) { return configure(s, opt) }

// Build makes a model of a file's content; see Load.
func Build[T cnp.Float](s *State, opt Options) (cnp.Model[T], error) {
	c, err := configure(s, opt)
	if err != nil {
		return nil, err
	}
	m, err := cnp.New[T](c, 0)
	if err != nil {
		return nil, err
	}
	if err := fill(m.State(), s); err != nil {
		return nil, err
	}
	return m, nil
}

// configure finds the configuration and makes sure that building it takes no more memory than the file justifies.
func configure(s *State, opt Options) (cnp.Config, error) {
	c, candidates, _, err := identify(s)
	if err != nil {
		return c, err
	}
	if err := chooseGroup(&c, candidates, opt); err != nil {
		return c, err
	}
	if opt.PointsPerUnit != 0 {
		if c.Architecture != cnp.EquivCNPCurve && c.Architecture != cnp.ConvCNPCurve {
			return c, fmt.Errorf("%w: points per unit %g given, architecture %s has no lattice", cnp.ErrConfig, opt.PointsPerUnit, c.Architecture)
		}
		c.PointsPerUnit = opt.PointsPerUnit
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	want, err := elements(&c)
	if err != nil {
		return c, err
	}
	// A file that lacks some tensors should get as far as the error that names them; hence the generous factor.
	if have := uint64(s.Elements()); want > 4*have+1<<18 {
		return c, fmt.Errorf("%w: the configuration needs %d numbers, the file holds %d", ErrTensor, want, have)
	}
	return c, nil
}

// identify returns the configuration from the metadata, or else from the tensors, and where it is from.
func identify(s *State) (c cnp.Config, candidates []string, source string, err error) {
	text, ok := s.Metadata[metaConfig]
	if !ok {
		c, candidates, err = Recognize(s)
		return c, candidates, "shapes", err
	}
	if v := s.Metadata[metaFormat]; v != formatVersion {
		return c, nil, "", fmt.Errorf("%w: %s is %q, this version reads %q", ErrFormat, metaFormat, short(v), formatVersion)
	}
	c, err = parseConfig(text)
	return c, nil, "metadata", err
}

func parseConfig(text string) (cnp.Config, error) {
	var c cnp.Config
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return cnp.Config{}, fmt.Errorf("%w: %s: %s", cnp.ErrConfig, metaConfig, short(strings.TrimPrefix(err.Error(), "json: ")))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return cnp.Config{}, fmt.Errorf("%w: %s: goes on after its end", cnp.ErrConfig, metaConfig)
	}
	return c, nil
}

// encodeConfig is the inverse of parseConfig.
func encodeConfig(c cnp.Config) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "R>0 x SO(2)" stays readable
	if err := enc.Encode(c); err != nil {
		return "", fmt.Errorf("%w: %v", cnp.ErrConfig, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// chooseGroup settles c.Group and c.Alpha from the file and the options. candidates is nil where the file itself says
// the group, or where there is none.
func chooseGroup(c *cnp.Config, candidates []string, opt Options) error {
	if c.Architecture != cnp.EquivCNPCurve && c.Architecture != cnp.EquivCNPImage {
		if opt.Group != "" || opt.Alpha != 0 {
			return fmt.Errorf("%w: group %q, alpha %g given, architecture %s has no group", ErrGroup, short(opt.Group), opt.Alpha, c.Architecture)
		}
		return nil
	}
	if opt.Alpha != 0 {
		c.Alpha = opt.Alpha
	}
	if candidates == nil && c.Group != "" {
		g, err := group.Parse(c.Group, c.Alpha)
		if err != nil {
			return fmt.Errorf("%w: in the file's configuration: %w", ErrGroup, err)
		}
		candidates = []string{g.Name()}
	}
	choices := strings.Join(candidates, ", ")
	switch {
	case opt.Group != "":
		g, err := group.Parse(opt.Group, c.Alpha)
		if err != nil {
			return fmt.Errorf("%w: %w; the file fits: %s", ErrGroup, err, choices)
		}
		if !slices.Contains(candidates, g.Name()) {
			return fmt.Errorf("%w: asked for %s, the file fits: %s", ErrGroup, g.Name(), choices)
		}
		c.Group = g.Name()
	case c.Group == "":
		return fmt.Errorf("%w: the file does not say its group; choose one of: %s", ErrGroup, choices)
	}
	return nil
}
