package main

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

// listedModel is one of several models that a command compares.
type listedModel struct {
	name string // of the file without its extension, or of the shipped model
	cfg  cnp.Config
	// tasks is what it was trained on, and steps for how long, if its file says so.
	tasks, steps string
	load         func() (cnp.Model[float32], error)
}

// words takes a name apart: "rbf_equivcnp" is rbf and equivcnp.
func (m *listedModel) words() []string {
	return strings.FieldsFunc(strings.ToLower(m.name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// title names the model in a table: its group, with the number of lifts where there are several, or its architecture.
func (m *listedModel) title() string {
	switch {
	case m.cfg.Group == "":
		return string(m.cfg.Architecture)
	case m.cfg.Lifts > 1:
		return fmt.Sprintf("%s, K = %d", m.cfg.Group, m.cfg.Lifts)
	}
	return m.cfg.Group
}

// listModels returns the models of folders, or without any the shipped ones; files that hold none are noted. The group of a
// checkpoint that does not say it is taken from the file's name.
func listModels(r *result, dirs []string) ([]listedModel, error) {
	var out []listedModel
	if len(dirs) == 0 {
		for _, name := range pretrained.Names() {
			info, err := pretrained.About(name)
			if err != nil {
				return nil, err
			}
			out = append(out, listedModel{name, info.Config, info.Tasks, info.Steps, func() (cnp.Model[float32], error) { return pretrained.Load(name) }})
		}
		return out, nil
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		found := 0
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			stem := strings.TrimSuffix(e.Name(), ext)
			if e.IsDir() || (ext != ".safetensors" && ext != ".pth") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if twin := filepath.Join(dir, stem+".safetensors"); ext == ".pth" {
				if _, err := os.Stat(twin); err == nil {
					continue
				}
			}
			m := listedModel{name: stem}
			opt := weights.Options{Group: ""}
			s, err := weights.ReadState(path)
			if err == nil {
				m.tasks, m.steps = s.Metadata[pretrained.KeyTasks], s.Metadata[pretrained.KeySteps]
				m.cfg, err = weights.ConfigOf(s, opt)
				if errors.Is(err, weights.ErrGroup) {
					opt.Group = groupInName(m.words())
					m.cfg, err = weights.ConfigOf(s, opt)
				}
				if err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
			}
			if err != nil {
				r.note("left out: %v", err)
				continue
			}
			m.load = func() (cnp.Model[float32], error) { return weights.Load[float32](path, opt) }
			out = append(out, m)
			found++
		}
		if found == 0 {
			return nil, fmt.Errorf("%s: no model in it (.safetensors or .pth)", dir)
		}
	}
	return out, nil
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

// imageModels keeps the models of grey images, in the order of the paper's table: by group, then by lifts and name.
func imageModels(all []listedModel) []listedModel {
	order := []string{"T(2)", "SO(2)", "R>0xSO(2)", "SE(2)"}
	place := func(m listedModel) int {
		if i := slices.Index(order, m.cfg.Group); i >= 0 {
			return i
		}
		return len(order)
	}
	var out []listedModel
	for _, m := range all {
		if m.cfg.Architecture.Image() && m.cfg.DimY == 1 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b listedModel) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.cfg.Lifts, b.cfg.Lifts), cmp.Compare(a.name, b.name))
	})
	return out
}
