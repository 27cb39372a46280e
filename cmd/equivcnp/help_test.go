package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// commands lists the program's commands, and theirs.
func commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, commands(sub)...)
	}
	return list
}

// TestCompletions: shells are offered the values of flags, and names of commands.
func TestCompletions(t *testing.T) {
	for line, words := range map[string][]string{
		"predict --precision ": {"float32", "bfloat16"}, "eval --group ": {"SE(2)", "T(2)"}, "sample --order ": cnp.Orders,
		"train population --units ": {"same", "different"}, "design --goal=": {"entropy", "error"}, "pre": {"predict"},
	} {
		for _, request := range []string{cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd} {
			var out strings.Builder
			args := append([]string{request}, strings.Split(line, " ")...)
			require.Zero(t, run(t.Context(), args, strings.NewReader(""), &out, io.Discard))
			for _, w := range words {
				require.Contains(t, out.String(), w, line)
			}
		}
	}
}

// TestFlagWords: a wrong value of any flag is an error that names the flag, and no function of Go.
func TestFlagWords(t *testing.T) {
	b := newBench(t)
	seen := 0
	root := (&app{}).root()
	cli.GroupFlags(root, false, flagGroups)
	for _, c := range commands(root) {
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

// TestHelpGroups: what --help says before the flags fits on one screen, rarely used flags stand behind --help-all, and
// every flag stands there once.
func TestHelpGroups(t *testing.T) {
	b := newBench(t)
	for _, c := range commands((&app{}).root()) {
		args := strings.Fields(c.CommandPath())[1:]
		short, long := b.ok(append(args, "--help")...), b.ok(append(args, "--help-all")...)
		text, _, _ := strings.Cut(short, "\nFlags:\n")
		text, _, _ = strings.Cut(text, "\nData:\n")
		if c.Runnable() { // a topic is as long as it needs to be
			require.LessOrEqual(t, strings.Count(text, "\n"), screen, c.CommandPath())
		}
		require.GreaterOrEqual(t, len(long), len(short), c.CommandPath())
		require.NotContains(t, long, "more flags are used rarely", c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := regexp.MustCompile(`(?m)^(      |  -., )--` + f.Name + `\b[^-]`)
			if !f.Hidden && f.Name != "help" {
				require.Len(t, name.FindAllString(long, -1), 1, "%s --%s", c.CommandPath(), f.Name)
			}
		})
	}
	out := b.ok("train", "regression", "--help")
	for _, want := range []string{"\nData:\n", "\nModel:\n", "\nTraining:\n", "\nOutput:\n",
		"more flags are used rarely: --help-all shows them"} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "--weight-decay")
	for _, command := range []string{"regress", "predict", "sample"} { // what a table of one's own needs
		require.Contains(t, b.ok(command, "--help"), "      --missing ")
		require.Contains(t, b.ok(command, "--help"), "      --aux ")
	}
	require.Contains(t, b.ok("train", "regression", "--help-all"), "--weight-decay")
}

// screen is the number of lines of a terminal window.
const screen = 42
