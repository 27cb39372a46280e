package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/equivcnp/equivcnp/internal/words"
)

// Config is a YAML file of flags: one mapping from their names to their values, and the key train for the kind of
// training. Where there is no such key, it is task that says it, and the column of tasks cannot be named.
type Config struct {
	path    string
	entries [][2]*yaml.Node // key and value
}

// configBytes bounds a configuration file.
const configBytes = 1 << 20

// ReadConfig reads such a file.
func ReadConfig(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > configBytes {
		return nil, fmt.Errorf("--config: %s is not a file of at most %d bytes", path, configBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	c := &Config{path: path}
	var doc, next yaml.Node
	docs := yaml.NewDecoder(bytes.NewReader(text))
	if err := docs.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := docs.Decode(&next); err == nil { // whose flags would be lost
		return nil, c.errorf(&next, "a second document begins: need one")
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(doc.Content) == 0 {
		return c, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, c.errorf(top, "need lines of the form name: value")
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if value = listed(value); value.Kind != yaml.ScalarNode {
			return nil, c.errorf(value, "%s: need a single value, or a list of them", key.Value)
		}
		if line, ok := seen[key.Value]; ok {
			return nil, c.errorf(key, "%s was already given in line %d", key.Value, line)
		}
		seen[key.Value] = key.Line
		c.entries = append(c.entries, [2]*yaml.Node{key, value})
	}
	return c, nil
}

// ApplyConfig reads such a file and applies it to a command; without a path it does nothing.
func ApplyConfig(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	c, err := ReadConfig(path)
	if err != nil {
		return err
	}
	return c.Apply(cmd)
}

// listed turns a list of values, [scalar, vector], into what a flag takes: scalar,vector.
func listed(value *yaml.Node) *yaml.Node {
	if value.Kind != yaml.SequenceNode {
		return value
	}
	joined := &yaml.Node{Kind: yaml.ScalarNode, Line: value.Line, Column: value.Column}
	for i, v := range value.Content {
		if v.Kind != yaml.ScalarNode {
			return v
		}
		if i > 0 {
			joined.Value += ","
		}
		joined.Value += v.Value
	}
	return joined
}

func (c *Config) errorf(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", c.path, at.Line, fmt.Sprintf(format, args...))
}

// kindKey is the key that says the kind of training.
func (c *Config) kindKey() string {
	for _, e := range c.entries {
		if e[0].Value == "train" {
			return "train"
		}
	}
	return "task"
}

// Kind is the kind of training.
func (c *Config) Kind() (string, error) {
	name := c.kindKey()
	for _, e := range c.entries {
		if e[0].Value == name {
			if v := e[1].Value; v != "regression" && v != "image" {
				return "", c.errorf(e[1], "%s: %q is neither regression nor image%s", name, v, columnHint(name))
			}
			return e[1].Value, nil
		}
	}
	return "", fmt.Errorf("%s: the key train is missing: regression or image", c.path)
}

// columnHint says how the column of tasks is named, to somebody who used its flag's name for that.
func columnHint(key string) string {
	if key == "train" {
		return ""
	}
	return " (beside the key train, task is the column with the task of each row)"
}

// Apply sets the command's flags that the file names and the command line does not.
func (c *Config) Apply(cmd *cobra.Command) error {
	kind := c.kindKey()
	for _, e := range c.entries {
		key, value := e[0], e[1]
		if key.Value == kind {
			if value.Value != cmd.Name() {
				return c.errorf(value, "%s: %s, the command trains %s%s", kind, value.Value, cmd.Name(), columnHint(kind))
			}
			continue
		}
		f := cmd.Flags().Lookup(key.Value)
		if f == nil || key.Value == "config" || key.Value == "help" {
			return c.errorf(key, "unknown key %q%s", key.Value, suggest(cmd.Flags(), key.Value))
		}
		if f.Changed {
			continue
		}
		if err := cmd.Flags().Set(key.Value, value.Value); err != nil {
			return c.errorf(value, "%v", FlagWords(cmd, err))
		}
	}
	// cobra checked the flags' groups before the file was read.
	if err := cmd.ValidateFlagGroups(); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// suggest names the flag that a typo may have meant.
func suggest(flags *pflag.FlagSet, typo string) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	name := words.Closest(typo, names)
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", name)
}
