package reproduce

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
)

// Model is one of several models that are compared.
type Model struct {
	Name   string // of the file without its extension, or of the shipped model
	Config cnp.Config
	// Tasks names what it was trained on, and Steps for how long, if its file says so.
	Tasks, Steps string
	Load         func() (cnp.Model[float32], error)
}

// words takes a name apart: "rbf_equivcnp" is rbf and equivcnp.
func (m *Model) words() []string {
	return strings.FieldsFunc(strings.ToLower(m.Name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Title names the model in a table: its group, with the number of lifts where there are several, or its architecture.
func (m *Model) Title() string {
	switch {
	case m.Config.Group == "":
		return string(m.Config.Architecture)
	case m.Config.Lifts > 1:
		return fmt.Sprintf("%s, K = %d", m.Config.Group, m.Config.Lifts)
	}
	return m.Config.Group
}

// Models returns the models of folders, or without any the shipped ones; notes name files that hold none. The group of
// a checkpoint that does not say it is taken from the file's name.
func Models(dirs []string) (out []Model, notes []string, err error) {
	if len(dirs) == 0 {
		out, err = shipped()
		return out, nil, err
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, err
		}
		found := 0
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			stem := strings.TrimSuffix(e.Name(), ext)
			if e.IsDir() || (ext != ".safetensors" && ext != ".pth") {
				continue
			}
			if twin := filepath.Join(dir, stem+".safetensors"); ext == ".pth" {
				if _, err := os.Stat(twin); err == nil {
					continue
				}
			}
			m, err := fileModel(filepath.Join(dir, e.Name()), stem)
			if err != nil {
				notes = append(notes, fmt.Sprintf("left out: %v", err))
				continue
			}
			out = append(out, m)
			found++
		}
		if found == 0 {
			return nil, nil, fmt.Errorf("%s: no model in it (.safetensors or .pth)", dir)
		}
	}
	return out, notes, nil
}

// shipped returns the shipped models.
func shipped() (out []Model, err error) {
	for _, name := range pretrained.Names() {
		info, err := pretrained.About(name)
		if err != nil {
			return nil, err
		}
		out = append(out, Model{name, info.Config, info.Tasks, info.Steps,
			func() (cnp.Model[float32], error) { return pretrained.Load(name) }})
	}
	return out, nil
}

// fileModel returns the model of a file, under that name.
func fileModel(path, name string) (m Model, err error) {
	m.Name = name
	var opt weights.Options
	s, err := weights.ReadState(path)
	if err != nil {
		return m, err
	}
	m.Tasks, m.Steps = s.Metadata[pretrained.KeyTasks], s.Metadata[pretrained.KeySteps]
	m.Config, err = weights.ConfigOf(s, opt)
	if errors.Is(err, weights.ErrGroup) {
		opt.Group = groupInName(m.words())
		m.Config, err = weights.ConfigOf(s, opt)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m.Load = func() (cnp.Model[float32], error) { return weights.Load[float32](path, opt) }
	return m, nil
}

// groupInName returns the first word that names a group, or nothing.
func groupInName(words []string) string {
	for _, w := range words {
		if g, err := group.Parse(w, 0); err == nil {
			return g.Name()
		}
	}
	return ""
}

// ImageModels keeps the models of grey images, in the order of the paper's table: by group, then by lifts and name.
func ImageModels(all []Model) []Model {
	order := []string{"T(2)", "SO(2)", "R>0xSO(2)", "SE(2)"}
	place := func(m Model) int {
		if i := slices.Index(order, m.Config.Group); i >= 0 {
			return i
		}
		return len(order)
	}
	var out []Model
	for _, m := range all {
		if m.Config.Architecture.Image() && m.Config.DimY == 1 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b Model) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Config.Lifts, b.Config.Lifts), cmp.Compare(a.Name, b.Name))
	})
	return out
}
