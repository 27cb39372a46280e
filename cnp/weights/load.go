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
	metaGroup  = "equivcnp.group" // the digest of the group that the configuration names
	metaPrefix = "equivcnp."

	// The versions of the format: in the first all values are scalars, in the second they have types.
	formatVersion = "1"
	typedVersion  = "2"
)

// versionOf is the first version that can say what a configuration says.
func versionOf(c cnp.Config) string {
	if len(c.Outputs) > 0 {
		return typedVersion
	}
	return formatVersion
}

// Options say what a file may leave open. The zero value takes everything from the file.
type Options struct {
	// Group names the group where the shapes of the tensors leave a choice. Where the file says it, Group must agree.
	Group string
	// Groups are groups of the user's own that a file may name, those of models that cnp.NewWithGroup made. The name in the file
	// chooses among them, and the digest in the file (group.Digest) must be that of the group chosen.
	Groups []group.Group
	// Alpha replaces the weight of the group's distance; 0 keeps the file's, or the group's default.
	Alpha float64
	// PointsPerUnit replaces the density of a curve model's lattice; 0 keeps it.
	PointsPerUnit float64
}

// own returns the group of the user's own with that name, nil if there is none.
func (o *Options) own(name string) group.Group {
	for _, g := range o.Groups {
		if g != nil && g.Name() == name {
			return g
		}
	}
	return nil
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
func ConfigOf(s *State, opt Options) (cnp.Config, error) {
	c, _, err := configure(s, opt)
	return c, err
}

// Build makes a model of a file's content; see Load.
func Build[T cnp.Float](s *State, opt Options) (cnp.Model[T], error) {
	c, g, err := configure(s, opt)
	if err != nil {
		return nil, err
	}
	var m cnp.Model[T]
	if g != nil && opt.own(g.Name()) != nil {
		m, err = cnp.NewWithGroup[T](c, g, 0)
	} else {
		m, err = cnp.New[T](c, 0)
	}
	if err != nil {
		return nil, err
	}
	if err := fill(m.State(), s); err != nil {
		return nil, err
	}
	return m, nil
}

// configure finds the configuration, and the group if it has one, and makes sure that building it takes no more memory
// than the file justifies.
func configure(s *State, opt Options) (cnp.Config, group.Group, error) {
	c, candidates, _, err := identify(s)
	if err != nil {
		return c, nil, err
	}
	g, err := chooseGroup(&c, candidates, s.Metadata[metaGroup], opt)
	if err != nil {
		return c, nil, err
	}
	if opt.PointsPerUnit != 0 {
		if c.Architecture != cnp.EquivCNPCurve && c.Architecture != cnp.ConvCNPCurve {
			return c, nil, fmt.Errorf("%w: points per unit %g given, architecture %s has no lattice", cnp.ErrConfig,
				opt.PointsPerUnit, c.Architecture)
		}
		c.PointsPerUnit = opt.PointsPerUnit
	}
	if err := c.ValidateWithGroup(g); err != nil {
		return c, nil, err
	}
	// A file that lacks some tensors should get as far as the error that names them; hence the generous factor.
	if want, have := elements(&c, g), uint64(s.Elements()); want > 4*have+1<<18 {
		return c, nil, fmt.Errorf("%w: the configuration needs %d numbers, most of them for its %s; the file holds %d", ErrTensor,
			want, greediest(&c, g), have)
	}
	return c, g, nil
}

// identify returns the configuration from the metadata, or else from the tensors, and where it is from.
func identify(s *State) (c cnp.Config, candidates []string, source string, err error) {
	if s == nil {
		return c, nil, "", errNoState
	}
	text, ok := s.Metadata[metaConfig]
	if !ok {
		c, candidates, err = Recognize(s)
		return c, candidates, "shapes", err
	}
	v := s.Metadata[metaFormat]
	if v != formatVersion && v != typedVersion {
		return c, nil, "", fmt.Errorf("%w: %s is %q, this version reads %q and %q", ErrFormat, metaFormat, short(v),
			formatVersion, typedVersion)
	}
	c, err = parseConfig(text)
	if err == nil && v < versionOf(c) {
		err = fmt.Errorf("%w: %s is %q, whose values have no types, the configuration names outputs %q", ErrFormat, metaFormat, v,
			c.Outputs)
	}
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
	// Errors quote names; a likelihood's may be longer, and is checked where it is read.
	for field, name := range map[string]int{"architecture": len(c.Architecture), "group": len(c.Group), "readout": len(c.Readout),
		"placement": len(c.Placement), "lift_samples": len(c.LiftSamples), "window": len(c.Window), "output": len(c.Output)} {
		if name > maxName {
			return cnp.Config{}, fmt.Errorf("%w: %s: the name in %s has %d letters, need at most %d", cnp.ErrConfig, metaConfig,
				field, name, maxName)
		}
	}
	return c, nil
}

// maxName bounds the names in a configuration.
const maxName = 256

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

// chooseGroup settles c.Group and c.Alpha from the file and the options, and returns the group, nil for architectures without one.
// candidates is nil where the file itself says the group, or where there is none; digest is what the file says of the group, if anything.
func chooseGroup(c *cnp.Config, candidates []string, digest string, opt Options) (group.Group, error) {
	if c.Architecture != cnp.EquivCNPCurve && c.Architecture != cnp.EquivCNPImage {
		if opt.Group != "" || opt.Alpha != 0 {
			return nil, fmt.Errorf("%w: group %q, alpha %g given, architecture %s has no group", ErrGroup, short(opt.Group),
				opt.Alpha, c.Architecture)
		}
		return nil, nil
	}
	if candidates == nil && c.Group != "" {
		g, err := groupInFile(c, digest, opt)
		if err != nil {
			return nil, err
		}
		if opt.own(c.Group) != nil {
			if opt.Group != "" && opt.Group != g.Name() {
				return nil, fmt.Errorf("%w: asked for %s, the file fits: %s", ErrGroup, short(opt.Group), g.Name())
			}
			if opt.Alpha != 0 && opt.Alpha != g.Alpha() {
				return nil, fmt.Errorf("%w: alpha %g given, group %s has %g", ErrGroup, opt.Alpha, g.Name(), g.Alpha())
			}
			return g, nil
		}
		candidates = []string{g.Name()}
	}
	if opt.Alpha != 0 {
		c.Alpha = opt.Alpha
	}
	choices := strings.Join(candidates, ", ")
	name := c.Group
	if opt.Group != "" {
		name = opt.Group
	} else if name == "" {
		return nil, fmt.Errorf("%w: the file does not say its group; choose one of: %s", ErrGroup, choices)
	}
	g, err := group.Parse(name, c.Alpha)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; the file fits: %s", ErrGroup, err, choices)
	}
	if !slices.Contains(candidates, g.Name()) {
		return nil, fmt.Errorf("%w: asked for %s, the file fits: %s", ErrGroup, g.Name(), choices)
	}
	if opt.Group != "" {
		c.Group = g.Name()
	}
	return g, nil
}

// groupInFile returns the group that the configuration in a file names, one of the user's own before those that the library knows. Files of
// earlier versions have no digest; in them a name is believed.
func groupInFile(c *cnp.Config, digest string, opt Options) (group.Group, error) {
	g := opt.own(c.Group)
	if g == nil {
		var err error
		if g, err = group.Parse(c.Group, c.Alpha); err != nil && digest != "" {
			return nil, fmt.Errorf("%w: the file's group %q is one of its author's own: Options.Groups must hold it", ErrGroup,
				short(c.Group))
		} else if err != nil {
			return nil, fmt.Errorf("%w: in the file's configuration: %w", ErrGroup, err)
		}
	}
	if have := group.Digest(g); digest != "" && digest != have {
		return nil, fmt.Errorf("%w: %s in the file stands for another group than here: its digest is %s, here %s", ErrGroup,
			g.Name(), short(digest), have)
	}
	return g, nil
}
