// Package pretrained holds trained models, embedded in the program. Each is a file of the folder models, under its name; its
// metadata say where it is from: the command that trained it, seed and steps, and how well it does on a test.
//
//	m, err := pretrained.Load("digits-T2-small")
//	p, err := m.(cnp.Completer[float32]).Complete(ctx, images)
//
// A model is added by go run ./cnp/pretrained/ship, which tests it and writes the metadata.
package pretrained

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

//go:embed models/*.safetensors
var files embed.FS

const (
	folder    = "models/"
	extension = ".safetensors"
)

// ErrName is wrapped by errors about a name that no model has.
var ErrName = errors.New("no such model")

// Keys of the metadata; every model has all but the last two.
const (
	KeyCommand       = "command"        // what trained it
	KeySeed          = "seed"           // of that training
	KeySteps         = "steps"          // of that training
	KeyTasks         = "tasks"          // what it was trained on
	KeyTest          = "test"           // what LogLikelihood was measured on
	KeyLogLikelihood = "log_likelihood" // mean ± standard deviation over the test's tasks, per value
	KeyNote          = "note"           // what else is to be known; most models have none
	KeyBFloat16      = "bfloat16"       // what speaks against cnp.BFloat16; of a model that is suited for it, nothing
)

// BFloat16Loss bounds the log-likelihood per value that a model that is suited for cnp.BFloat16 may lose by it.
const BFloat16Loss = 0.01

// Info holds what is known about a model.
type Info struct {
	Name   string
	Config cnp.Config
	// Where it is from; see the keys.
	Command, Seed, Steps, Tasks, Test, LogLikelihood, Note string
}

// Names lists the models in alphabetical order.
func Names() []string {
	entries, err := fs.ReadDir(files, strings.TrimSuffix(folder, "/"))
	if err != nil {
		panic(err) // the folder is embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), extension))
	}
	slices.Sort(names) // by name, which is not the order of files: "a-b.x" comes before "a.x"
	return names
}

// File returns the content of a model's file. The error for an unknown name wraps ErrName and lists the known ones.
func File(name string) ([]byte, error) {
	b, err := files.ReadFile(folder + name + extension)
	if err != nil {
		return nil, fmt.Errorf("pretrained: %w: %q, there are: %s", ErrName, clip(name), strings.Join(Names(), ", "))
	}
	return b, nil
}

// State reads a model's file.
func State(name string) (*weights.State, error) {
	b, err := File(name)
	if err != nil {
		return nil, err
	}
	s, err := weights.DecodeState(b)
	if err != nil {
		return nil, fmt.Errorf("pretrained: %s: %w", name, err)
	}
	return s, nil
}

// Load returns a new model with the parameters of that name. The error for an unknown name wraps ErrName and lists the known ones.
func Load(name string) (cnp.Model[float32], error) {
	s, err := State(name)
	if err != nil {
		return nil, err
	}
	m, err := weights.Build[float32](s, weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("pretrained: %s: %w", name, err)
	}
	return m, nil
}

// Provenance returns what the metadata of a model's file say for the file of a model that is made of it: all of them, if the
// two predict the same, else what no score is among. The keys that package weights writes by itself are left out.
func Provenance(metadata map[string]string, same bool) map[string]string {
	out := map[string]string{}
	lasting := []string{KeyCommand, KeySeed, KeySteps, KeyTasks, KeyNote, KeyBFloat16}
	for key, v := range metadata {
		if same && !strings.HasPrefix(key, "equivcnp.") || slices.Contains(lasting, key) {
			out[key] = v
		}
	}
	return out
}

// About says what is known about a model.
func About(name string) (Info, error) {
	s, err := State(name)
	if err != nil {
		return Info{}, err
	}
	c, err := weights.ConfigOf(s, weights.Options{})
	if err != nil {
		return Info{}, fmt.Errorf("pretrained: %s: %w", name, err)
	}
	m := s.Metadata
	return Info{Name: name, Config: c, Command: m[KeyCommand], Seed: m[KeySeed], Steps: m[KeySteps], Tasks: m[KeyTasks], Test: m[KeyTest],
		LogLikelihood: m[KeyLogLikelihood], Note: m[KeyNote]}, nil
}

// clip keeps error messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
