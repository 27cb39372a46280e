package cli

import "strings"

// Kinds are flags of which one names the data, each with its value as a line of usage shows it.
type Kinds []struct{ Flag, Value string }

// Flags are the names of the flags.
func (k Kinds) Flags() (names []string) {
	for _, kind := range k {
		names = append(names, kind.Flag)
	}
	return names
}

// List shows the choice in a sentence.
func (k Kinds) List() string {
	last := len(k) - 1
	return "--" + strings.Join(k[:last].Flags(), ", --") + " or --" + k[last].Flag
}

// Usage shows the choice in a line of usage.
func (k Kinds) Usage() string {
	all := make([]string, len(k))
	for i, kind := range k {
		all[i] = "--" + kind.Flag + kind.Value
	}
	return "(" + strings.Join(all, " | ") + ")"
}
