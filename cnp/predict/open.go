package predict

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/words"
)

// OpenOptions say how models are read, and how they compute. The zero value takes what the files say.
type OpenOptions struct {
	// Group, Alpha and PointsPerUnit stand in for what a file does not say; see weights.Options.
	Group                string
	Alpha, PointsPerUnit float64
	// Groups are tried, one after the other, for a file that does not say its group, where Group is empty.
	Groups []string
	// Precision and Plans are those of cnp.Options.
	Precision cnp.Precision
	Plans     string
	// Read reads the file of a model; nil is weights.ReadState. An error that wraps fs.ErrNotExist lets the path be the name of a
	// shipped model.
	Read func(ctx context.Context, path string) (*weights.State, error)
}

// Model is a model that was opened, with what its files say.
type Model struct {
	cnp.Model[float32]
	// Paths are the files, or the names of shipped models, of its members.
	Paths []string
	// Metadata are those of the first member's file; nil where there is no file.
	Metadata map[string]string
	// Unsuited are reasons that the files give against cnp.BFloat16, each with its file.
	Unsuited []string
}

// ErrKind is wrapped by errors about a model of another kind than was asked for.
var ErrKind = errors.New("a model of another kind")

var errNoModel = fmt.Errorf("%w: no model", cnp.ErrConfig)

// Open opens a model. A path is a model file, a list of models (.ensemble), the name of a shipped model, or that of an
// interpolation (krige.Names). Several models predict as one, by the mixture of their distributions.
func Open(ctx context.Context, opt OpenOptions, paths ...string) (*Model, error) {
	members, err := Members(paths...)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("predict: %w: no path of a model", cnp.ErrConfig)
	}
	out := &Model{Paths: members}
	var all []cnp.Model[float32]
	for _, path := range members {
		m, err := out.member(ctx, &opt, path)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if out.Model, err = cnp.Ensemble(all...); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	return out, nil
}

