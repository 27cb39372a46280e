package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// commands lists the program's commands, and theirs.
func commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, commands(sub)...)
	}
	return list
}

// TestFlagWords: a wrong value of any flag is an error that names the flag, and no function of Go.
func TestFlagWords(t *testing.T) {
	b := newBench(t)
	seen := 0
	for _, c := range commands((&app{}).root()) {
		c.InitDefaultHelpFlag()
		check := func(f *pflag.Flag) {
			if f.Value.Type() == "string" || strings.HasSuffix(f.Value.Type(), "stringSlice") || f.Value.Type() == "stringArray" {
				return // which take any text, and are looked at later
			}
			seen++
			args := append(strings.Fields(c.CommandPath())[1:], "--"+f.Name+"=?!")
			status, _, errs := b.run(args...)
			require.Equal(t, 2, status, "%s: %s", args, errs)
			require.Contains(t, errs, "--"+f.Name, "%s", args)
			for _, word := range []string{"strconv", "parsing", "invalid syntax", "time: "} {
				require.NotContains(t, errs, word, "%s", args)
			}
			first, _, _ := strings.Cut(errs, "\n")
			name := c.Name() + ": "
			require.LessOrEqual(t, strings.Count(first, name), 1, "%s", errs)
		}
		c.Flags().VisitAll(check)
		if !c.HasParent() {
			c.PersistentFlags().VisitAll(check)
		}
	}
	require.Greater(t, seen, 100)
}