// Members returns the models behind paths: a list of models (.ensemble) stands for those that it names.
func Members(paths ...string) ([]string, error) {
	var all []string
	for _, path := range paths {
		members, err := weights.Members(path)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

// member opens one model.
func (m *Model) member(ctx context.Context, opt *OpenOptions, path string) (cnp.Model[float32], error) {
	var model cnp.Model[float32]
	if r := krige.Named(path); r != nil {
		model = r
	} else {
		s, err := ReadState(ctx, path, opt.Read)
		if err != nil {
			return nil, err
		}
		if m.Metadata == nil {
			m.Metadata = s.Metadata
		}
		if why := s.Metadata[pretrained.KeyBFloat16]; why != "" {
			m.Unsuited = append(m.Unsuited, fmt.Sprintf("the file of %s says: %s", path, strings.Join(strings.Fields(why), " ")))
		}
		if model, err = Build(s, opt); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	model, err := cnp.With(model, cnp.Options{Precision: opt.Precision, Plans: opt.Plans})
	if err != nil && opt.Precision == cnp.BFloat16 {
		err = fmt.Errorf("precision %s: %w", opt.Precision, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return model, nil
}

// Build makes the model of a file that was read; no options (nil) are the zero ones. Precision and Plans are left to cnp.With.
func Build(s *weights.State, opt *OpenOptions) (cnp.Model[float32], error) {
	if opt == nil {
		opt = &OpenOptions{}
	}
	from := weights.Options{Group: opt.Group, Alpha: opt.Alpha, PointsPerUnit: opt.PointsPerUnit}
	m, err := weights.Build[float32](s, from)
	for _, from.Group = range opt.Groups {
		if opt.Group != "" || !errors.Is(err, weights.ErrGroup) {
			break
		}
		m, err = weights.Build[float32](s, from)
	}
	return m, err
}

// ReadState reads a model file by read, or where there is none of that name, a shipped model.
func ReadState(ctx context.Context, path string, read func(ctx context.Context, path string) (*weights.State, error)) (*weights.State,
	error) {
	if read == nil {
		read = func(_ context.Context, path string) (*weights.State, error) { return weights.ReadState(path) }
	}
	s, err := read(ctx, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if shipped, missing := pretrained.State(path); missing == nil {
		return shipped, nil
	}
	if krige.Named(path) != nil {
		return nil, fmt.Errorf("%w; the model %s interpolates the data that it is given, and has no parameters and no file", err, path)
	}
	unfinished := strings.TrimSuffix(path, filepath.Ext(path)) + ".checkpoint"
	if _, there := os.Stat(unfinished); there == nil {
		return nil, fmt.Errorf("%w; but %s is there: a training writes its model at the end, and --resume continues it", err, unfinished)
	}
	meant := ""
	if name := words.Closest(path, slices.Concat(pretrained.Names(), krige.Names())); name != "" {
		meant = fmt.Sprintf(", nor is a model of that name shipped: did you mean %q?", name)
	}
	return nil, fmt.Errorf("%w%s; shipped models: %s; without any training: %s", err, meant, strings.Join(pretrained.Names(), ", "),
		strings.Join(krige.Names(), ", "))
}

// OpenRegressor opens a model of curves. The error wraps ErrKind where it is one of images.
func OpenRegressor(ctx context.Context, opt OpenOptions, paths ...string) (cnp.Regressor[float32], error) {
	m, err := Open(ctx, opt, paths...)
	if err != nil {
		return nil, err
	}
	return m.Regressor()
}

// OpenCompleter opens a model of images. The error wraps ErrKind where it is one of curves.
func OpenCompleter(ctx context.Context, opt OpenOptions, paths ...string) (cnp.Completer[float32], error) {
	m, err := Open(ctx, opt, paths...)
	if err != nil {
		return nil, err
	}
	return m.Completer()
}

// Regressor returns the model as one of curves.
func (m *Model) Regressor() (cnp.Regressor[float32], error) {
	if m == nil || m.Model == nil {
		return nil, errNoModel
	}
	if r, ok := m.Model.(cnp.Regressor[float32]); ok {
		return r, nil
	}
	return nil, fmt.Errorf("%s: %w: this %s model completes images and regresses no curves", m.name(), ErrKind,
		m.Config().Architecture)
}

// Completer returns the model as one of images.
func (m *Model) Completer() (cnp.Completer[float32], error) {
	if m == nil || m.Model == nil {
		return nil, errNoModel
	}
	if c, ok := m.Model.(cnp.Completer[float32]); ok {
		return c, nil
	}
	return nil, fmt.Errorf("%s: %w: this %s model regresses curves and completes no images", m.name(), ErrKind,
		m.Config().Architecture)
}

func (m *Model) name() string {
	if len(m.Paths) == 0 {
		return "predict"
	}
	return strings.Join(m.Paths, ", ")
}

// String names the model in one line: "T2.pth: equivcnp-image, T(2)".
func (m *Model) String() string {
	c := m.Config()
	s := string(c.Architecture)
	if len(m.Paths) > 0 {
		s = filepath.Base(m.Paths[0])
		if len(m.Paths) > 1 {
			s += fmt.Sprintf(" and %d more", len(m.Paths)-1)
		}
		s += ": " + string(c.Architecture)
	}
	if c.Group != "" {
		s += ", " + c.Group
	}
	return s
}

// Universal returns what predicts without training: the interpolation of tables of so many inputs, each of the outputs on
// its own. On the sphere there are two inputs, latitude and longitude in degrees.
func Universal(inputs, outputs int, sphere bool) (*Model, error) {
	names := krige.Names()
	if inputs < 1 || inputs > krige.MaxDim || outputs < 1 || sphere && inputs != 2 {
		return nil, fmt.Errorf("predict: %w: no interpolation of %d inputs and %d outputs: need 1 to %d inputs, on the sphere 2",
			cnp.ErrConfig,
			inputs, outputs, krige.MaxDim)
	}
	name := names[inputs-1]
	if sphere {
		name = names[len(names)-1]
	}
	return &Model{Model: krige.Named(name).Outputs(outputs), Paths: []string{name}}, nil
}

// IsUniversal reports whether a model is an interpolation, which was not trained.
func IsUniversal(m cnp.Model[float32]) bool {
	return m != nil &&
		slices.ContainsFunc(cnp.Members(m), func(m cnp.Model[float32]) bool { return m.Config().Architecture == krige.Architecture })
}

// Interpolate predicts the values of a table, x [n, d] and y [n], at targets [nt, d], without any training: mean and
// standard deviation of a new value at each.
func Interpolate(x, y, targets []float64) (mean, std []float64, err error) {
	return krige.Interpolate(x, y, targets)
}
